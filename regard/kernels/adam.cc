#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/adam.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/adam.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

constexpr Index kBlock = 4096;

void adam_update_impl(const AdamStep& step, const float* gradient, float* parameter, float* m,
                      float* v, Index n) noexcept {
  const F16 gradient_scale = set(step.gradient_scale);
  const F16 beta1 = set(step.beta1), rest1 = set(1.0f - step.beta1);
  const F16 beta2 = set(step.beta2), rest2 = set(1.0f - step.beta2);
  const F16 rate = set(step.rate / step.bias1);
  const F16 inverse_bias2 = set(1.0f / step.bias2);
  const F16 epsilon = set(step.epsilon);
  for_blocks(n, [&](Index i, auto block) HWY_ATTR {
    const F16 g = mul(load(gradient + i, block), gradient_scale);
    const F16 m_new = fma(beta1, load(m + i, block), mul(rest1, g));
    const F16 v_new = fma(beta2, load(v + i, block), mul(rest2, mul(g, g)));
    const F16 size = add(sqrt(mul(v_new, inverse_bias2)), epsilon);
    const F16 moved = fnma(rate, div(m_new, size), load(parameter + i, block));
    store(m_new, m + i, block);
    store(v_new, v + i, block);
    store(moved, parameter + i, block);
  });
}

double sum_of_squares_impl(const float* x, Index n) noexcept {
  double total = 0.0;
  for (Index first = 0; first < n; first += kBlock) {
    F16 sum = set(0.0f);
    for_blocks(n - first < kBlock ? n - first : kBlock, [&](Index i, auto block) HWY_ATTR {
      const F16 a = load(x + first + i, block);
      sum = fma(a, a, sum);
    });
    total += static_cast<double>(reduce_add(sum));
  }
  return total;
}

// a - a is 0 for a finite a and NaN for any other, and NaN stays in a sum.
bool all_finite_impl(const float* x, Index n) noexcept {
  for (Index first = 0; first < n; first += kBlock) {
    F16 sum = set(0.0f);
    for_blocks(n - first < kBlock ? n - first : kBlock, [&](Index i, auto block) HWY_ATTR {
      const F16 a = load(x + first + i, block);
      sum = add(sum, sub(a, a));
    });
    const float left = reduce_add(sum);
    if (left != left) return false;
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(adam_update_impl);
REGARD_DISPATCH_TABLE(sum_of_squares_impl);
REGARD_DISPATCH_TABLE(all_finite_impl);

void adam_update(const AdamStep& step, const float* gradient, float* parameter, float* m, float* v,
                 Index n) noexcept {
  REGARD_DISPATCH(adam_update_impl)(step, gradient, parameter, m, v, n);
}
double sum_of_squares(const float* x, Index n) noexcept {
  return REGARD_DISPATCH(sum_of_squares_impl)(x, n);
}
bool all_finite(const float* x, Index n) noexcept { return REGARD_DISPATCH(all_finite_impl)(x, n); }
}  // namespace regard
#endif  // HWY_ONCE
