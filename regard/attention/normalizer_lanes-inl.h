// What the normalisers' kernels share: walking over rows whose memory goes on to a multiple of 16,
// the largest element, packing the lanes that stay.
//
// Per-target header, see kernels/simd-inl.h.
#if defined(REGARD_ATTENTION_NORMALIZER_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_ATTENTION_NORMALIZER_LANES_INL_H_
#undef REGARD_ATTENTION_NORMALIZER_LANES_INL_H_
#else
#define REGARD_ATTENTION_NORMALIZER_LANES_INL_H_
#endif

#include <limits>

#include "regard/attention/lanes-inl.h"
#include "regard/attention/normalizer_live.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// All lanes of a block, or the first n.
struct AllLanes {};
struct FirstLanes {
  Index n;
};
HWY_INLINE F16 only(const F16& v, AllLanes, float) { return v; }
HWY_INLINE F16 only(const F16& v, FirstLanes lanes, float rest) {
  alignas(64) constexpr float kLanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return select(less(load(kLanes), set(static_cast<float>(lanes.n))), v, set(rest));
}

// fn(j, AllLanes()) for j = 0, 16, ... and fn(j, FirstLanes{rest}) for what is left of n.
template <class Fn>
HWY_INLINE void for_padded(Index n, Fn fn) {
  Index j = 0;
  for (; j + 16 <= n; j += 16) fn(j, AllLanes());
  if (j < n) fn(j, FirstLanes{n - j});
}

// max(v, 0); NaN stays.
HWY_INLINE F16 positive_part(const F16& v) {
  const F16 zero = set(0.0f);
  return select(less(v, zero), zero, v);
}

// The largest of n elements, in four chains, since one waits for itself. NaN may be passed over.
HWY_INLINE float largest_of(const float* x, Index n) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  F16 best[4] = {set(kNone), set(kNone), set(kNone), set(kNone)};
  Index j = 0;
  for (; j + 64 <= n; j += 64) {
    for (int i = 0; i < 4; ++i) best[i] = max(best[i], load(x + j + 16 * i));
  }
  for (; j + 16 <= n; j += 16) best[0] = max(best[0], load(x + j));
  if (j < n) best[1] = max(best[1], only(load(x + j), FirstLanes{n - j}, kNone));
  return reduce_max(max(max(best[0], best[1]), max(best[2], best[3])));
}

// How many lanes are true.
HWY_INLINE Index count_of(const M16& m) {
  Index n = 0;
  for (int i = 0; i < kParts; ++i) n += static_cast<Index>(hn::CountTrue(D(), m.p[i]));
  return n;
}

// Writes the lanes of v that are not `out`, in order, and returns how many. Sixteen floats of
// memory may be overwritten.
HWY_INLINE Index pack(const F16& v, const M16& out, float* to) {
  Index n = 0;
  for (int i = 0; i < kParts; ++i) {
    const M in = hn::Not(out.p[i]);
#if HWY_TARGET == HWY_AVX3
    hn::StoreU(hn::Compress(v.p[i], in), D(), to + n);
    n += static_cast<Index>(hn::CountTrue(D(), in));
#else
    // Without an instruction for it, what is all in or all out goes faster by itself.
    if (hn::AllTrue(D(), in)) {
      hn::StoreU(v.p[i], D(), to + n);
      n += kVectorLanes;
    } else if (!hn::AllFalse(D(), in)) {
      n += static_cast<Index>(hn::CompressStore(v.p[i], in, D(), to + n));
    }
#endif
  }
  return n;
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
