// Entmax with any alpha > 1, and its gradients.
//
// The unknown is m, the largest weight of the row. With a = alpha - 1 and d_j = a (max - e_j),
//
//   w_j = (m^a - d_j)+^(1/a) = m v_j,   v_j = (1 - d_j m^-a)+^(1/a),   F(m) = m sum v_j = 1,
//
// and F'(m) = sum v_j / (1 - d_j m^-a) over the support. In m, F is nearly straight: exactly so for
// ties and in the limit of softmax. Steps are Newton's, the first ones in log F over log m, which
// is straighter still.
//
// a <= 1: m and 1 / sum v lie on either side of the root, which bounds the steps; dividing by the
// last sum takes up what is left of the way. a > 1: the slope is infinite where a key enters, so
// the steps are kept between bounds; where these meet at a key's entry without a root between
// them, the weights of both are mixed in the ratio that sums to 1: that key gets what the others
// leave.
//
// 1 - x loses the digits of a small x, which an exponent of 1/a makes much of: the logarithm takes
// them from x itself.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/normalizer_entmax.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/normalizer_lanes-inl.h"
#include "regard/attention/normalizer_sparse.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::kGroupRows;
using attention::RowGroup;

// The first pass is far from the root, and four digits do; the others take all that there are.
enum class Digits { kFour, kAll };

// log2(1 - x) where y = 1 - x, rounded, is positive and normal; some finite value elsewhere. The
// polynomials are log2(1 + f) / f at Chebyshev's nodes of [sqrt(1/2) - 1, sqrt(2) - 1], to 6e-5 and
// to 4e-8.
template <Digits kDigits>
HWY_INLINE V log2_one_minus(V x, V y) {
  const D d;
  const DI di;
  const auto bits = hn::BitCast(di, y);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const V n = hn::ConvertTo(d, exponent);
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V f = hn::IfThenElse(hn::Eq(n, hn::Zero(d)), hn::Neg(x), hn::Sub(m, hn::Set(d, 1.0f)));
  if constexpr (kDigits == Digits::kFour) {
    V p = hn::Set(d, 2.5028784696e-1f);
    p = fma(p, f, hn::Set(d, -3.8967522379e-1f));
    p = fma(p, f, hn::Set(d, 4.8573784244e-1f));
    p = fma(p, f, hn::Set(d, -7.2062921586e-1f));
    p = fma(p, f, hn::Set(d, 1.4426404643f));
    return fma(p, f, n);
  }
  V p = hn::Set(d, 1.2310968467e-1f);
  p = fma(p, f, hn::Set(d, -2.0586188051e-1f));
  p = fma(p, f, hn::Set(d, 2.1607822552e-1f));
  p = fma(p, f, hn::Set(d, -2.3916988140e-1f));
  p = fma(p, f, hn::Set(d, 2.8790326092e-1f));
  p = fma(p, f, hn::Set(d, -3.6069326814e-1f));
  p = fma(p, f, hn::Set(d, 4.8091075346e-1f));
  p = fma(p, f, hn::Set(d, -7.2134746825e-1f));
  p = fma(p, f, hn::Set(d, 1.4426950036f));
  return fma(p, f, n);
}

