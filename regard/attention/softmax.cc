#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/softmax.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/softmax.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::ScoreBlock;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

HWY_INLINE int live_lanes(Index count, Index j) {
  return static_cast<int>(count - j < 16 ? count - j : 16);
}

void scale_scores_impl(const ScoreBlock& s, float factor) noexcept {
  const F16 f = set(factor);
  for (Index i = 0; i < s.rows; ++i) {
    float* row = s.data + i * s.stride;
    for (Index j = 0; j < s.count; j += 16) store(mul(load(row + j), f), row + j);
  }
}

float row_sum_impl(const float* x, Index count) noexcept {
  F16 sum = set(0.0f);
  for (Index j = 0; j < count; j += 16) {
    const int n = live_lanes(count, j);
    sum = add(sum, n == 16 ? load(x + j) : load_n(x + j, n));
  }
  return reduce_add(sum);
}

// Padding takes part as -inf, whose exponential is exactly zero. The largest score passes over NaN;
// the exponentials don't.
void softmax_forward_impl(const ScoreBlock& s, float* log_sum_exp) noexcept {
  for (Index i = 0; i < s.rows; ++i) {
    float* row = s.data + i * s.stride;
    F16 largest = set(-kInfinity);
    for (Index j = 0; j < s.count; j += 16) {
      const F16 v = keep_first(load(row + j), live_lanes(s.count, j), -kInfinity);
      largest = max(largest, v);
    }
    const float top = reduce_max(largest);
    const F16 shift = set(top);
    F16 sum = set(0.0f);
    for (Index j = 0; j < s.count; j += 16) {
      const F16 e = keep_first(exp(sub(load(row + j), shift)), live_lanes(s.count, j), 0.0f);
      store(e, row + j);
      sum = add(sum, e);
    }
    const float total = reduce_add(sum);
    const F16 divisor = set(total);
    for (Index j = 0; j < s.count; j += 16) {
      store(keep_first(div(load(row + j), divisor), live_lanes(s.count, j), 0.0f), row + j);
    }
    if (log_sum_exp == nullptr) continue;
    alignas(64) float log_total[16];
    store(log(divisor), log_total);
    log_sum_exp[i] = top + log_total[0];
  }
}

void softmax_backward_impl(const ScoreBlock& d, const float* weights, const float* const* extra,
                           float* row_sums) noexcept {
  for (Index i = 0; i < d.rows; ++i) {
    float* row = d.data + i * d.stride;
    const float* w = weights + i * d.stride;
    F16 sum = set(0.0f);
    for (Index j = 0; j < d.count; j += 16) {
      const int n = live_lanes(d.count, j);
      F16 g = keep_first(load(row + j), n, 0.0f);
      if (extra != nullptr) g = add(g, n == 16 ? load(extra[i] + j) : load_n(extra[i] + j, n));
      store(g, row + j);
      sum = fma(load(w + j), g, sum);
    }
    const F16 mean = set(reduce_add(sum));
    F16 total = set(0.0f);
    for (Index j = 0; j < d.count; j += 16) {
      const F16 d_e = mul(load(w + j), sub(load(row + j), mean));
      const F16 live = keep_first(d_e, live_lanes(d.count, j), 0.0f);
      store(live, row + j);
      total = add(total, live);
    }
    row_sums[i] = reduce_add(total);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(scale_scores_impl);
REGARD_DISPATCH_TABLE(row_sum_impl);
REGARD_DISPATCH_TABLE(softmax_forward_impl);
REGARD_DISPATCH_TABLE(softmax_backward_impl);

namespace attention {

void scale_scores(const ScoreBlock& scores, float factor) noexcept {
  REGARD_DISPATCH(scale_scores_impl)(scores, factor);
}
float row_sum(const float* x, Index count) noexcept {
  return REGARD_DISPATCH(row_sum_impl)(x, count);
}
void softmax_forward(const ScoreBlock& scores, float* log_sum_exp) noexcept {
  REGARD_DISPATCH(softmax_forward_impl)(scores, log_sum_exp);
}
void softmax_backward(const ScoreBlock& d_scores, const float* weights, const float* const* extra,
                      float* row_sums) noexcept {
  REGARD_DISPATCH(softmax_backward_impl)(d_scores, weights, extra, row_sums);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
