// FloatEnvironment: round to nearest, subnormals kept, for a scope; what was set before comes back
// at its end.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace regard {

// The bits of our results depend on it (a host program may flush subnormals to zero). One per
// thread that runs kernels, at public entries.
class FloatEnvironment {
 public:
#if defined(__SSE2__)
  FloatEnvironment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#elif defined(__aarch64__)
  FloatEnvironment() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
  }
  ~FloatEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

 private:
  std::uint64_t saved_;
#else
  FloatEnvironment() noexcept = default;
#endif

 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;
};

}  // namespace regard