// 2^t for -126 <= t <= 0, some value elsewhere. Adding 1.5 * 2^23 rounds to an integer n and leaves
// it in the low bits, whence it goes straight into the exponent; (2^r - 1) / r likewise, to 2e-4
// and to 1e-8.
template <Digits kDigits>
HWY_INLINE V exp2_in_range(V t) {
  const D d;
  const DI di;
  const V big = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(t, big);
  const V r = hn::Sub(t, hn::Sub(shifted, big));
  V p;
  if constexpr (kDigits == Digits::kFour) {
    p = hn::Set(d, 5.5754649780e-2f);
    p = fma(p, r, hn::Set(d, 2.4203533019e-1f));
    p = fma(p, r, hn::Set(d, 6.9314718056e-1f));
  } else {
    p = hn::Set(d, 1.5453162945e-4f);
    p = fma(p, r, hn::Set(d, 1.3390863365e-3f));
    p = fma(p, r, hn::Set(d, 9.6180825573e-3f));
    p = fma(p, r, hn::Set(d, 5.5503571142e-2f));
    p = fma(p, r, hn::Set(d, 2.4022650761e-1f));
    p = fma(p, r, hn::Set(d, 6.9314718803e-1f));
  }
  p = fma(p, r, hn::Set(d, 1.0f));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// 1 / y to 0.14 %, for the slope alone.
HWY_INLINE V rough_reciprocal(V y) {
  const D d;
  const DI di;
  const V r = hn::BitCast(d, hn::Sub(hn::Set(di, 0x7EF311C7), hn::BitCast(di, y)));
  return hn::Mul(r, fnma(y, r, hn::Set(d, 2.00255f)));
}

struct Power {
  V value;  // (1 - x)+^q; 0 below 2^-126
  V slope;  // that / (1 - x), roughly
};

template <Digits kDigits = Digits::kAll>
HWY_INLINE Power power_of_one_minus(V x, V q) {
  const D d;
  const V y = hn::Sub(hn::Set(d, 1.0f), x);
  const V t = hn::Mul(q, log2_one_minus<kDigits>(x, y));
  const auto in = hn::And(hn::Lt(hn::Zero(d), y), hn::Lt(hn::Set(d, -126.0f), t));
  const V value = exp2_in_range<kDigits>(t);
  return {hn::IfThenElseZero(in, value),
          hn::IfThenElseZero(in, hn::Mul(value, rough_reciprocal(y)))};
}

// One number for each row of a group.
struct EntmaxRows {
  alignas(64) float x[kGroupRows];
};

// The bounds have met where the sum jumps over 1.
constexpr float kMet = 2.0f;

struct EntmaxGroup {
  EntmaxRows top;    // the largest score
  EntmaxRows ratio;  // m^-a of the pass
  EntmaxRows m;
  EntmaxRows low, high;                      // bounds of m
  EntmaxRows low_sum, high_sum;              // F there
  EntmaxRows done;                           // 0, 1, or kMet
  alignas(64) float sum[kGroupRows * 16];    // of v
  alignas(64) float slope[kGroupRows * 16];  // F'
};

struct EntmaxOptions {
  float a;
  float q;     // 1 / a
  bool steep;  // a > 1
};

HWY_INLINE F16 distance(const F16& e, const F16& top, const F16& a) { return mul(sub(top, e), a); }

// Packs the keys that may get weight at all, d_j < 1. A NaN among them makes the row's top NaN.
HWY_INLINE Index pack_candidates(const float* row, Index n, EntmaxGroup& g, Index r, float a,
                                 float* candidates) {
  constexpr float kOut = std::numeric_limits<float>::infinity();
  const F16 top = set(g.top.x[r]), factor = set(a), one = set(1.0f), zero = set(0.0f);
  F16 check = zero;
  Index kept = 0;
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 x = only(distance(load(row + j), top, factor), lanes, kOut);
    const M16 out = less(one, x);
    check = add(check, select(out, zero, x));
    kept += pack(x, out, candidates + kept);
  });
  store(set(kOut), candidates + kept);
  const float sum = reduce_add(check);
  if (!(sum == sum)) g.top.x[r] = sum;
  return kept;
}

template <Digits kDigits>
HWY_INLINE void entmax_pass(const float* candidates, Index n, EntmaxGroup& g, Index r, float q) {
  const D d;
  const V ratio = hn::Set(d, g.ratio.x[r]), exponent = hn::Set(d, q);
  F16 sum = set(0.0f), slope = set(0.0f);
  for (Index j = 0; j < n; j += 16) {
    const F16 x = load(candidates + j);
    for (int i = 0; i < kParts; ++i) {
      const Power v = power_of_one_minus<kDigits>(hn::Mul(x.p[i], ratio), exponent);
      sum.p[i] = hn::Add(sum.p[i], v.value);
      slope.p[i] = hn::Add(slope.p[i], v.slope);
    }
  }
  store(sum, g.sum + 16 * r);
  store(slope, g.slope + 16 * r);
}

