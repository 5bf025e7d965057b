#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/isa.cc"
#include "regard/kernels/simd_targets.h"
// foreach_target comes after simd_targets
#include "hwy/foreach_target.h"
// and highway after that
#include "hwy/highway.h"
#include "regard/kernels/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {
Isa compiled_isa_impl() {
#if HWY_TARGET == HWY_AVX3
  return Isa::kAvx512;
#elif HWY_TARGET == HWY_AVX2
  return Isa::kAvx2;
#elif HWY_TARGET == HWY_SSE4
  return Isa::kSse4;
#elif HWY_TARGET == HWY_NEON
  return Isa::kNeon;
#else
  return Isa::kScalar;
#endif
}
}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <atomic>
#include <cstdlib>
#include <string>

#include "regard/base/error.h"

namespace regard {
namespace {

REGARD_DISPATCH_TABLE(compiled_isa_impl);

constexpr std::string_view kNames[kIsaCount] = {"avx512", "avx2", "sse4", "neon", "scalar"};

bool processor_has(Isa isa) noexcept {
#if HWY_ARCH_X86
  switch (isa) {
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512cd");
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case Isa::kSse4:
      return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2");
    default:
      return isa == Isa::kScalar;
  }
#else
  return isa == Isa::kNeon || isa == Isa::kScalar;
#endif
}

// -1 where the name is unknown.
int index_of(std::string_view name) noexcept {
  for (int i = 0; i < kIsaCount; ++i) {
    if (kNames[i] == name) return i;
  }
  return -1;
}

Isa detect() noexcept {
  if (const char* forced = std::getenv("REGARD_FORCE_ISA")) {
    const int i = index_of(forced);
    if (i >= 0 && has_isa(static_cast<Isa>(i))) return static_cast<Isa>(i);
  }
  for (int i = 0; i < kIsaCount; ++i) {
    if (has_isa(static_cast<Isa>(i))) return static_cast<Isa>(i);
  }
  return Isa::kScalar;
}

std::atomic<int> g_isa{-1};

}  // namespace

bool has_isa(Isa isa) noexcept {
  return compiled_isa_impl_table[static_cast<int>(isa)] != nullptr && processor_has(isa);
}

Isa current_isa() noexcept {
  int isa = g_isa.load(std::memory_order_relaxed);
  if (isa < 0) {
    isa = static_cast<int>(detect());
    g_isa.store(isa, std::memory_order_relaxed);
  }
  return static_cast<Isa>(isa);
}

void require_isa() {
  const char* forced = std::getenv("REGARD_FORCE_ISA");
  if (forced == nullptr) return;
  const int i = index_of(forced);
  if (i < 0) {
    throw ConfigError("REGARD_FORCE_ISA is '" + std::string(forced) +
                      "'; it takes avx512, avx2, sse4, neon or scalar");
  }
  if (!has_isa(static_cast<Isa>(i))) {
    throw ConfigError("REGARD_FORCE_ISA asks for " + std::string(forced) +
                      ", which this processor or build does not have");
  }
}

void set_isa(Isa isa) {
  if (!has_isa(isa)) {
    throw ConfigError("instruction set " + std::string(isa_name(isa)) + " is not available here");
  }
  g_isa.store(static_cast<int>(isa), std::memory_order_relaxed);
}

std::string_view isa_name(Isa isa) noexcept { return kNames[static_cast<int>(isa)]; }

std::string_view executed_isa() noexcept { return isa_name(REGARD_DISPATCH(compiled_isa_impl)()); }

}  // namespace regard
#endif  // HWY_ONCE
