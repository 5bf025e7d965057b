#include <algorithm>
#include <cstring>

#include "regard/attention/checks.h"
#include "regard/attention/driver.h"
#include "regard/attention/row_blocks.h"
#include "regard/attention/softmax.h"
#include "regard/base/float_environment.h"

namespace regard::attention {
namespace {

constexpr char kBackward[] = "attend_backward";

// Memory for one block of rows, and the sums of the call.
struct Scratch {
  float* weights = nullptr;   // [kRowBlock, score_stride], zero beyond the length
  float* d_scores = nullptr;  // [kRowBlock, score_stride]
  Index score_stride = 0;
  float* d_context = nullptr;  // [kRowBlock, padded Dv]
  Index value_stride = 0;
  float* query = nullptr;    // [kRowBlock, padded_width]: exponentials by chunk, or rows
  float* d_query = nullptr;  // the same layout
  AdditiveVSums v_sums;
  float d_score_sum = 0.0f;  // over the factored rows
  const float* raw[kRowBlock] = {};
  const float* d_weights[kRowBlock] = {};
  RowExtrema extrema[kRowBlock] = {};
  float row_sums[kRowBlock] = {};
};

struct Call {
  const PreparedKeys& keys;
  ConstMatrix values;
  const BackwardInputs& in;
  ConstMatrix query;  // as scored
  Matrix d_query;     // as scored
  KeyGradients& sums;
};

void check_backward(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& in,
                    const KeyGradients& sums, const ScoreGradients& out) {
  check_call(kBackward, keys, values, in.queries);
  const Index rows = in.queries.query.rows;
  check_extent(kBackward, "rows of weights", rows, in.weights.rows);
  check_at_least(kBackward, "columns of weights", keys.longest, in.weights.cols);
  check_extent(kBackward, "rows of d_context", rows, in.d_context.rows);
  check_extent(kBackward, "columns of d_context", values.cols, in.d_context.cols);
  if (in.d_weights.data != nullptr) {
    check_extent(kBackward, "rows of d_weights", rows, in.d_weights.rows);
    check_at_least(kBackward, "columns of d_weights", keys.longest, in.d_weights.cols);
  }
  check_extent(kBackward, "rows of the key sums", keys.live_rows, sums.d_keys.rows);
  check_extent(kBackward, "width of the key sums", keys.padded_width, sums.d_keys.cols);
  if (sums.value_width != 0) {
    check_extent(kBackward, "width of the value sums", values.cols, sums.value_width);
  }
  if (out.d_query.data != nullptr) {
    check_extent(kBackward, "rows of d_query", rows, out.d_query.rows);
    check_extent(kBackward, "columns of d_query", in.queries.query.cols, out.d_query.cols);
  }
  if (out.d_v) check_extent(kBackward, "size of d_v", keys.score.v.size, out.d_v.size);
  if (out.d_w.data != nullptr) {
    check_extent(kBackward, "rows of d_w", keys.score.w.rows, out.d_w.rows);
    check_extent(kBackward, "columns of d_w", keys.score.w.cols, out.d_w.cols);
  }
  check_stride(kBackward, {"weights", in.weights});
  check_stride(kBackward, {"d_context", in.d_context});
  check_stride(kBackward, {"d_weights", in.d_weights});
  check_stride(kBackward, {"d_query", out.d_query});
  check_apart(kBackward, {{"d_query", out.d_query}, {"d_v", as_matrix(out.d_v)}, {"d_w", out.d_w}},
              {{"query", in.queries.query},
               {"values", values},
               {"keys", keys.keys},
               {"v", as_matrix(keys.score.v)},
               {"w", keys.score.w},
               {"weights", in.weights},
               {"d_context", in.d_context},
               {"d_weights", in.d_weights}});
}

void gather(ConstMatrix from, const RowBlock& block, Index width, float* to,
            Index stride) noexcept {
  for (Index i = 0; i < block.count; ++i, to += stride) {
    const float* row = from.row(block.rows[i]);
    std::copy(row, row + width, to);
    std::fill(to + width, to + stride, 0.0f);
  }
}

// d_scores of the block from the gradients of context and weights.
void score_gradients(const Call& call, const RowBlock& block, Scratch& s) noexcept {
  const Index length = call.keys.rows.length[block.sentence];
  gather(call.in.weights, block, length, s.weights, s.score_stride);
  gather(call.in.d_context, block, call.values.cols, s.d_context, s.value_stride);
  row_dots(s.d_context, s.value_stride, block.count,
           live_rows(call.values, call.keys.rows, block.sentence), s.d_scores, s.score_stride);
  const bool extra = call.in.d_weights.data != nullptr;
  for (Index i = 0; extra && i < block.count; ++i) {
    s.d_weights[i] = call.in.d_weights.row(block.rows[i]);
  }
  softmax_backward({s.d_scores, s.score_stride, block.count, length}, s.weights,
                   extra ? s.d_weights : nullptr, s.row_sums);
}

void additive_block(const Call& call, const RowBlock& block, Scratch& s) noexcept {
  const PreparedKeys& keys = call.keys;
  const AdditiveKeys additive = additive_keys(keys, block.sentence);
  const Index chunk_stride = 16 * block.count;
  for (Index i = 0; i < block.count; ++i) {
    s.raw[i] = call.query.row(block.rows[i]);
    s.extrema[i] =
        exponentiate_row(s.raw[i], keys.width, keys.padded_width, s.query + 16 * i, chunk_stride);
    if (takes_factors(additive, s.extrema[i])) s.d_score_sum += s.row_sums[i];
  }
  additive_backward(additive, {s.raw, s.query, s.extrema, block.count},
                    {s.d_scores, s.score_stride, s.d_query,
                     call.sums.d_keys.row(keys.first[block.sentence]), s.v_sums});
  for (Index i = 0; call.d_query.data != nullptr && i < block.count; ++i) {
    add_v_scaled(keys.v, s.d_query + 16 * i, chunk_stride, keys.width,
                 call.d_query.row(block.rows[i]));
  }
}

void dot_block(const Call& call, const RowBlock& block, Scratch& s) noexcept {
  const PreparedKeys& keys = call.keys;
  const Index stride = keys.padded_width;
  gather(call.query, block, keys.width, s.query, stride);
  weighted_sums(
      {s.d_scores, 1, s.score_stride}, {s.query, stride, block.count, stride}, true,
      {call.sums.d_keys.row(keys.first[block.sentence]), stride, keys.rows.length[block.sentence]});
  if (call.d_query.data == nullptr) return;
  weighted_sums({s.d_scores, s.score_stride, 1}, live_rows(keys.keys, keys.rows, block.sentence),
                false, {s.d_query, stride, block.count});
  for (Index i = 0; i < block.count; ++i) {
    add_scaled(s.d_query + i * stride, dot_factor(keys), keys.width,
               call.d_query.row(block.rows[i]));
  }
}

void backward_block(const Call& call, const RowBlock& block, Scratch& s) noexcept {
  const PreparedKeys& keys = call.keys;
  const Index length = keys.rows.length[block.sentence];
  if (length == 0) return;
  score_gradients(call, block, s);
  if (call.sums.value_width != 0) {
    weighted_sums({s.weights, 1, s.score_stride},
                  {s.d_context, s.value_stride, block.count, s.value_stride}, true,
                  {call.sums.d_values.row(keys.first[block.sentence]), s.value_stride, length});
  }
  if (keys.score.kind == ScoreKind::kAdditive) {
    additive_block(call, block, s);
  } else {
    dot_block(call, block, s);
  }
}

// tanh = 1 - 2 / (1 + e^(2z)): the factored rows kept the reciprocals alone.
void finish_v(const PreparedKeys& keys, const Scratch& s, Vector d_v) noexcept {
  for (Index a = 0; a < d_v.size; ++a) {
    const float factored = s.d_score_sum - 2.0f * s.v_sums.reciprocals[a];
    d_v[a] += keys.score.scale * (factored + s.v_sums.direct[a]);
  }
}

Scratch make_scratch(const PreparedKeys& keys, ConstMatrix values, Index call_rows, Arena& arena) {
  Scratch s;
  const Index rows = std::min(kRowBlock, call_rows);
  s.score_stride = padded_lanes(keys.longest);
  s.weights = arena.array<float>(rows * s.score_stride);
  s.d_scores = arena.array<float>(rows * s.score_stride);
  s.value_stride = padded_lanes(values.cols);
  s.d_context = arena.array<float>(rows * s.value_stride);
  s.query = arena.array<float>(rows * keys.padded_width);
  s.d_query = arena.array<float>(rows * keys.padded_width);
  s.v_sums.reciprocals = arena.zero_matrix(1, keys.padded_width).data;
  s.v_sums.direct = arena.zero_matrix(1, keys.padded_width).data;
  return s;
}

}  // namespace

void attend_backward(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& inputs,
                     KeyGradients& sums, const ScoreGradients& gradients, Arena& workspace) {
  const FloatEnvironment environment;
  const ArenaScope scope(workspace);
  check_backward(keys, values, inputs, sums, gradients);
  const ConstMatrix given = inputs.queries.query;
  const RowBlocks blocks =
      make_row_blocks(kBackward, inputs.queries.key_row, given.rows, keys.rows.count, workspace);
  const bool general = keys.score.kind == ScoreKind::kGeneral;
  const ConstMatrix query = scored_query(keys, given, workspace);
  const Matrix d_query =
      general ? workspace.zero_matrix(given.rows, keys.width) : gradients.d_query;
  Scratch scratch = make_scratch(keys, values, given.rows, workspace);
  const Call call{keys, values, inputs, query, d_query, sums};
  for (const RowBlock& block : blocks) backward_block(call, block, scratch);
  if (gradients.d_v) finish_v(keys, scratch, gradients.d_v);
  if (!general) return;
  general_project_backward(given, keys.score.w, d_query, {gradients.d_query, gradients.d_w},
                           workspace);
}

}  // namespace regard::attention