// m^-a, for m^a down to 1e-38: below, only ties of the largest score are left.
HWY_INLINE F16 ratio_of(const F16& m, float a) {
  return min(exp(mul(log(m), set(-a))), set(1e38f));
}

// For alpha <= 2. Steps in logarithms may go around in circles: the first ones alone are.
HWY_INLINE void step_flat(EntmaxGroup& g, const F16& v, const F16& slope, int pass) {
  constexpr int kLogPasses = 4;
  constexpr float kClose = 5e-4f;  // of m: what the next step would leave is below rounding
  constexpr float kEqual = 0x1p-24f;
  const F16 one = set(1.0f), m = load(g.m.x), f = mul(m, v), bound = div(one, v);
  const bool rough = pass == 1;
  if (!rough) {
    const M16 below = less(f, one);
    store(select(below, m, max(load(g.low.x), bound)), g.low.x);
    store(select(below, min(load(g.high.x), bound), m), g.high.x);
  }
  F16 next = pass <= kLogPasses ? exp(fnma(log(f), div(v, slope), log(m)))
                                : add(m, div(sub(one, f), slope));
  next = max(load(g.low.x), min(load(g.high.x), next));
  const F16 close = mul(m, set(rough ? kEqual : kClose));
  store(select(less(abs(sub(next, m)), close), one, set(0.0f)), g.done.x);
  store(next, g.m.x);
}

HWY_INLINE void step_steep(EntmaxGroup& g, const F16& v, const F16& slope) {
  constexpr float kExact = 2e-6f;  // of the sum
  constexpr float kAdjacent = 0x1p-22f;
  const F16 one = set(1.0f), zero = set(0.0f), m = load(g.m.x), f = mul(m, v);
  const M16 below = less(f, one);
  const F16 low = select(below, m, load(g.low.x)), high = select(below, load(g.high.x), m);
  store(low, g.low.x);
  store(high, g.high.x);
  store(select(below, f, load(g.low_sum.x)), g.low_sum.x);
  store(select(below, load(g.high_sum.x), f), g.high_sum.x);
  const F16 next = add(m, div(sub(one, f), slope));
  const F16 inside = select(less(low, next), select(less(next, high), one, zero), zero);
  const F16 tried = select(less(zero, inside), next, sqrt(mul(low, high)));
  const F16 met = select(less(sub(high, low), mul(high, set(kAdjacent))), set(kMet), zero);
  const M16 exact = less(abs(sub(f, one)), set(kExact));
  store(select(exact, m, tried), g.m.x);
  store(select(exact, one, met), g.done.x);
}

HWY_INLINE void entmax_step(EntmaxGroup& g, const EntmaxOptions& o, int pass) {
  EntmaxRows sums, slopes;
  sum_sixteen_rows(g.sum, sums.x);
  sum_sixteen_rows(g.slope, slopes.x);
  if (o.steep) {
    step_steep(g, load(sums.x), load(slopes.x));
  } else {
    step_flat(g, load(sums.x), load(slopes.x), pass);
  }
  store(ratio_of(load(g.m.x), o.a), g.ratio.x);
}

HWY_INLINE bool any_below_one(const F16& x) {
  bool any = false;
  for (int i = 0; i < kParts; ++i) {
    any = any || !hn::AllFalse(D(), hn::Lt(x.p[i], hn::Set(D(), 1.0f)));
  }
  return any;
}

