// One row added to another.
//
// Per-target header, see simd-inl.h.
#if defined(REGARD_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_ROWS_INL_H_
#undef REGARD_KERNELS_ROWS_INL_H_
#else
#define REGARD_KERNELS_ROWS_INL_H_
#endif

#include "regard/kernels/blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// y[j] += x[j], j < n.
HWY_INLINE void add_row(const float* x, float* y, Index n) {
  for_blocks(n, [&](Index j, auto block)
                    HWY_ATTR { store(add(load(y + j, block), load(x + j, block)), y + j, block); });
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
