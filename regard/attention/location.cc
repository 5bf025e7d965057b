// Lanes are dims, as in additive.cc: keys need no transposing, and U is transposed once so that one
// channel's sixteen dims lie together. The convolution alone has its lanes along the keys (forward)
// or along the taps (backward).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/location.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/lanes-inl.h"
#include "regard/attention/location.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"
#include "regard/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::LocationGradients;
using attention::LocationScore;

// The parts of the scratch. Rows of dims and of keys are padded to multiples of sixteen; W, K.
struct LocationScratch {
  Index width = 0;            // W
  Index keys = 0;             // K
  Index floats = 0;           // of all parts together
  float* v = nullptr;         // [W] scale * v, zero beyond the width
  float* u = nullptr;         // [channels, W] U transposed, zero beyond the width
  float* state = nullptr;     // [K + taps - 1] the state with its zeros at both ends
  float* features = nullptr;  // [channels, K]; coverage: the state
  // Backward alone.
  float* d_query = nullptr;    // [W] sums over the keys; d_v short of the scale
  float* d_v = nullptr;        // [W]
  float* d_u = nullptr;        // [channels, W]
  float* d_state = nullptr;    // [K + taps - 1]
  float* d_feature = nullptr;  // [channels, 16] lane sums of one key
};

HWY_INLINE Index sixteens(Index n) { return (n + 15) / 16 * 16; }
HWY_INLINE bool convolves(const LocationScore& score) { return score.filters.data != nullptr; }
HWY_INLINE Index taps_of(const LocationScore& score) {
  return convolves(score) ? score.filters.cols : 1;
}

// Places the parts for `keys` keys from `base` on; null: for their size alone.
LocationScratch location_layout(const LocationScore& score, Index keys, float* base) noexcept {
  LocationScratch s;
  s.width = sixteens(score.width);
  s.keys = sixteens(keys);
  const Index channels = score.channels();
  const Index state = sixteens(s.keys + taps_of(score) - 1);
  const auto take = [&](Index n) {
    float* part = base == nullptr ? nullptr : base + s.floats;
    s.floats += n;
    return part;
  };
  s.v = take(s.width);
  s.u = take(channels * s.width);
  s.state = take(state);
  s.features = convolves(score) ? take(channels * s.keys) : s.state;
  s.d_query = take(s.width);
  s.d_v = take(s.width);
  s.d_u = take(channels * s.width);
  s.d_state = take(state);
  s.d_feature = take(channels * 16);
  return s;
}

HWY_INLINE void fill_zero(float* x, Index n) {
  if (n > 0) std::memset(x, 0, sizeof(float) * static_cast<size_t>(n));
}

// What forward and backward need alike: v and U in their own order, the state between its zeros,
// the features.
HWY_INLINE void prepare_location(const LocationScore& score, const float* state,
                                 const LocationScratch& s) {
  const Index taps = taps_of(score), channels = score.channels();
  fill_zero(s.v, s.width);
  for (Index a = 0; a < score.width; ++a) s.v[a] = score.scale * score.v[a];
  fill_zero(s.u, channels * s.width);
  for (Index a = 0; a < score.width; ++a) {
    for (Index c = 0; c < channels; ++c) s.u[c * s.width + a] = score.u(a, c);
  }
  fill_zero(s.state, sixteens(s.keys + taps - 1));
  for (Index j = 0; j < score.count; ++j) s.state[taps / 2 + j] = state[j];
  if (!convolves(score)) return;
  for (Index c = 0; c < channels; ++c) {
    const float* filter = score.filters.row(c);
    for (Index j = 0; j < s.keys; j += 16) {
      F16 f = set(0.0f);
      for (Index t = 0; t < taps; ++t) f = fma(set(filter[t]), load(s.state + j + t), f);
      store(f, s.features + c * s.keys + j);
    }
  }
}

// Lanes beyond the end of a row become 0, whatever they hold (an infinite feature makes them NaN).
HWY_INLINE F16 live_lanes(const F16& x, Full) { return x; }
HWY_INLINE F16 live_lanes(const F16& x, Part part) { return keep_first(x, part.n, 0.0f); }

// q + k_j + U f_j at the dims from a on.
template <class Block>
HWY_INLINE F16 location_sum(const LocationScore& score, const LocationScratch& s,
                            const float* query, Index j, Index a, Block block) {
  F16 z = add(load(query + a, block), load(score.keys + j * score.key_stride + a, block));
  for (Index c = 0; c < score.channels(); ++c) {
    z = fma(load(s.u + c * s.width + a), set(s.features[c * s.keys + j]), z);
  }
  return z;
}

void location_scores_impl(const LocationScore& score, const float* query, const float* state,
                          float* scores, float* scratch) noexcept {
  const LocationScratch s = location_layout(score, score.count, scratch);
  prepare_location(score, state, s);
  alignas(64) float acc[256];
  alignas(64) float sums[16];
  for (Index first = 0; first < score.count; first += 16) {
    const Index count = score.count - first < 16 ? score.count - first : 16;
    for (Index n = 0; n < count; ++n) {
      F16 sum = set(0.0f);
      for_blocks(score.width, [&](Index a, auto block) HWY_ATTR {
        const F16 z = location_sum(score, s, query, first + n, a, block);
        sum = fma(load(s.v + a), live_lanes(tanh(z), block), sum);
      });
      store(sum, acc + 16 * n);
    }
    for (Index n = count; n < 16; ++n) store(set(0.0f), acc + 16 * n);
    sum_sixteen_rows(acc, sums);
    std::memcpy(scores + first, sums, sizeof(float) * static_cast<size_t>(count));
  }
}