// The weights at both bounds, in the ratio that sums to 1.
HWY_INLINE void write_mixed(float* row, Index n, const EntmaxGroup& g, Index r,
                            const EntmaxOptions& o) {
  const D d;
  const float low_sum = g.low_sum.x[r], high_sum = g.high_sum.x[r];
  const float part = (1.0f - low_sum) / (high_sum - low_sum);
  const F16 bounds[2] = {set(g.low.x[r]), set(g.high.x[r])};
  const F16 factor[2] = {mul(set(1.0f - part), bounds[0]), mul(set(part), bounds[1])};
  const F16 ratio[2] = {ratio_of(bounds[0], o.a), ratio_of(bounds[1], o.a)};
  const F16 top = set(g.top.x[r]), a = set(o.a);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 x = distance(load(row + j), top, a);
    F16 w = set(0.0f);
    for (int side = 0; side < 2; ++side) {
      if (!any_below_one(mul(x, ratio[side]))) continue;
      const F16 v = map([&](int i) HWY_ATTR {
        return power_of_one_minus(hn::Mul(x.p[i], ratio[side].p[i]), hn::Set(d, o.q)).value;
      });
      w = fma(v, factor[side], w);
    }
    store(only(w, lanes, 0.0f), row + j);
  });
}

// The weights over their sum.
HWY_INLINE void write_divided(float* row, Index n, const EntmaxGroup& g, Index r,
                              const EntmaxOptions& o) {
  const D d;
  const F16 top = set(g.top.x[r]), a = set(o.a), ratio = set(g.ratio.x[r]);
  F16 sum = set(0.0f);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 x = mul(distance(load(row + j), top, a), ratio);
    F16 v = set(0.0f);
    if (any_below_one(x)) {
      v = map([&](int i) HWY_ATTR { return power_of_one_minus(x.p[i], hn::Set(d, o.q)).value; });
    }
    v = only(v, lanes, 0.0f);
    sum = add(sum, v);
    store(v, row + j);
  });
  const F16 factor = set(1.0f / reduce_add(sum));
  for (Index j = 0; j < n; j += 16) store(mul(load(row + j), factor), row + j);
}

HWY_INLINE void write_nan(float* row, Index n) {
  const F16 nan = set(std::numeric_limits<float>::quiet_NaN());
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR { store(only(nan, lanes, 0.0f), row + j); });
}

void entmax_forward_impl(const RowGroup& rows, float alpha, float* candidates) noexcept {
  constexpr int kMostPasses = 64;
  const float a = alpha - 1.0f;
  const EntmaxOptions o = {a, 1.0f / a, a > 1.0f};
  Index longest = 0;
  for (Index r = 0; r < rows.rows; ++r) {
    longest = longest < rows.count[r] ? rows.count[r] : longest;
  }
  const Index stride = attention::candidate_stride(longest);
  EntmaxGroup g = {};
  Index kept[kGroupRows] = {}, order[kGroupRows] = {}, open = 0;
  for (Index r = 0; r < kGroupRows; ++r) g.ratio.x[r] = g.m.x[r] = g.high.x[r] = 1.0f;
  for (Index r = 0; r < rows.rows; ++r) {
    g.top.x[r] = largest_of(rows.row[r], rows.count[r]);
    kept[r] = pack_candidates(rows.row[r], rows.count[r], g, r, a, candidates + r * stride);
    if (!(g.top.x[r] == g.top.x[r])) {
      write_nan(rows.row[r], rows.count[r]);
      continue;
    }
    g.low.x[r] = 1.0f / static_cast<float>(kept[r]);
    order[open++] = r;
  }
  for (int pass = 1; open > 0; ++pass) {
    for (Index n = 0; n < open; ++n) {
      const Index r = order[n];
      if (pass == 1 && !o.steep) {
        entmax_pass<Digits::kFour>(candidates + r * stride, kept[r], g, r, o.q);
      } else {
        entmax_pass<Digits::kAll>(candidates + r * stride, kept[r], g, r, o.q);
      }
    }
    entmax_step(g, o, pass);
    Index left = 0;
    for (Index n = 0; n < open; ++n) {
      const Index r = order[n];
      if (g.done.x[r] == 0.0f && pass < kMostPasses) {
        order[left++] = r;
      } else if (g.done.x[r] == kMet) {
        write_mixed(rows.row[r], rows.count[r], g, r, o);
      } else {
        write_divided(rows.row[r], rows.count[r], g, r, o);
      }
    }
    open = left;
  }
}

