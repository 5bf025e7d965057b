#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/math.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"
#include "regard/kernels/math.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

template <class Fn>
HWY_INLINE void apply(const float* x, float* y, std::int64_t n, Fn fn) {
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16) store(fn(load(x + i)), y + i);
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    store_n(fn(load_n(x + i, rest)), y + i, rest);
  }
}

void exp_impl(const float* x, float* y, std::int64_t n) noexcept {
  apply(x, y, n, [](const F16& v) HWY_ATTR { return exp(v); });
}
void tanh_impl(const float* x, float* y, std::int64_t n) noexcept {
  apply(x, y, n, [](const F16& v) HWY_ATTR { return tanh(v); });
}
void logistic_impl(const float* x, float* y, std::int64_t n) noexcept {
  apply(x, y, n, [](const F16& v) HWY_ATTR { return logistic(v); });
}
void log_impl(const float* x, float* y, std::int64_t n) noexcept {
  apply(x, y, n, [](const F16& v) HWY_ATTR { return log(v); });
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(exp_impl);
REGARD_DISPATCH_TABLE(tanh_impl);
REGARD_DISPATCH_TABLE(logistic_impl);
REGARD_DISPATCH_TABLE(log_impl);

void exp_array(const float* x, float* y, std::int64_t n) noexcept {
  REGARD_DISPATCH(exp_impl)(x, y, n);
}
void tanh_array(const float* x, float* y, std::int64_t n) noexcept {
  REGARD_DISPATCH(tanh_impl)(x, y, n);
}
void logistic_array(const float* x, float* y, std::int64_t n) noexcept {
  REGARD_DISPATCH(logistic_impl)(x, y, n);
}
void log_array(const float* x, float* y, std::int64_t n) noexcept {
  REGARD_DISPATCH(log_impl)(x, y, n);
}
}  // namespace regard
#endif  // HWY_ONCE