// One key, all but what goes through its features; leaves the lane sums of d_f in s.d_feature.
// tanh' = 4 E / (1 + E)^2 with E = e^(-2|z|) keeps its relative accuracy where tanh saturates.
HWY_INLINE void location_backward_key(const LocationScore& score, const LocationScratch& s,
                                      const float* query, Index j, float d_score,
                                      const LocationGradients& gradients) {
  const Index channels = score.channels();
  const F16 one = set(1.0f), d_e = set(d_score);
  float* d_key =
      gradients.d_keys == nullptr ? nullptr : gradients.d_keys + j * gradients.d_key_stride;
  fill_zero(s.d_feature, channels * 16);
  for_blocks(score.width, [&](Index a, auto block) HWY_ATTR {
    const F16 z = location_sum(score, s, query, j, a, block);
    const F16 size = abs(z);
    const F16 e = exp(neg(add(size, size)));
    const F16 bottom = add(one, e);
    const F16 slope = mul(set(4.0f), div(e, mul(bottom, bottom)));
    const F16 d_z = live_lanes(mul(mul(d_e, load(s.v + a)), slope), block);
    store(fma(d_e, tanh(z), load(s.d_v + a)), s.d_v + a);
    store(add(load(s.d_query + a), d_z), s.d_query + a);
    if (d_key != nullptr) store(add(load(d_key + a, block), d_z), d_key + a, block);
    for (Index c = 0; c < channels; ++c) {
      float* d_u = s.d_u + c * s.width + a;
      float* d_f = s.d_feature + 16 * c;
      store(fma(d_z, set(s.features[c * s.keys + j]), load(d_u)), d_u);
      store(fma(d_z, load(s.u + c * s.width + a), load(d_f)), d_f);
    }
  });
}

// d_filter_c[t] += d_f_jc state[j + t], d_state[j + t] += d_f_jc filter_c[t], in the padded state.
HWY_INLINE void location_backward_features(const LocationScore& score, const LocationScratch& s,
                                           Index j, const LocationGradients& gradients) {
  for (Index c = 0; c < score.channels(); ++c) {
    const float d_f = reduce_add(load(s.d_feature + 16 * c));
    if (!convolves(score)) {
      s.d_state[j] += d_f;
      continue;
    }
    const F16 d = set(d_f);
    const float* filter = score.filters.row(c);
    float* d_filter = gradients.d_filters.data == nullptr ? nullptr : gradients.d_filters.row(c);
    for_blocks(score.filters.cols, [&](Index t, auto block) HWY_ATTR {
      if (d_filter != nullptr) {
        const F16 old = load(d_filter + t, block);
        store(fma(d, load(s.state + j + t, block), old), d_filter + t, block);
      }
      float* d_state = s.d_state + j + t;
      store(fma(d, load(filter + t, block), load(d_state, block)), d_state, block);
    });
  }
}

void location_backward_impl(const LocationScore& score, const float* query, const float* state,
                            const float* d_scores, const LocationGradients& gradients,
                            float* scratch) noexcept {
  const LocationScratch s = location_layout(score, score.count, scratch);
  prepare_location(score, state, s);
  const Index channels = score.channels(), taps = taps_of(score);
  fill_zero(s.d_query, s.width);
  fill_zero(s.d_v, s.width);
  fill_zero(s.d_u, channels * s.width);
  fill_zero(s.d_state, s.keys + taps - 1);
  for (Index j = 0; j < score.count; ++j) {
    if (d_scores[j] == 0.0f) continue;
    location_backward_key(score, s, query, j, d_scores[j], gradients);
    location_backward_features(score, s, j, gradients);
  }
  if (gradients.d_query != nullptr) add_row(s.d_query, gradients.d_query, score.width);
  if (gradients.d_v != nullptr) {
    const F16 scale = set(score.scale);
    for_blocks(score.width, [&](Index a, auto block) HWY_ATTR {
      float* d_v = gradients.d_v + a;
      store(fma(scale, load(s.d_v + a), load(d_v, block)), d_v, block);
    });
  }
  for (Index a = 0; gradients.d_u.data != nullptr && a < score.width; ++a) {
    for (Index c = 0; c < channels; ++c) gradients.d_u(a, c) += s.d_u[c * s.width + a];
  }
  if (gradients.d_state != nullptr) add_row(s.d_state + taps / 2, gradients.d_state, score.count);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(location_scores_impl);
REGARD_DISPATCH_TABLE(location_backward_impl);

namespace attention {

Index location_scratch(const LocationScore& score, Index keys) noexcept {
  return HWY_STATIC_NAMESPACE::location_layout(score, keys, nullptr).floats;
}
void location_scores(const LocationScore& score, const float* query, const float* state,
                     float* scores, float* scratch) noexcept {
  REGARD_DISPATCH(location_scores_impl)(score, query, state, scores, scratch);
}
void location_backward(const LocationScore& score, const float* query, const float* state,
                       const float* d_scores, const LocationGradients& gradients,
                       float* scratch) noexcept {
  REGARD_DISPATCH(location_backward_impl)(score, query, state, d_scores, gradients, scratch);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