// w^(2 - alpha) over the same power of the pivot's weight, 0 outside the support, NaN of NaN.
HWY_INLINE F16 entmax_slope(const F16& w, const F16& exponent, const F16& pivot_log) {
  const F16 zero = set(0.0f), tiny = set(std::numeric_limits<float>::denorm_min());
  const F16 s = exp(mul(exponent, sub(log(w), pivot_log)));
  return select(less(w, tiny), zero, s);
}

// The key whose slope is the largest, which for alpha > 2 is the smallest weight: beside it the
// others may vanish, but not in what they pull at it. Gradients are taken relative to its own.
struct Pivot {
  float gradient = 0.0f;
  float log_weight = 0.0f;
  float scale = 1.0f;  // its slope, kept in range
};

HWY_INLINE float lane_of(const F16& v) {
  alignas(64) float x[16];
  store(v, x);
  return x[0];
}

HWY_INLINE Pivot steepest(const float* d, const float* weights, Index n, float alpha) {
  if (alpha <= 2.0f) return {};
  Index best = -1;
  for (Index j = 0; j < n; ++j) {
    if (weights[j] > 0.0f && (best < 0 || weights[j] < weights[best])) best = j;
  }
  if (best < 0) return {};
  const F16 log_weight = log(set(weights[best]));
  const float scale = lane_of(exp(mul(set(2.0f - alpha), log_weight)));
  return {d[best], lane_of(log_weight), scale < 1e30f ? scale : 1e30f};
}

// The gradient of alpha, by Correia et al.: with p~ = w^(2 - alpha) over its sum, l = log w and
// L = sum w l,
//
//   dw / d_alpha = (w - p~) / a^2 + (p~ L - w l) / a.
//
// Near softmax the two differences cancel twice over. There, with x = -a l, e^x = 1 + x + r and
// M = sum w (e^x - 1), R = sum w r, the same is  w / (a (1 + M)) ((R - r) / a - l M + (e^x - 1) L).
struct AlphaSums {
  F16 entropy;  // -L
  F16 grown;    // M, or the sum of slopes
  F16 rest;     // R
};
HWY_INLINE AlphaSums no_alpha_sums() { return {set(0.0f), set(0.0f), set(0.0f)}; }

struct Growth {
  F16 rest;  // r = e^x - 1 - x
  F16 grown;
};

HWY_INLINE Growth growth_of(const F16& x) {
  F16 series = set(1.0f / 40320.0f);
  for (const float c :
       {1.0f / 5040.0f, 1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f}) {
    series = fma(series, x, set(c));
  }
  const F16 small = mul(series, mul(x, x));
  const F16 grown = sub(exp(x), set(1.0f));
  const M16 near = less(x, set(0.5f));
  return {select(near, small, sub(grown, x)), select(near, add(small, x), grown)};
}

// log w, 0 outside the support.
HWY_INLINE F16 support_log(const F16& w) {
  const F16 tiny = set(std::numeric_limits<float>::denorm_min());
  return select(less(w, tiny), set(0.0f), log(w));
}

