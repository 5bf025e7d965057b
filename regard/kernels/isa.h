// Which instruction set the kernels run on: chosen once per process, or forced by REGARD_FORCE_ISA.
#pragma once

#include <string_view>

namespace regard {

// The order is the column order of every dispatch table (kernels/dispatch-inl.h).
enum class Isa { kAvx512, kAvx2, kSse4, kNeon, kScalar };

inline constexpr int kIsaCount = 5;

// The instruction set in use. The first call decides: the one that REGARD_FORCE_ISA names, else the
// best that processor and build offer. An unknown or absent forced name falls back to the best
// here; see require_isa().
Isa current_isa() noexcept;

// Throws ConfigError when REGARD_FORCE_ISA names an unknown instruction set or one that this
// processor or build lacks. Public entries (commands, Translator, trainer) call it before any
// kernel runs.
void require_isa();

// `avx512`, `avx2`, `sse4`, `neon`, `scalar`.
std::string_view isa_name(Isa isa) noexcept;

// The name of the target that a dispatched kernel was really compiled for: what ran, not what was
// asked.
std::string_view executed_isa() noexcept;

// For tests and benchmarks that compare instruction sets in one process: makes `isa` current until
// the next call. Throws ConfigError if absent. Not to be called while kernels run.
void set_isa(Isa isa);

// True if processor and build offer it.
bool has_isa(Isa isa) noexcept;

}  // namespace regard
