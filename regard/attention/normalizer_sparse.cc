// Sparsemax and entmax-1.5 without sorting.
//
// With z = e - max (entmax-1.5: half of it), u = (z - tau)+ and tau from -1 upwards, sum u - 1 and
// |u| - 1 are convex and fall as tau grows, so Newton's steps from below never pass the root:
//
//   sparsemax     tau += (sum u - 1) / |support|        exact as soon as the support is
//   entmax-1.5    tau += (sum u^2 - |u|) / sum u
//
// Entmax-1.5 first tries the root of the quadratic of the support at hand, sum (u - c)^2 = 1. It
// overshoots where the true support is smaller, which the next pass sees: from there Newton leads
// back below, and no such step goes that far again. When a pass sees the support that the last
// quadratic was made of, that was the root but for rounding. At the end c stays apart from tau,
// w = u - c or its square, since tau is rounded more coarsely than the weights of wide supports.
//
// Keys below the first tau never come back: the first pass leaves them out of those that follow.
// Sixteen rows go in step, so that their sums are folded and their steps taken side by side; a row
// that is done is not touched again, so that none of its bits comes from its neighbours.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/normalizer_sparse.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/normalizer_lanes-inl.h"
#include "regard/attention/normalizer_sparse.h"
#include "regard/kernels/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::kGroupRows;
using attention::padded;
using attention::RowGroup;

enum class Threshold { kSparsemax, kEntmax15 };

// One number for each row of a group.
struct PerRow {
  alignas(64) float x[kGroupRows];
};

// Where each row of the group stands, and the sixteen partial sums of its last pass.
struct ThresholdGroup {
  PerRow top;                                  // the largest score
  PerRow tau;                                  // of the last pass
  PerRow correction;                           // c, by that pass
  PerRow count;                                // size of the support in the pass before
  PerRow support;                              // and in the last one
  PerRow above;                                // a tau that is known to be beyond the root
  PerRow solved;                               // 1: tau came from the quadratic of a support
  PerRow done;                                 // 1: nothing of the row changes any more
  alignas(64) float sum[kGroupRows * 16];      // of u
  alignas(64) float squares[kGroupRows * 16];  // of u^2
};

struct ThresholdSums {
  F16 sum, squares;
  Index support;
};
HWY_INLINE ThresholdSums no_sums() { return {set(0.0f), set(0.0f), 0}; }

template <Threshold kKind>
HWY_INLINE void add_up(const F16& u, const M16& out, ThresholdSums& s) {
  const F16 part = select(out, set(0.0f), u);
  s.sum = add(s.sum, part);
  if constexpr (kKind == Threshold::kEntmax15) s.squares = fma(part, part, s.squares);
}

HWY_INLINE void put(const ThresholdSums& s, ThresholdGroup& g, Index r) {
  store(s.sum, g.sum + 16 * r);
  store(s.squares, g.squares + 16 * r);
  g.support.x[r] = static_cast<float>(s.support);
}

template <Threshold kKind>
HWY_INLINE F16 shifted(const F16& e, const F16& top) {
  const F16 z = sub(e, top);
  return kKind == Threshold::kEntmax15 ? mul(z, set(0.5f)) : z;
}

// Short rows are not worth packing: passes of one length cost less than guessing each one's.
constexpr Index kShort = 64;

// The pass at tau = -1; what lies below goes out of the candidates. Returns how many there are.
template <Threshold kKind>
HWY_INLINE Index first_pass(const float* row, Index n, ThresholdGroup& g, Index r,
                            float* candidates) {
  constexpr float kOut = -std::numeric_limits<float>::infinity();
  const F16 top = set(g.top.x[r]);
  ThresholdSums sums = no_sums();
  Index kept = 0;
  const auto block = [&](Index j, auto lanes, auto put_block) HWY_ATTR {
    const F16 z = only(shifted<kKind>(load(row + j), top), lanes, kOut);
    const F16 u = add(z, set(1.0f));
    const M16 out = less(u, set(0.0f));
    add_up<kKind>(u, out, sums);
    put_block(z, out);
  };
  if (n <= kShort) {
    for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
      block(j, lanes, [&](const F16& z, const M16& out) HWY_ATTR {
        store(z, candidates + j);
        sums.support += 16 - count_of(out);
      });
    });
    kept = padded(n);
  } else {
    for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
      block(j, lanes, [&](const F16& z, const M16& out) HWY_ATTR {
        kept += pack(z, out, candidates + kept);
      });
    });
    store(set(kOut), candidates + kept);
    sums.support = kept;
  }
  put(sums, g, r);
  return kept;
}