float alpha_gradient_near_softmax(const float* g, const float* weights, Index n, float a) {
  const F16 minus_a = set(-a);
  AlphaSums s = no_alpha_sums();
  for (Index j = 0; j < n; j += 16) {
    const F16 w = load(weights + j), l = support_log(w);
    const Growth e = growth_of(mul(minus_a, l));
    s.entropy = fnma(w, l, s.entropy);
    s.grown = fma(w, e.grown, s.grown);
    s.rest = fma(w, e.rest, s.rest);
  }
  const float total = reduce_add(s.grown);
  const F16 mean_log = set(-reduce_add(s.entropy)), grown = set(total);
  const F16 rest = set(reduce_add(s.rest)), inverse = set(1.0f / a);
  F16 sum = set(0.0f);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 w = load(weights + j), l = support_log(w);
    const Growth e = growth_of(mul(minus_a, l));
    F16 d = mul(sub(rest, e.rest), inverse);
    d = fma(e.grown, mean_log, fnma(l, grown, d));
    sum = fma(mul(w, d), only(load(g + j), lanes, 0.0f), sum);
  });
  return reduce_add(sum) / (a * (1.0f + total));
}

float alpha_gradient(const float* g, const float* weights, Index n, float alpha,
                     const Pivot& pivot) {
  const float a = alpha - 1.0f;
  const F16 exponent = set(2.0f - alpha), pivot_log = set(pivot.log_weight);
  AlphaSums s = no_alpha_sums();
  for (Index j = 0; j < n; j += 16) {
    const F16 w = load(weights + j);
    s.entropy = fnma(w, support_log(w), s.entropy);
    s.grown = add(s.grown, entmax_slope(w, exponent, pivot_log));
  }
  const F16 mean_log = set(-reduce_add(s.entropy)), total = set(reduce_add(s.grown));
  const F16 first = set(1.0f / (a * a)), second = set(1.0f / a), own = set(pivot.gradient);
  F16 sum = set(0.0f);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 w = load(weights + j);
    const F16 p = div(entmax_slope(w, exponent, pivot_log), total);
    const F16 d = mul(second, fnma(w, support_log(w), mul(p, mean_log)));
    const F16 all = fma(first, sub(w, p), d);
    sum = fma(all, only(sub(load(g + j), own), lanes, 0.0f), sum);
  });
  return reduce_add(sum);
}

void entmax_backward_impl(const RowGroup& d, const float* const* weights, float alpha,
                          float* const* d_alpha) noexcept {
  constexpr float kNearSoftmax = 1.25f;
  const F16 exponent = set(2.0f - alpha);
  for (Index r = 0; r < d.rows; ++r) {
    float* row = d.row[r];
    const float* w = weights[r];
    const Index n = d.count[r];
    const Pivot pivot = steepest(row, w, n, alpha);
    if (d_alpha != nullptr) {
      *d_alpha[r] = alpha < kNearSoftmax ? alpha_gradient_near_softmax(row, w, n, alpha - 1.0f)
                                         : alpha_gradient(row, w, n, alpha, pivot);
    }
    const F16 own = set(pivot.gradient), pivot_log = set(pivot.log_weight);
    F16 sum = set(0.0f), total = set(0.0f);
    for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
      const F16 s = entmax_slope(load(w + j), exponent, pivot_log);
      sum = fma(s, only(sub(load(row + j), own), lanes, 0.0f), sum);
      total = add(total, s);
    });
    const F16 mean = set(reduce_add(sum) / reduce_add(total)), scale = set(pivot.scale);
    for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
      const F16 s = mul(entmax_slope(load(w + j), exponent, pivot_log), scale);
      store(only(mul(s, sub(sub(load(row + j), own), mean)), lanes, 0.0f), row + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(entmax_forward_impl);
REGARD_DISPATCH_TABLE(entmax_backward_impl);

namespace attention {

void entmax_forward(const RowGroup& scores, float alpha, float* candidates) noexcept {
  REGARD_DISPATCH(entmax_forward_impl)(scores, alpha, candidates);
}
void entmax_backward(const RowGroup& d, const float* const* weights, float alpha,
                     float* const* d_alpha) noexcept {
  REGARD_DISPATCH(entmax_backward_impl)(d, weights, alpha, d_alpha);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
