// The passes that softmax, log-softmax and cross-entropy are made of: sixteen partial results along
// a row, folded in a fixed tree, the same for training and search.
//
// Per-target header, see simd-inl.h.
#if defined(REGARD_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_SOFTMAX_INL_H_
#undef REGARD_KERNELS_SOFTMAX_INL_H_
#else
#define REGARD_KERNELS_SOFTMAX_INL_H_
#endif

#include <limits>

#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

// The largest of n values, -inf of none. A NaN may be passed over: it comes back in the sum.
HWY_INLINE float row_max(const float* x, Index n) {
  F16 largest = set(kLowest);
  for_blocks(n, [&](Index j, auto block)
                    HWY_ATTR { largest = max(largest, load(x + j, block, kLowest)); });
  return reduce_max(largest);
}

// sum_j exp(x[j] - shift).
HWY_INLINE float sum_exp(const float* x, Index n, float shift) {
  const F16 s = set(shift);
  F16 sum = set(0.0f);
  for_blocks(n, [&](Index j, auto block)
                    HWY_ATTR { sum = add(sum, exp(sub(load(x + j, block, kLowest), s))); });
  return reduce_add(sum);
}

// The same sum, and y[j] = exp(x[j] - shift); y may be x.
HWY_INLINE float exp_and_sum(const float* x, float* y, Index n, float shift) {
  const F16 s = set(shift);
  F16 sum = set(0.0f);
  for_blocks(n, [&](Index j, auto block) HWY_ATTR {
    const F16 e = exp(sub(load(x + j, block, kLowest), s));
    sum = add(sum, e);
    store(e, y + j, block);
  });
  return reduce_add(sum);
}

// log of one number, on the lanes of a vector.
HWY_INLINE float log_of(float x) { return hn::GetLane(log(hn::Set(D(), x))); }

// x becomes its softmax. n > 0; a single value becomes exactly 1.
HWY_INLINE void softmax_row(float* x, Index n) {
  const F16 sum = set(exp_and_sum(x, x, n, row_max(x, n)));
  for_blocks(
      n, [&](Index j, auto block) HWY_ATTR { store(div(load(x + j, block), sum), x + j, block); });
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