template <Threshold kKind>
HWY_INLINE void next_pass(const float* candidates, Index n, ThresholdGroup& g, Index r) {
  const F16 tau = set(g.tau.x[r]);
  ThresholdSums sums = no_sums();
  for (Index j = 0; j < n; j += 16) {
    const F16 u = sub(load(candidates + j), tau);
    const M16 out = less(u, set(0.0f));
    add_up<kKind>(u, out, sums);
    sums.support += 16 - count_of(out);
  }
  put(sums, g, r);
}

// 1 where `a` and `b` are equal numbers.
HWY_INLINE F16 equal(const F16& a, const F16& b) {
  return map([&](int i) HWY_ATTR {
    return hn::IfThenElseZero(hn::Eq(a.p[i], b.p[i]), hn::Set(D(), 1.0f));
  });
}

// to = v, but for rows that are done.
HWY_INLINE void move_on(const ThresholdGroup& g, const F16& v, PerRow& to) {
  store(select(less(set(0.0f), load(g.done.x)), load(to.x), v), to.x);
}

// The steps of sixteen rows. A row that is done keeps the tau and the correction of its last pass.
HWY_INLINE void step_sparsemax(ThresholdGroup& g, const F16& sum) {
  const F16 tau = load(g.tau.x), support = load(g.support.x), last = load(g.count.x);
  const F16 c = div(sub(sum, set(1.0f)), support);
  move_on(g, c, g.correction);
  store(max(load(g.done.x), equal(support, last)), g.done.x);
  move_on(g, max(tau, add(tau, c)), g.tau);  // never down, so supports only shrink
  store(support, g.count.x);
}

HWY_INLINE void step_entmax15(ThresholdGroup& g, const F16& sum, bool last_pass) {
  constexpr float kTiny = 0x1p-20f;
  PerRow folded;
  sum_sixteen_rows(g.squares, folded.x);
  const F16 squares = load(folded.x), tau = load(g.tau.x), support = load(g.support.x);
  const F16 zero = set(0.0f), one = set(1.0f), excess = sub(squares, one);
  const F16 newton = div(sub(squares, sqrt(squares)), sum);
  const F16 inner = fnma(support, excess, mul(sum, sum));
  const F16 quadratic = div(excess, add(sum, sqrt(max(zero, inner))));
  const F16 above = select(less(squares, one), min(load(g.above.x), tau), load(g.above.x));
  const F16 goal = add(tau, quadratic);
  const F16 solves = select(less(goal, above), select(less(inner, zero), zero, one), zero);
  const F16 small = select(less(abs(quadratic), set(kTiny)), one, load(g.solved.x));
  const F16 settled = mul(equal(support, load(g.count.x)), small);
  const F16 numbers = equal(sum, sum);  // 0 in a row with NaN, which is done
  const F16 done = select(less(numbers, one), one, last_pass ? one : settled);
  move_on(g, quadratic, g.correction);
  store(max(load(g.done.x), done), g.done.x);
  move_on(g, select(less(zero, solves), goal, add(tau, newton)), g.tau);
  store(solves, g.solved.x);
  store(above, g.above.x);
  store(support, g.count.x);
}

template <Threshold kKind>
HWY_INLINE void step(ThresholdGroup& g, bool last_pass) {
  PerRow sum;
  sum_sixteen_rows(g.sum, sum.x);
  if constexpr (kKind == Threshold::kSparsemax) {
    step_sparsemax(g, load(sum.x));
  } else {
    step_entmax15(g, load(sum.x), last_pass);
  }
}

HWY_INLINE bool all_done(const ThresholdGroup& g) {
  const F16 done = load(g.done.x);
  bool all = true;
  for (int i = 0; i < kParts; ++i) {
    all = all && hn::AllTrue(D(), hn::Lt(hn::Zero(D()), done.p[i]));
  }
  return all;
}

template <Threshold kKind>
HWY_INLINE void write_weights(float* row, Index n, const ThresholdGroup& g, Index r) {
  const F16 top = set(g.top.x[r]), tau = set(g.tau.x[r]), c = set(g.correction.x[r]);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 u = sub(shifted<kKind>(load(row + j), top), tau);
    F16 w = positive_part(sub(u, c));
    if constexpr (kKind == Threshold::kEntmax15) w = mul(w, w);
    store(only(w, lanes, 0.0f), row + j);
  });
}

