#include "regard/attention/score_block.h"

#include <algorithm>
#include <cstring>

#include "regard/attention/softmax.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {
namespace {

// Keys from `range.first` on, as the factored kernels take them.
AdditiveKeys additive_keys(const HeadCall& call, Index sentence, KeyRange range) noexcept {
  const PreparedKeys& keys = call.keys;
  const HeadKeys& head = call.head_keys();
  AdditiveKeys out;
  out.count = range.count;
  out.exponentials = head.exponentials + (keys.first[sentence] + range.first) * keys.padded_width;
  out.raw = head.keys.row(keys.rows.start[sentence] + range.first);
  out.raw_stride = head.keys.stride;
  out.width = keys.width;
  out.padded = keys.padded_width;
  out.v = head.v;
  out.minus_two_v = head.minus_two_v;
  out.v_in_range = head.v_in_range;
  out.extrema = head.extrema[sentence];
  return out;
}

// A row that may see a key that is not finite takes the direct form: no reciprocal is shared then.
void mark_rows_with_bad_keys(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                             RowExtrema* extrema) noexcept {
  const bool* bad = call.head_keys().not_finite;
  if (bad == nullptr) return;
  bad += call.keys.first[block.sentence];
  for (Index i = 0; i < block.count; ++i) {
    for (Index j = 0; j < live.live.keys; ++j) {
      if (bad[j] && live.live.live(i, j)) extrema[i].in_range = false;
    }
  }
}

// Exponentials of the block's rows: [count, padded] with chunk_stride 16, or by chunks of dims.
AdditiveRows exponentiate_block(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                                ScoreScratch& s, bool by_chunk) noexcept {
  const PreparedKeys& keys = call.keys;
  for (Index i = 0; i < block.count; ++i) {
    s.raw[i] = call.query_row(block.rows[i]);
    float* to = s.query + i * (by_chunk ? 16 : keys.padded_width);
    s.extrema[i] = exponentiate_row(s.raw[i], keys.width, keys.padded_width, to,
                                    by_chunk ? 16 * block.count : 16);
  }
  mark_rows_with_bad_keys(call, block, live, s.extrema);
  return {s.raw, s.query, s.extrema, block.count};
}

// Runs of tiles that are not empty.
template <class Fn>
void for_each_run(const BlockLive& live, Fn fn) noexcept {
  const Index end = live.range.first + live.range.count;
  if (live.live.words == nullptr) {
    fn(live.range);
    return;
  }
  for (Index j = live.range.first; j < end;) {
    Index stop = j;
    while (stop < end && live.live.tile(stop, kKeyTile) != TileClass::kEmpty) stop += kKeyTile;
    if (stop > j) fn(KeyRange{j, std::min(stop, end) - j});
    j = stop + kKeyTile;
  }
}

void product_scores(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                    ScoreScratch& s, float* scores, Index stride) noexcept {
  const ConstMatrix query = block_query(call, block, s.query);
  for_each_run(live, [&](KeyRange run) {
    product_tile(call, block, run, query, scores + run.first, stride);
  });
}

LocationScore location_score(const HeadCall& call, Index sentence) noexcept {
  const PreparedKeys& keys = call.keys;
  const HeadKeys& head = call.head_keys();
  const Score& score = keys.attention.score;
  LocationScore out;
  out.keys = head.keys.row(keys.rows.start[sentence]);
  out.key_stride = head.keys.stride;
  out.count = keys.rows.length[sentence];
  out.width = keys.width;
  out.v = head.v;  // with its scale
  if (score.kind == ScoreKind::kLocationSensitive) out.filters = score.filters;
  out.u = score.u.row_slice(call.head * keys.width, keys.width);
  return out;
}

const float* state_of(const HeadCall& call, const ScoreScratch& s, Index row) noexcept {
  const ConstMatrix& state = call.queries.state;
  return state.data == nullptr ? s.no_state : state.row(call.head_row(row));
}

KeyRows key_rows(const HeadCall& call, Index sentence) noexcept {
  const ConstMatrix& keys = call.head_keys().keys;
  return {keys.row(call.keys.rows.start[sentence]), keys.stride, call.keys.rows.length[sentence],
          keys.cols};
}

void row_scores(const HeadCall& call, const RowBlock& block, Index i, ScoreScratch& s,
                float* scores) noexcept {
  const Score& score = call.keys.attention.score;
  const float* query = call.query_row(block.rows[i]);
  const Index count = call.keys.rows.length[block.sentence];
  if (score.stateful()) {
    location_scores(location_score(call, block.sentence), query, state_of(call, s, block.rows[i]),
                    scores, s.location);
    return;
  }
  if (score.kind == ScoreKind::kLocation) {
    std::copy_n(query, count, scores);
  } else {
    score.custom.forward(score.custom.self, query, key_rows(call, block.sentence), scores);
  }
  if (score.scale != 1.0f) scale_scores({scores, 0, 1, count}, score.scale);
}

// 1 or 0 for each pair of the range; null: all are live.
const float* live_numbers(const BlockLive& live, Index stride, float* to) noexcept {
  if (live.live.words == nullptr) return nullptr;
  for (Index i = 0; i < live.live.rows; ++i) {
    for (Index j = 0; j < live.range.count; ++j) {
      to[i * stride + j] = live.live.live(i, live.range.first + j) ? 1.0f : 0.0f;
    }
  }
  return to;
}

void additive_block_backward(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                             ScoreScratch& s, const BlockGradients& g) noexcept {
  const PreparedKeys& keys = call.keys;
  const AdditiveKeys additive = additive_keys(call, block.sentence, live.range);
  const AdditiveRows rows = exponentiate_block(call, block, live, s, true);
  for (Index i = 0; i < block.count; ++i) {
    if (!takes_factors(additive, s.extrema[i])) continue;
    g.sums->d_score_sum += row_sum(g.d_scores + i * g.stride, live.live.keys);
  }
  float* d_keys = g.keys->d_keys.row(sum_row(keys, call.head, block.sentence, live.range.first));
  additive_backward(additive, rows,
                    {g.d_scores + live.range.first, g.stride, live_numbers(live, g.stride, s.live),
                     s.d_query, d_keys, g.keys->d_keys.stride, g.sums->v});
  for (Index i = 0; g.d_query.data != nullptr && i < block.count; ++i) {
    add_v_scaled(call.head_keys().v, s.d_query + 16 * i, 16 * block.count, keys.width,
                 g.d_query.row(block.rows[i]) + call.head * keys.width);
  }
}

void product_block_backward(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                            ScoreScratch& s, const BlockGradients& g) noexcept {
  const PreparedKeys& keys = call.keys;
  const Index stride = keys.padded_width;
  gather_query(call, block, s.query, stride);
  float* d_keys = g.keys->d_keys.row(sum_row(keys, call.head, block.sentence));
  spread_live(live, g.d_scores, g.stride, {s.query, stride, block.count, stride},
              {d_keys, g.keys->d_keys.stride, live.live.keys});
  if (g.d_query.data == nullptr) return;
  combine_live(live, g.d_scores, g.stride,
               live_rows(call.head_keys().keys, keys.rows, block.sentence, 0, keys.width),
               {s.d_query, stride, block.count});
  const float factor = product_factor(keys);
  for (Index i = 0; i < block.count; ++i) {
    add_scaled(s.d_query + i * stride, factor, keys.width,
               g.d_query.row(block.rows[i]) + call.head * keys.width);
  }
}

void row_backward(const HeadCall& call, const RowBlock& block, Index i, ScoreScratch& s,
                  const BlockGradients& g) noexcept {
  const PreparedKeys& keys = call.keys;
  const Score& score = keys.attention.score;
  const Index row = block.rows[i], count = keys.rows.length[block.sentence];
  float* d_query =
      g.d_query.data == nullptr ? nullptr : g.d_query.row(row) + call.head * call.query_width;
  const float* d_scores = g.d_scores + i * g.stride;
  float* d_keys = g.keys->d_keys.row(sum_row(keys, call.head, block.sentence));
  if (score.stateful()) {
    LocationGradients out;
    out.d_query = d_query;
    out.d_keys = d_keys;
    out.d_key_stride = g.keys->d_keys.stride;
    out.d_v = g.sums->d_v;
    out.d_filters = g.sums->d_filters;
    out.d_u = g.sums->d_u;
    if (g.d_state.data != nullptr) out.d_state = g.d_state.row(call.head_row(row));
    location_backward(location_score(call, block.sentence), call.query_row(row),
                      state_of(call, s, row), d_scores, out, s.location);
    return;
  }
  if (score.kind == ScoreKind::kLocation) {
    if (d_query != nullptr) add_scaled(d_scores, score.scale, count, d_query);
    return;
  }
  float* scaled = s.location;
  for (Index j = 0; j < count; ++j) scaled[j] = score.scale * d_scores[j];
  score.custom.backward(score.custom.self, call.query_row(row), key_rows(call, block.sentence),
                        scaled,
                        {d_query == nullptr ? s.d_query : d_query, d_keys, g.keys->d_keys.stride});
}

}  // namespace

