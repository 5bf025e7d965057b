// What the attention kernels share: rows in sixteens, sixteen row sums at once, a reciprocal
// without an estimate instruction, an exponential for arguments that are known to be in range.
//
// Per-target header, see kernels/simd-inl.h.
#if defined(REGARD_ATTENTION_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_ATTENTION_LANES_INL_H_
#undef REGARD_ATTENTION_LANES_INL_H_
#else
#define REGARD_ATTENTION_LANES_INL_H_
#endif

#include "regard/kernels/blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// Sixteen floats of a row, zero beyond its end.
HWY_INLINE F16 load_chunk(const float* x, Index width, Index a) {
  return width - a >= 16 ? load(x + a) : load_n(x + a, static_cast<int>(width - a));
}

// x . y: sixteen partial sums, then the fixed tree.
HWY_INLINE float dot_lanes(const float* x, const float* y, Index n) {
  F16 sum = set(0.0f);
  for_blocks(n, [&](Index j, auto block)
                    HWY_ATTR { sum = fma(load(x + j, block), load(y + j, block), sum); });
  return reduce_add(sum);
}

// c - a * b in one rounding.
HWY_INLINE V fnma(V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
  return fma(hn::Neg(a), b, c);
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

// 1 / x for 1 <= x <= 2^121: a constant minus the bits is right to 5 %, one Newton step whose
// constant is balanced between its extremes to 0.14 %, one cubic step to 3e-9, below the rounding.
HWY_INLINE V reciprocal(V x) {
  const D d;
  const DI di;
  const V r0 = hn::BitCast(d, hn::Sub(hn::Set(di, 0x7EF311C7), hn::BitCast(di, x)));
  const V r1 = hn::Mul(r0, fnma(x, r0, hn::Set(d, 2.00255f)));
  const V h = fnma(x, r1, hn::Set(d, 1.0f));
  return fma(r1, fma(h, h, h), r1);
}

// e^x for |x| <= 87, the same polynomial as kernels/math-inl.h without its care for what lies
// beyond: other arguments give some value. Adding 1.5 * 2^23 rounds to an integer n and leaves it
// in the low bits, whence it goes straight into the exponent.
HWY_INLINE V exp_in_range(V x) {
  const D d;
  const DI di;
  const V big = hn::Set(d, 12582912.0f);
  const V shifted = fma(x, hn::Set(d, 1.44269504088896341f), big);
  const V n = hn::Sub(shifted, big);
  V r = fma(n, hn::Set(d, -0.693359375f), x);
  r = fma(n, hn::Set(d, 2.12194440e-4f), r);
  V y = hn::Set(d, 1.9875691500e-4f);
  y = fma(y, r, hn::Set(d, 1.3981999507e-3f));
  y = fma(y, r, hn::Set(d, 8.3334519073e-3f));
  y = fma(y, r, hn::Set(d, 4.1665795894e-2f));
  y = fma(y, r, hn::Set(d, 1.6666665459e-1f));
  y = fma(y, r, hn::Set(d, 5.0000001201e-1f));
  y = hn::Add(fma(y, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, y), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

#if HWY_TARGET != HWY_SCALAR
// Per block of four lanes: the sums over the blocks of a, b, c and d, each as (0+2) + (1+3).
HWY_INLINE V sum_blocks_of_four(V a, V b, V c, V e) {
  const D d;
  const hn::RepartitionToWide<D> dw;
  const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto lo = hn::InterleaveLower(dw, hn::BitCast(dw, ab), hn::BitCast(dw, ce));
  const auto hi = hn::InterleaveUpper(dw, hn::BitCast(dw, ab), hn::BitCast(dw, ce));
  return hn::Add(hn::BitCast(d, lo), hn::BitCast(d, hi));
}
#endif

// out[r] = the sum of the sixteen lanes of x + 16 r, r < 16, in one fixed tree: lanes (0+2) + (1+3)
// of each block of four, then blocks (0+2) + (1+3).
HWY_INLINE void sum_sixteen_rows(const float* x, float* out) {
#if HWY_TARGET == HWY_SCALAR
  for (int r = 0; r < 16; ++r) {
    float block[4];
    for (int b = 0; b < 4; ++b) {
      const float* lane = x + 16 * r + 4 * b;
      block[b] = (lane[0] + lane[2]) + (lane[1] + lane[3]);
    }
    out[r] = (block[0] + block[2]) + (block[1] + block[3]);
  }
#else
  F16 s[4];  // s[g]: in block b, the sums over block b of rows 4 g to 4 g + 3
  for (int g = 0; g < 4; ++g) {
    const float* rows = x + 64 * g;
    const F16 r0 = load(rows), r1 = load(rows + 16), r2 = load(rows + 32), r3 = load(rows + 48);
    for (int i = 0; i < kParts; ++i) {
      s[g].p[i] = sum_blocks_of_four(r0.p[i], r1.p[i], r2.p[i], r3.p[i]);
    }
  }
#if HWY_TARGET == HWY_AVX3
  const D d;
  const V x02 = hn::Add(hn::ConcatLowerLower(d, s[2].p[0], s[0].p[0]),
                        hn::ConcatUpperUpper(d, s[2].p[0], s[0].p[0]));
  const V x13 = hn::Add(hn::ConcatLowerLower(d, s[3].p[0], s[1].p[0]),
                        hn::ConcatUpperUpper(d, s[3].p[0], s[1].p[0]));
  const V even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(x13), x02);
  const V odd = hn::OddEvenBlocks(x13, hn::SwapAdjacentBlocks(x02));
  hn::StoreU(hn::Add(even, odd), d, out);
#elif HWY_TARGET == HWY_AVX2
  const D d;
  for (int i = 0; i < 2; ++i) {
    const V a = hn::Add(s[2 * i].p[0], s[2 * i].p[1]);
    const V b = hn::Add(s[2 * i + 1].p[0], s[2 * i + 1].p[1]);
    const V even = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
    const V odd = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
    hn::StoreU(hn::Add(even, odd), d, out + 8 * i);
  }
#else
  const D d;
  for (int g = 0; g < 4; ++g) {
    hn::StoreU(hn::Add(hn::Add(s[g].p[0], s[g].p[2]), hn::Add(s[g].p[1], s[g].p[3])), d,
               out + 4 * g);
  }
#endif
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
