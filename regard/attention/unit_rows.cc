#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/unit_rows.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/lanes-inl.h"
#include "regard/attention/unit_rows.h"
#include "regard/kernels/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

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
  for_blocks(width, [&](Index a, auto block)
                        HWY_ATTR { store(mul(load(x + a, block), steps), unit + a, block); });
  const float square = dot_lanes(unit, unit, width);
  if (square == 0.0f) return 0.0f;
  const F16 length = sqrt(set(square));
  for_blocks(width, [&](Index a, auto block)
                        HWY_ATTR { store(div(load(unit + a, block), length), unit + a, block); });
  alignas(64) float inverse[16];
  store(div(steps, length), inverse);
  return inverse[0];
}

void unit_row_backward_impl(const float* unit, float inverse, const float* d, float factor,
                            Index width, float* d_x) noexcept {
  F16 size = set(0.0f);
  for_blocks(width,
             [&](Index a, auto block) HWY_ATTR { size = add(size, abs(load(d + a, block))); });
  if (reduce_add(size) == 0.0f) return;  // x may be masked, and hold anything
  const F16 along = set(dot_lanes(d, unit, width));
  const F16 scale = mul(set(factor), set(inverse));
  for_blocks(width, [&](Index a, auto block) HWY_ATTR {
    const F16 across = fnma(along, load(unit + a, block), load(d + a, block));
    store(fma(scale, across, load(d_x + a, block)), d_x + a, block);
  });
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