void gather_query(const HeadCall& call, const RowBlock& block, float* to, Index stride) noexcept {
  const Index width = call.keys.width;
  for (Index i = 0; i < block.count; ++i, to += stride) {
    std::copy_n(call.query_row(block.rows[i]), width, to);
    std::fill(to + width, to + stride, 0.0f);
  }
}

ConstMatrix block_query(const HeadCall& call, const RowBlock& block, float* memory) noexcept {
  const Index width = call.keys.width;
  const Index step = block.count > 1 ? block.rows[1] - block.rows[0] : 1;
  bool even = true;
  for (Index i = 2; i < block.count; ++i) even = even && block.rows[i] - block.rows[i - 1] == step;
  if (even) return {call.query_row(block.rows[0]), block.count, width, call.query.stride * step};
  gather_query(call, block, memory, width);
  return {memory, block.count, width};
}

void product_tile(const HeadCall& call, const RowBlock& block, KeyRange tile, ConstMatrix query,
                  float* scores, Index stride) noexcept {
  const PreparedKeys& keys = call.keys;
  const HeadKeys& head = call.head_keys();
  const float* panels =
      head.panels + head.panel_start[block.sentence] + tile.first / 16 * panel_stride(keys.width);
  gemm(query, {panels, keys.width, tile.count}, ChainStart::kZero, {},
       {scores, block.count, tile.count, stride});
  const float factor = product_factor(keys);
  if (factor != 1.0f) scale_scores({scores, stride, block.count, tile.count}, factor);
}

