#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/softmax_tile.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/lanes-inl.h"
#include "regard/attention/softmax_tile.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::KeyBits;
using attention::LiveBlock;
using attention::SoftmaxRows;

constexpr float kNoScore = -std::numeric_limits<float>::infinity();

// Which of sixteen keys of a row are live, as bits.
HWY_INLINE unsigned live_bits(const LiveBlock& live, Index row, Index key) {
  const Index left = live.keys - key;
  const unsigned there = left >= 16 ? 0xFFFFu : (1u << left) - 1u;
  if (live.words == nullptr) return there;
  const KeyBits word = live.words[row * live.words_per_row + key / 64];
  return static_cast<unsigned>(word >> (key % 64)) & there;
}

alignas(64) constexpr std::int32_t kLaneBits[16] = {1,   2,   4,    8,    16,   32,   64,    128,
                                                    256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

HWY_INLINE F16 keep_lanes(const F16& v, unsigned bits, float rest) {
  if (bits == 0xFFFFu) return v;
  const D d;
  const DI di;
  return map([&](int i) HWY_ATTR {
    const auto lane = hn::Load(di, kLaneBits + i * kVectorLanes);
    const auto set_bits = hn::And(lane, hn::Set(di, static_cast<std::int32_t>(bits)));
    const auto live = hn::RebindMask(d, hn::Eq(set_bits, lane));
    return hn::IfThenElse(live, v.p[i], hn::Set(d, rest));
  });
}

// What exponentials are taken relative to: a row whose live scores are all -inf keeps them 0.
HWY_INLINE float shift_of(float largest) { return largest == kNoScore ? 0.0f : largest; }

HWY_INLINE float exp_of(float x) {
  alignas(64) float lanes[16];
  store(exp(set(x)), lanes);
  return lanes[0];
}

// The largest lane, in all lanes. (A hardware maximum may lose or keep a NaN: the row is NaN either
// way.)
HWY_INLINE V largest_lane(const F16& x) {
  const D d;
  V v = x.p[0];
  for (int i = 1; i < kParts; ++i) v = hn::Max(v, x.p[i]);
  return hn::MaxOfLanes(d, v);
}

// Sixteen scores as they count: all of a tile whose keys are all live, else -inf where masked.
template <bool kFull>
HWY_INLINE F16 scores_at(const float* row, const LiveBlock& live, Index i, Index first, Index j) {
  if constexpr (kFull) return load(row + j);
  return keep_lanes(load(row + j), live_bits(live, i, first + j), kNoScore);
}

// One row; returns the sum of its exponentials by lane.
template <bool kFull>
HWY_INLINE void softmax_row(const LiveBlock& live, Index i, Index first, Index count, float* row,
                            SoftmaxRows& s) {
  const D d;
  F16 top = set(kNoScore);
  for (Index j = 0; j < count; j += 16) {
    const F16 e = scores_at<kFull>(row, live, i, first, j);
    top = map([&](int n) HWY_ATTR { return hn::Max(top.p[n], e.p[n]); });
  }
  const float before = s.largest[i];
  const float tile_top = hn::GetLane(largest_lane(top));
  const float largest = before < tile_top || tile_top != tile_top ? tile_top : before;
  const float shift = shift_of(largest);
  s.largest[i] = largest;
  s.rescale[i] = before == largest && before != kNoScore ? 1.0f : exp_of(before - shift);
  F16 sum = mul(load(s.lanes + 16 * i), set(s.rescale[i]));
  const V shifts = hn::Set(d, shift);
  for (Index j = 0; j < count; j += 16) {
    const unsigned bits = kFull ? 0xFFFFu : live_bits(live, i, first + j);
    const F16 e = load(row + j);
    F16 p = map([&](int n) HWY_ATTR { return exp(hn::Sub(e.p[n], shifts)); });
    if constexpr (!kFull) p = bits == 0 ? set(0.0f) : keep_lanes(p, bits, 0.0f);
    store(p, row + j);
    sum = add(sum, p);
  }
  store(sum, s.lanes + 16 * i);
}

void softmax_tile_impl(const LiveBlock& live, Index first, Index count, float* scores, Index stride,
                       SoftmaxRows& s) noexcept {
  const bool full = live.words == nullptr && count % 16 == 0;
  for (Index i = 0; i < live.rows; ++i) {
    if (full) {
      softmax_row<true>(live, i, first, count, scores + i * stride, s);
    } else {
      softmax_row<false>(live, i, first, count, scores + i * stride, s);
    }
  }
}

void finish_softmax_impl(Index count, SoftmaxRows& s) noexcept {
  for (Index i = 0; i < count; ++i) s.sum[i] = reduce_add(load(s.lanes + 16 * i));
}

void weigh_tile_impl(const LiveBlock& live, Index first, Index count, float* scores, Index stride,
                     const SoftmaxRows& s) noexcept {
  for (Index i = 0; i < live.rows; ++i) {
    float* row = scores + i * stride;
    const F16 shift = set(shift_of(s.largest[i])), divisor = set(s.sum[i]);
    for (Index j = 0; j < count; j += 16) {
      const unsigned bits = live_bits(live, i, first + j);
      const F16 e = exp(sub(load(row + j), shift));
      store(bits == 0 ? set(0.0f) : keep_lanes(div(e, divisor), bits, 0.0f), row + j);
    }
  }
}

void divide_tile_impl(const LiveBlock& live, Index first, Index count, float* exponentials,
                      Index stride, const SoftmaxRows& s) noexcept {
  for (Index i = 0; i < live.rows; ++i) {
    float* row = exponentials + i * stride;
    const F16 divisor = set(s.sum[i]);
    for (Index j = 0; j < count; j += 16) {
      const unsigned bits = live_bits(live, i, first + j);
      store(keep_lanes(div(load(row + j), divisor), bits, 0.0f), row + j);
    }
  }
}

void softmax_tile_backward_impl(const LiveBlock& live, Index first, Index count,
                                const float* weights, const float* delta, float* d,
                                Index stride) noexcept {
  for (Index i = 0; i < live.rows; ++i) {
    const float* w = weights + i * stride;
    float* row = d + i * stride;
    const F16 mean = set(delta[i]);
    for (Index j = 0; j < count; j += 16) {
      const unsigned bits = live_bits(live, i, first + j);
      const F16 d_e = mul(load(w + j), sub(load(row + j), mean));
      store(bits == 0 ? set(0.0f) : keep_lanes(d_e, bits, 0.0f), row + j);
    }
  }
}

float dot_row_impl(const float* x, const float* y, Index count) noexcept {
  return dot_lanes(x, y, count);
}
float dot_chain_impl(const float* x, const float* y, Index count) noexcept {
  F16 sum = set(0.0f);
  for (Index n = 0; n < count; ++n) sum = fma(set(x[n]), set(y[n]), sum);
  alignas(64) float lanes[16];
  store(sum, lanes);
  return lanes[0];
}
float add_log_impl(float largest, float sum) noexcept {
  alignas(64) float lanes[16];
  store(log(set(sum)), lanes);
  return largest + lanes[0];
}
void scale_row_impl(float* row, Index width, float factor) noexcept {
  for_blocks(width, [&](Index n, auto block) HWY_ATTR {
    store(mul(load(row + n, block), set(factor)), row + n, block);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace regard {
REGARD_DISPATCH_TABLE(softmax_tile_impl);
REGARD_DISPATCH_TABLE(finish_softmax_impl);
REGARD_DISPATCH_TABLE(weigh_tile_impl);
REGARD_DISPATCH_TABLE(divide_tile_impl);
REGARD_DISPATCH_TABLE(softmax_tile_backward_impl);
REGARD_DISPATCH_TABLE(dot_row_impl);
REGARD_DISPATCH_TABLE(dot_chain_impl);
REGARD_DISPATCH_TABLE(add_log_impl);
REGARD_DISPATCH_TABLE(scale_row_impl);

namespace attention {

void begin_softmax(SoftmaxRows& rows) noexcept {
  std::fill(rows.largest, rows.largest + kRowBlock, -std::numeric_limits<float>::infinity());
  std::fill(rows.lanes, rows.lanes + 16 * kRowBlock, 0.0f);
}
void softmax_tile(const LiveBlock& live, Index first, Index count, float* scores, Index stride,
                  SoftmaxRows& rows) noexcept {
  REGARD_DISPATCH(softmax_tile_impl)(live, first, count, scores, stride, rows);
}
void finish_softmax(Index count, SoftmaxRows& rows) noexcept {
  REGARD_DISPATCH(finish_softmax_impl)(count, rows);
}
void weigh_tile(const LiveBlock& live, Index first, Index count, float* scores, Index stride,
                const SoftmaxRows& rows) noexcept {
  REGARD_DISPATCH(weigh_tile_impl)(live, first, count, scores, stride, rows);
}
void divide_tile(const LiveBlock& live, Index first, Index count, float* exponentials, Index stride,
                 const SoftmaxRows& rows) noexcept {
  REGARD_DISPATCH(divide_tile_impl)(live, first, count, exponentials, stride, rows);
}
void softmax_tile_backward(const LiveBlock& live, Index first, Index count, const float* weights,
                           const float* delta, float* d, Index stride) noexcept {
  REGARD_DISPATCH(softmax_tile_backward_impl)(live, first, count, weights, delta, d, stride);
}
float dot_row(const float* x, const float* y, Index count) noexcept {
  return REGARD_DISPATCH(dot_row_impl)(x, y, count);
}
float dot_chain(const float* x, const float* y, Index count) noexcept {
  return REGARD_DISPATCH(dot_chain_impl)(x, y, count);
}
float add_log(float largest, float sum) noexcept {
  return REGARD_DISPATCH(add_log_impl)(largest, sum);
}
void scale_row(float* row, Index width, float factor) noexcept {
  REGARD_DISPATCH(scale_row_impl)(row, width, factor);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
