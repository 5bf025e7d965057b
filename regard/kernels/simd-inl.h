// Sixteen floats at a time, the same on every instruction set.
//
// F16 is one 512-bit, two 256-bit or four 128-bit vectors. A row sum is therefore always sixteen
// partial sums folded in one fixed tree, so each kernel written on F16 gives the same bits wherever
// it runs (on SSE4, which has no fused multiply-add, within rounding). Kernels that need
// the raw registers (gemm) use Highway directly.
//
// Per-target header: included again for each target, hence the toggle instead of `#pragma once`.
#if defined(REGARD_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_SIMD_INL_H_
#undef REGARD_KERNELS_SIMD_INL_H_
#else
#define REGARD_KERNELS_SIMD_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"

// gcc keeps an array of vectors in memory unless its loops are unrolled early.
#if !defined(REGARD_UNROLL)
#if defined(__clang__)
#define REGARD_UNROLL
#else
#define REGARD_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr int kVectorLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kParts = 16 / kVectorLanes;

struct F16 {
  V p[kParts];
  // Spelled out: gcc makes an implicit one without NEON's target options, and then may not inline.
  HWY_INLINE F16() {}
};
struct M16 {
  M p[kParts];
  HWY_INLINE M16() {}
};

// One vector's fused multiply-add a * b + c: rounded once, but on SSE4, whose bits differ for it.
HWY_INLINE V fma(V a, V b, V c) {
#if HWY_TARGET == HWY_SCALAR
  alignas(64) float x[kVectorLanes], y[kVectorLanes], z[kVectorLanes];
  const D d;
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (int i = 0; i < kVectorLanes; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(d, z);
#else
  return hn::MulAdd(a, b, c);
#endif
}

template <class Fn>
HWY_INLINE F16 map(Fn fn) {
  F16 r;
  for (int i = 0; i < kParts; ++i) r.p[i] = fn(i);
  return r;
}
template <class Fn>
HWY_INLINE M16 map_mask(Fn fn) {
  M16 r;
  for (int i = 0; i < kParts; ++i) r.p[i] = fn(i);
  return r;
}

HWY_INLINE F16 set(float x) {
  return map([&](int) HWY_ATTR { return hn::Set(D(), x); });
}
HWY_INLINE F16 load(const float* x) {
  return map([&](int i) HWY_ATTR { return hn::LoadU(D(), x + i * kVectorLanes); });
}
HWY_INLINE void store(const F16& v, float* x) {
  for (int i = 0; i < kParts; ++i) hn::StoreU(v.p[i], D(), x + i * kVectorLanes);
}
// The first n floats (0 <= n < 16); the other lanes hold `rest`. Reads nothing beyond.
HWY_INLINE F16 load_n(const float* x, int n, float rest = 0.0f) {
  alignas(64) float buffer[16];
  for (int i = 0; i < 16; ++i) buffer[i] = rest;
  std::memcpy(buffer, x, sizeof(float) * static_cast<size_t>(n));
  return load(buffer);
}
HWY_INLINE void store_n(const F16& v, float* x, int n) {
  alignas(64) float buffer[16];
  store(v, buffer);
  std::memcpy(x, buffer, sizeof(float) * static_cast<size_t>(n));
}

HWY_INLINE F16 add(const F16& a, const F16& b) {
  return map([&](int i) HWY_ATTR { return hn::Add(a.p[i], b.p[i]); });
}
HWY_INLINE F16 sub(const F16& a, const F16& b) {
  return map([&](int i) HWY_ATTR { return hn::Sub(a.p[i], b.p[i]); });
}
HWY_INLINE F16 mul(const F16& a, const F16& b) {
  return map([&](int i) HWY_ATTR { return hn::Mul(a.p[i], b.p[i]); });
}
HWY_INLINE F16 div(const F16& a, const F16& b) {
  return map([&](int i) HWY_ATTR { return hn::Div(a.p[i], b.p[i]); });
}
HWY_INLINE F16 sqrt(const F16& a) {
  return map([&](int i) HWY_ATTR { return hn::Sqrt(a.p[i]); });
}
// a * b + c.
HWY_INLINE F16 fma(const F16& a, const F16& b, const F16& c) {
  return map([&](int i) HWY_ATTR { return fma(a.p[i], b.p[i], c.p[i]); });
}
// c - a * b: negation is exact, so this is one rounding too.
HWY_INLINE F16 fnma(const F16& a, const F16& b, const F16& c) {
  return map([&](int i) HWY_ATTR { return fma(hn::Neg(a.p[i]), b.p[i], c.p[i]); });
}
HWY_INLINE F16 neg(const F16& a) {
  return map([&](int i) HWY_ATTR { return hn::Neg(a.p[i]); });
}
HWY_INLINE F16 abs(const F16& a) {
  return map([&](int i) HWY_ATTR { return hn::Abs(a.p[i]); });
}
HWY_INLINE M16 less(const F16& a, const F16& b) {
  return map_mask([&](int i) HWY_ATTR { return hn::Lt(a.p[i], b.p[i]); });
}
// mask ? a : b.
HWY_INLINE F16 select(const M16& m, const F16& a, const F16& b) {
  return map([&](int i) HWY_ATTR { return hn::IfThenElse(m.p[i], a.p[i], b.p[i]); });
}
alignas(64) constexpr float kLaneNumbers[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};
// The first n lanes of v, `rest` in the others, whatever they held.
HWY_INLINE F16 keep_first(const F16& v, int n, float rest) {
  return n == 16 ? v : select(less(load(kLaneNumbers), set(static_cast<float>(n))), v, set(rest));
}

// a < b ? b : a, the same for NaN and zeros on every target (unlike a hardware max).
HWY_INLINE F16 max(const F16& a, const F16& b) { return select(less(a, b), b, a); }
HWY_INLINE F16 min(const F16& a, const F16& b) { return select(less(b, a), b, a); }

// The fixed tree: lanes i and i+8, then i and i+4, i and i+2, i and i+1.
HWY_INLINE float reduce_add(const F16& a) {
  alignas(64) float x[16];
  store(a, x);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}
// The largest lane by the rule of max(); a NaN in a later lane is passed over, so look for NaN
// elsewhere.
HWY_INLINE float reduce_max(const F16& a) {
  alignas(64) float x[16];
  store(a, x);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) x[i] = x[i] < x[i + half] ? x[i + half] : x[i];
  }
  return x[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