ScoreScratch make_score_scratch(const PreparedKeys& keys, Index rows, bool backward, Arena& arena) {
  const Score& score = keys.attention.score;
  ScoreScratch s;
  const Index padded = score.has_v() ? keys.padded_width : padded_lanes(keys.width);
  s.query = arena.array<float>(rows * padded);
  if (backward) s.d_query = arena.array<float>(rows * padded);
  if (backward && score.factored() && !keys.attention.mask.trivial()) {
    s.live = arena.array<float>(rows * padded_lanes(keys.longest));
  }
  if (score.stateful()) {
    LocationScore location;
    location.count = keys.longest;
    location.width = keys.width;
    location.filters = score.filters;
    location.u = score.u;
    s.location = arena.array<float>(location_scratch(location, keys.longest));
    s.no_state = arena.zero_matrix(1, padded_lanes(keys.longest)).data;
  } else if (score.kind == ScoreKind::kCustom) {
    s.location = arena.array<float>(keys.longest);
  }
  return s;
}

void score_block(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                 ScoreScratch& s, float* scores, Index stride, float* shift) noexcept {
  const Score& score = call.keys.attention.score;
  std::fill_n(shift, block.count, 0.0f);
  if (score.product()) {
    product_scores(call, block, live, s, scores, stride);
  } else if (score.factored()) {
    const AdditiveRows rows = exponentiate_block(call, block, live, s, false);
    for_each_run(live, [&](KeyRange run) {
      const AdditiveKeys keys = additive_keys(call, block.sentence, run);
      additive_scores(keys, rows, scores + run.first, stride);
    });
    const AdditiveKeys keys = additive_keys(call, block.sentence, live.range);
    for (Index i = 0; i < block.count; ++i) {
      if (takes_factors(keys, s.extrema[i])) shift[i] = call.head_keys().sum_v;
    }
  } else {
    for (Index i = 0; i < block.count; ++i) row_scores(call, block, i, s, scores + i * stride);
  }
}

void score_block_backward(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                          ScoreScratch& s, const BlockGradients& gradients) noexcept {
  const Score& score = call.keys.attention.score;
  if (score.product()) {
    product_block_backward(call, block, live, s, gradients);
  } else if (score.factored()) {
    additive_block_backward(call, block, live, s, gradients);
  } else {
    for (Index i = 0; i < block.count; ++i) row_backward(call, block, i, s, gradients);
  }
}

// tanh = 1 - 2 / (1 + e^(2z)): the factored rows kept the reciprocals alone.
void add_v_sums(const HeadCall& call, const ScoreSums& sums, float* d_effective) noexcept {
  const Index width = call.keys.width;
  float* out = d_effective + call.head * width;
  for (Index a = 0; a < width; ++a) {
    if (sums.d_v != nullptr) {
      out[a] += sums.d_v[a];
    } else {
      const float factored = sums.d_score_sum - 2.0f * sums.v.reciprocals[a];
      out[a] += factored + sums.v.direct[a];
    }
  }
}

}  // namespace regard::attention
