// exp, tanh, logistic and log on F16: from fused multiply-adds and exact operations only, so that
// the bits are the same on every instruction set; at most 2 ulp. exp(0) = 1, log(1) = 0, tanh(0) =
// 0, exp(-inf) = 0, NaN propagates.
//
// Per-target header, see simd-inl.h.
#if defined(REGARD_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_MATH_INL_H_
#undef REGARD_KERNELS_MATH_INL_H_
#else
#define REGARD_KERNELS_MATH_INL_H_
#endif

#include <limits>

#include "regard/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// e^x = 2^n e^r with |r| <= ln2 / 2; ln2 in two parts so that n * ln2 leaves no error. 2^n in two
// factors, so that results reach down into the subnormals.
HWY_INLINE V exp(V x) {
  const D d;
  const DI di;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  V r = fma(n, hn::Set(d, -0.693359375f), x);
  r = fma(n, hn::Set(d, 2.12194440e-4f), r);
  V y = hn::Set(d, 1.9875691500e-4f);
  y = fma(y, r, hn::Set(d, 1.3981999507e-3f));
  y = fma(y, r, hn::Set(d, 8.3334519073e-3f));
  y = fma(y, r, hn::Set(d, 4.1665795894e-2f));
  y = fma(y, r, hn::Set(d, 1.6666665459e-1f));
  y = fma(y, r, hn::Set(d, 5.0000001201e-1f));
  y = hn::Add(fma(y, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  // Out of range, n is garbage and the result is replaced below.
  const auto in_range = hn::And(hn::Lt(x, hn::Set(d, 89.0f)), hn::Lt(hn::Set(d, -104.0f), x));
  const auto exponent = hn::ConvertTo(di, hn::IfThenElseZero(in_range, n));
  const auto half = hn::ShiftRight<1>(exponent);
  const auto bias = hn::Set(di, 127);
  const V scale1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(exponent, half), bias)));
  y = hn::Mul(hn::Mul(y, scale1), scale2);
  y = hn::IfThenElse(hn::Lt(hn::Set(d, 88.7228394f), x),
                     hn::Set(d, std::numeric_limits<float>::infinity()), y);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, -103.972084f)), hn::Zero(d), y);
}

// Odd polynomial near 0, 1 - 2 / (e^2|x| + 1) beyond, sign put back by bits.
HWY_INLINE V tanh(V x) {
  const D d;
  const V a = hn::Abs(x);
  const V z = hn::Mul(x, x);
  V small = hn::Set(d, -5.70498872745e-3f);
  small = fma(small, z, hn::Set(d, 2.06390887954e-2f));
  small = fma(small, z, hn::Set(d, -5.37397155531e-2f));
  small = fma(small, z, hn::Set(d, 1.33314422036e-1f));
  small = fma(small, z, hn::Set(d, -3.33332819422e-1f));
  small = fma(hn::Mul(small, z), x, x);
  const V one = hn::Set(d, 1.0f);
  const V e = exp(hn::Add(a, a));
  const V large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.625f)), small, large), x);
}

// 1 / (1 + e^-x) for x >= 0 and e^x / (1 + e^x) below: no overflow, full relative accuracy on both
// sides. What the sum 1 + e lost to rounding is put back by its first-order effect on the quotient,
// q (1/d) lost.
HWY_INLINE V logistic(V x) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V e = exp(hn::Neg(hn::Abs(x)));
  const auto negative = hn::Lt(x, hn::Zero(d));
  const V sum = hn::Add(one, e);
  const V lost = hn::Sub(e, hn::Sub(sum, one));
  const V q = hn::Div(hn::IfThenElse(negative, e, one), sum);
  const V inverse = hn::IfThenElse(negative, hn::Sub(one, q), q);
  return fma(hn::Neg(hn::Mul(q, inverse)), lost, q);
}

// log x = n ln2 + log m with m in [sqrt(1/2), sqrt(2)). Subnormals are scaled up first; log 0 =
// -inf, log(<0) = NaN.
HWY_INLINE V log(V x) {
  const D d;
  const DI di;
  const V one = hn::Set(d, 1.0f);
  const auto tiny = hn::Lt(x, hn::Set(d, 1.17549435e-38f));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 8388608.0f)), x);
  const auto bits = hn::BitCast(di, scaled);
  // 0x3f3504f3 are the bits of sqrt(1/2).
  const auto offset = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(offset);
  V n = hn::ConvertTo(d, exponent);
  n = hn::IfThenElse(tiny, hn::Sub(n, hn::Set(d, 23.0f)), n);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V f = hn::Sub(m, one);
  V y = hn::Set(d, 7.0376836292e-2f);
  y = fma(y, f, hn::Set(d, -1.1514610310e-1f));
  y = fma(y, f, hn::Set(d, 1.1676998740e-1f));
  y = fma(y, f, hn::Set(d, -1.2420140846e-1f));
  y = fma(y, f, hn::Set(d, 1.4249322787e-1f));
  y = fma(y, f, hn::Set(d, -1.6668057665e-1f));
  y = fma(y, f, hn::Set(d, 2.0000714765e-1f));
  y = fma(y, f, hn::Set(d, -2.4999993993e-1f));
  y = fma(y, f, hn::Set(d, 3.3333331174e-1f));
  const V f2 = hn::Mul(f, f);
  y = hn::Mul(hn::Mul(y, f), f2);
  y = fma(n, hn::Set(d, -2.12194440e-4f), y);
  y = fma(hn::Set(d, -0.5f), f2, y);
  y = fma(n, hn::Set(d, 0.693359375f), hn::Add(f, y));
  const V inf = hn::Set(d, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Lt(x, inf), y, x);  // +inf and NaN stay themselves
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(inf), y);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()),
                        y);
}

HWY_INLINE F16 exp(const F16& x) {
  return map([&](int i) HWY_ATTR { return exp(x.p[i]); });
}
HWY_INLINE F16 tanh(const F16& x) {
  return map([&](int i) HWY_ATTR { return tanh(x.p[i]); });
}
HWY_INLINE F16 logistic(const F16& x) {
  return map([&](int i) HWY_ATTR { return logistic(x.p[i]); });
}
HWY_INLINE F16 log(const F16& x) {
  return map([&](int i) HWY_ATTR { return log(x.p[i]); });
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
