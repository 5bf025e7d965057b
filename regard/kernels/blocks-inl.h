// Walking over a row in blocks of sixteen floats, the last one shorter: one body serves both.
//
// Per-target header, see simd-inl.h.
#if defined(REGARD_KERNELS_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_BLOCKS_INL_H_
#undef REGARD_KERNELS_BLOCKS_INL_H_
#else
#define REGARD_KERNELS_BLOCKS_INL_H_
#endif

#include "regard/kernels/simd-inl.h"
#include "regard/tensor/view.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// The sixteen floats of a block that is full, or the first n of one that is not.
struct Full {};
struct Part {
  int n;
};

HWY_INLINE F16 load(const float* x, Full, float = 0.0f) { return load(x); }
HWY_INLINE F16 load(const float* x, Part part, float rest = 0.0f) {
  return load_n(x, part.n, rest);
}
HWY_INLINE void store(const F16& v, float* x, Full) { store(v, x); }
HWY_INLINE void store(const F16& v, float* x, Part part) { store_n(v, x, part.n); }

// fn(j, Full()) for j = 0, 16, ... and fn(j, Part{rest}) for what is left of n.
template <class Fn>
HWY_INLINE void for_blocks(Index n, Fn fn) {
  Index j = 0;
  for (; j + 16 <= n; j += 16) fn(j, Full());
  if (j < n) fn(j, Part{static_cast<int>(n - j)});
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