template <Threshold kKind>
void threshold_forward(const RowGroup& rows, float* candidates) noexcept {
  // Only rounding could keep entmax-1.5 from ending; by then what is left to do is lost in it.
  constexpr int kMostPasses = 64;
  Index longest = 0;
  for (Index r = 0; r < rows.rows; ++r) {
    longest = longest < rows.count[r] ? rows.count[r] : longest;
  }
  const Index stride = attention::candidate_stride(longest);
  ThresholdGroup g = {};
  Index kept[kGroupRows] = {};
  for (Index r = 0; r < kGroupRows; ++r) {
    g.tau.x[r] = -1.0f;
    g.count.x[r] = -1.0f;
    g.above.x[r] = 1.0f;
    g.done.x[r] = r < rows.rows ? 0.0f : 1.0f;
  }
  for (Index r = 0; r < rows.rows; ++r) {
    g.top.x[r] = largest_of(rows.row[r], rows.count[r]);
    kept[r] = first_pass<kKind>(rows.row[r], rows.count[r], g, r, candidates + r * stride);
  }
  for (int pass = 1;; ++pass) {
    step<kKind>(g, pass >= kMostPasses);
    if (all_done(g)) break;
    for (Index r = 0; r < rows.rows; ++r) {
      if (kept[r] > kShort && g.done.x[r] != 0.0f) continue;
      next_pass<kKind>(candidates + r * stride, kept[r], g, r);
    }
  }
  for (Index r = 0; r < rows.rows; ++r) {
    write_weights<kKind>(rows.row[r], rows.count[r], g, r);
  }
}

void sparsemax_forward_impl(const RowGroup& rows, float* candidates) noexcept {
  threshold_forward<Threshold::kSparsemax>(rows, candidates);
}
void entmax15_forward_impl(const RowGroup& rows, float* candidates) noexcept {
  threshold_forward<Threshold::kEntmax15>(rows, candidates);
}

// d = s (g - sum(s g) / sum(s)); sparsemax s = 1 on the support, entmax-1.5 s = sqrt(w). A weight
// that is NaN gives NaN.
template <Threshold kKind>
HWY_INLINE F16 slope(const F16& w) {
  if constexpr (kKind == Threshold::kEntmax15) return sqrt(w);
  return fma(w, set(0.0f), sub(set(1.0f), equal(w, set(0.0f))));
}

template <Threshold kKind>
void threshold_backward(const RowGroup& d, const float* const* weights) noexcept {
  for (Index r = 0; r < d.rows; ++r) {
    float* row = d.row[r];
    const float* w = weights[r];
    F16 sum = set(0.0f), total = set(0.0f);
    for_padded(d.count[r], [&](Index j, auto lanes) HWY_ATTR {
      const F16 s = slope<kKind>(load(w + j));
      sum = fma(s, only(load(row + j), lanes, 0.0f), sum);
      total = add(total, s);
    });
    const F16 mean = set(reduce_add(sum) / reduce_add(total));
    for_padded(d.count[r], [&](Index j, auto lanes) HWY_ATTR {
      const F16 s = slope<kKind>(load(w + j));
      store(only(mul(s, sub(load(row + j), mean)), lanes, 0.0f), row + j);
    });
  }
}

void sparsemax_backward_impl(const RowGroup& d, const float* const* weights) noexcept {
  threshold_backward<Threshold::kSparsemax>(d, weights);
}
void entmax15_backward_impl(const RowGroup& d, const float* const* weights) noexcept {
  threshold_backward<Threshold::kEntmax15>(d, weights);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(sparsemax_forward_impl);
REGARD_DISPATCH_TABLE(entmax15_forward_impl);
REGARD_DISPATCH_TABLE(sparsemax_backward_impl);
REGARD_DISPATCH_TABLE(entmax15_backward_impl);

namespace attention {

void sparsemax_forward(const RowGroup& scores, float* candidates) noexcept {
  REGARD_DISPATCH(sparsemax_forward_impl)(scores, candidates);
}
void entmax15_forward(const RowGroup& scores, float* candidates) noexcept {
  REGARD_DISPATCH(entmax15_forward_impl)(scores, candidates);
}
void sparsemax_backward(const RowGroup& d, const float* const* weights) noexcept {
  REGARD_DISPATCH(sparsemax_backward_impl)(d, weights);
}
void entmax15_backward(const RowGroup& d, const float* const* weights) noexcept {
  REGARD_DISPATCH(entmax15_backward_impl)(d, weights);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
