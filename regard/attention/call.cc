#include "regard/attention/call.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "regard/attention/axes.h"
#include "regard/attention/checks.h"
#include "regard/base/error.h"
#include "regard/base/random.h"
#include "regard/kernels/activations.h"
#include "regard/kernels/dropout.h"

namespace regard::attention {
namespace {

// What the query's rows are wide, all heads; -1: the caller's own affair.
Index query_columns(const PreparedKeys& keys) {
  const Score& score = keys.attention.score;
  switch (score.kind) {
    case ScoreKind::kGeneral:
      return score.w.rows;
    case ScoreKind::kConcat:
      return score.w.cols - keys.keys.cols;
    case ScoreKind::kLocation:
    case ScoreKind::kCustom:
      return -1;
    default:
      return keys.attention.heads * keys.width;
  }
}

void check_places_of_location(const char* function, const PreparedKeys& keys, Index columns) {
  if (keys.attention.score.kind != ScoreKind::kLocation) return;
  const Index most = columns / keys.attention.heads;
  if (keys.longest <= most) return;
  throw ShapeError(std::string(function) +
                   ": query: the location score was made for Smax = " + std::to_string(most) +
                   " keys a sentence, got one of " + std::to_string(keys.longest));
}

// An [R N, >= longest] matrix that is read.
void check_head_rows(const char* function, const PreparedKeys& keys, const QueryRows& queries,
                     const NamedMatrix& m) {
  if (m.view.data == nullptr) return;
  const std::string name = m.name;
  check_extent(function, ("rows of " + name).c_str(), queries.query.rows * keys.attention.heads,
               m.view.rows);
  check_at_least(function, ("columns of " + name).c_str(), keys.longest, m.view.cols);
  check_stride(function, m);
}

// One row of a [R N, longest] output: live values with the shift, else 0.
void write_raw(const BlockScratch& s, Index i, float shift, float* out, Index columns) noexcept {
  const float* from = s.scores + i * s.stride;
  const Index count = s.live.live.keys;
  for (Index j = 0; j < count; ++j) out[j] = s.live.live.live(i, j) ? from[j] + shift : 0.0f;
  std::fill(out + count, out + columns, 0.0f);
}

void add_shift(BlockScratch& s, Index rows, Index count) noexcept {
  for (Index i = 0; i < rows; ++i) {
    if (s.shift[i] == 0.0f) continue;
    float* row = s.scores + i * s.stride;
    for (Index j = 0; j < count; ++j) row[j] += s.shift[i];
    s.shift[i] = 0.0f;
  }
}

}  // namespace

void check_call(const char* function, const PreparedKeys& keys, ConstMatrix values,
                const QueryRows& queries) {
  const Index heads = keys.attention.heads;
  const Index columns = query_columns(keys);
  if (columns >= 0) {
    check_extent(function, "columns of query", columns, queries.query.cols);
  } else if (queries.query.cols % heads != 0) {
    throw ShapeError(std::string(function) + ": columns of query: wanted a multiple of " +
                     std::to_string(heads) + " heads, got " + std::to_string(queries.query.cols));
  }
  check_places_of_location(function, keys, queries.query.cols);
  check_extent(function, "rows of values", keys.keys.rows, values.rows);
  if (values.cols % heads != 0) {
    throw ShapeError(std::string(function) + ": columns of values: wanted a multiple of " +
                     std::to_string(heads) + " heads, got " + std::to_string(values.cols));
  }
  check_stride(function, {"query", queries.query});
  check_stride(function, {"values", values});
  check_head_rows(function, keys, queries, {"state", queries.state});
  check_head_rows(function, keys, queries, {"chunk_scores", queries.chunk_scores});
  if (queries.center) {
    check_extent(function, "size of center", queries.query.rows * heads, queries.center.size);
  }
}

BlockScratch make_block_scratch(const PreparedKeys& keys, Index rows, bool backward, Arena& arena) {
  const Attention& a = keys.attention;
  BlockScratch s;
  s.score = make_score_scratch(keys, rows, backward, arena);
  s.stride = padded_lanes(keys.longest);
  s.scores = arena.array<float>(rows * s.stride);
  s.weights = backward ? arena.array<float>(rows * s.stride) : s.scores;
  s.dropped = a.dropout > 0.0f ? arena.array<float>(rows * s.stride) : s.weights;
  if (backward && a.score.soft_cap > 0.0f) s.capped = arena.array<float>(rows * s.stride);
  s.normalizer = arena.array<float>(normalizer_scratch(a.normalizer, rows, keys.longest));
  if (!a.mask.trivial()) s.live.memory = arena.array<KeyBits>(rows * key_words(keys.longest));
  return s;
}

DropPlace drop_place(const HeadCall& call, const RowBlock& block, Index i) noexcept {
  const RowPlace place = place_of(call.keys, call.queries, block, i, call.head);
  return {mix(call.queries.dropout_key[place.row], static_cast<std::uint64_t>(call.head)),
          static_cast<std::uint32_t>(place.position)};
}

void cap_scores(float cap, const ScoreBlock& s) noexcept {
  for (Index i = 0; i < s.rows; ++i) {
    const ScoreBlock row{s.data + i * s.stride, 0, 1, s.count};
    const Matrix padded(row.data, 1, padded_lanes(s.count));
    scale_scores(row, 1.0f / cap);
    tanh_forward(padded, padded);
    scale_scores(row, cap);
  }
}

void uncap_gradients(float cap, const float* capped, const ScoreBlock& d_scores) noexcept {
  for (Index i = 0; i < d_scores.rows; ++i) {
    float* d = d_scores.data + i * d_scores.stride;
    const float* e = capped + i * d_scores.stride;
    for (Index j = 0; j < d_scores.count; ++j) {
      if (d[j] == 0.0f) continue;
      const float t = e[j] / cap;
      d[j] *= 1.0f - t * t;
    }
  }
}

NormalizerRows normalizer_rows(const HeadCall& call, const RowBlock& block,
                               BlockScratch& s) noexcept {
  NormalizerRows rows;
  rows.live = s.live.live;
  rows.stride = s.stride;
  const QueryRows& q = call.queries;
  for (Index i = 0; i < block.count; ++i) {
    const Index row = call.head_row(block.rows[i]);
    if (q.state.data != nullptr) s.state[i] = q.state.row(row);
    if (q.chunk_scores.data != nullptr) s.chunk_scores[i] = q.chunk_scores.row(row);
    if (q.center) s.center[i] = q.center[row];
  }
  if (q.state.data != nullptr) rows.state = s.state;
  if (q.chunk_scores.data != nullptr) rows.chunk_scores = s.chunk_scores;
  if (q.center) rows.center = s.center;
  return rows;
}

void block_scores(const HeadCall& call, const RowBlock& block, BlockScratch& s,
                  Matrix raw_scores) noexcept {
  const Attention& a = call.keys.attention;
  const Index count = s.live.live.keys;
  score_block(call, block, s.live, s.score, s.scores, s.stride, s.shift);
  const bool capped = a.score.soft_cap > 0.0f;
  // The sum of v is the same for all keys: it cancels where a shift does.
  if (capped || !a.normalizer.shift_invariant()) add_shift(s, block.count, count);
  if (capped) {
    cap_scores(a.score.soft_cap, {s.scores, s.stride, block.count, count});
    if (s.capped != nullptr) std::copy_n(s.scores, block.count * s.stride, s.capped);
  }
  for (Index i = 0; raw_scores.data != nullptr && i < block.count; ++i) {
    write_raw(s, i, s.shift[i], raw_scores.row(call.head_row(block.rows[i])), raw_scores.cols);
  }
  if (a.bias.kind == BiasKind::kNone) return;
  for (Index i = 0; i < block.count; ++i) {
    add_bias(a.bias, place_of(call.keys, call.queries, block, i, call.head),
             s.scores + i * s.stride);
  }
}

void drop_weights(const HeadCall& call, const RowBlock& block, BlockScratch& s) noexcept {
  const float rate = call.keys.attention.dropout;
  if (rate == 0.0f) return;
  const Index count = s.live.live.keys;
  for (Index i = 0; i < block.count; ++i) {
    const DropPlace place = drop_place(call, block, i);
    const ConstMatrix from(s.weights + i * s.stride, 1, count);
    dropout_forward(from, {&place.key, &place.position}, rate,
                    Matrix(s.dropped + i * s.stride, 1, count));
  }
}

void drop_gradients(const HeadCall& call, const RowBlock& block, float* d, Index stride) noexcept {
  const float rate = call.keys.attention.dropout;
  if (rate == 0.0f) return;
  const Index count = call.keys.rows.length[block.sentence];
  for (Index i = 0; i < block.count; ++i) {
    const DropPlace place = drop_place(call, block, i);
    const Matrix row(d + i * stride, 1, count);
    dropout_forward(row, {&place.key, &place.position}, rate, row);
  }
}

}  // namespace regard::attention
