#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/unit_rows.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/unit_rows.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

HWY_INLINE F16 load_up_to(const float* x, Index n) {
  return n >= 16 ? load(x) : load_n(x, static_cast<int>(n));
}
HWY_INLINE void store_up_to(const F16& v, float* x, Index n) {
  n >= 16 ? store(v, x) : store_n(v, x, static_cast<int>(n));
}

HWY_INLINE float dot_rows(const float* x, const float* y, Index width) {
  F16 sum = set(0.0f);
  for (Index a = 0; a < width; a += 16) {
    sum = fma(load_up_to(x + a, width - a), load_up_to(y + a, width - a), sum);
  }
  return reduce_add(sum);
}

// Squares of values beyond 2^63 or below 2^-63 would leave fp32's range: such rows are brought near
// 1 by an exact power of two first.
float unit_row_impl(const float* x, Index width, float* unit) noexcept {
  float largest = 0.0f;
  for (Index a = 0; a < width; ++a) {
    const float size = x[a] < 0.0f ? -x[a] : x[a];
    if (size > largest) largest = size;
  }
  float step = 1.0f;
  if (largest > 0x1p60f) step = 0x1p-64f;
  if (largest < 0x1p-30f && largest > 0.0f) step = 0x1p64f;
  const F16 steps = set(step);
  for (Index a = 0; a < width; a += 16) {
    store_up_to(mul(load_up_to(x + a, width - a), steps), unit + a, width - a);
  }
  const float square = dot_rows(unit, unit, width);
  if (square == 0.0f) return 0.0f;
  const F16 length = sqrt(set(square));
  for (Index a = 0; a < width; a += 16) {
    store_up_to(div(load_up_to(unit + a, width - a), length), unit + a, width - a);
  }
  alignas(64) float inverse[16];
  store(div(steps, length), inverse);
  return inverse[0];
}

void unit_row_backward_impl(const float* unit, float inverse, const float* d, float factor,
                            Index width, float* d_x) noexcept {
  F16 size = set(0.0f);
  for (Index a = 0; a < width; a += 16) size = add(size, abs(load_up_to(d + a, width - a)));
  if (reduce_add(size) == 0.0f) return;  // x may be masked, and hold anything
  const F16 along = set(dot_rows(d, unit, width));
  const F16 scale = mul(set(factor), set(inverse));
  for (Index a = 0; a < width; a += 16) {
    const Index n = width - a;
    const F16 across = fnma(along, load_up_to(unit + a, n), load_up_to(d + a, n));
    store_up_to(fma(scale, across, load_up_to(d_x + a, n)), d_x + a, n);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(unit_row_impl);
REGARD_DISPATCH_TABLE(unit_row_backward_impl);

namespace attention {

float unit_row(const float* x, Index width, float* unit) noexcept {
  return REGARD_DISPATCH(unit_row_impl)(x, width, unit);
}
void unit_row_backward(const float* unit, float inverse, const float* d, float factor, Index width,
                       float* d_x) noexcept {
  REGARD_DISPATCH(unit_row_backward_impl)(unit, inverse, d, factor, width, d_x);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
