#include <algorithm>
#include <cstring>
#include <limits>

#include "regard/attention/checks.h"
#include "regard/attention/driver.h"
#include "regard/attention/row_blocks.h"
#include "regard/attention/softmax.h"
#include "regard/base/float_environment.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {
namespace {

constexpr char kForward[] = "attend_forward";

// Memory for one block of rows.
struct Scratch {
  float* query = nullptr;   // [kRowBlock, padded_width]: exponentials, or gathered rows
  float* scores = nullptr;  // [kRowBlock, score_stride]
  Index score_stride = 0;   // of the longest sentence
  const float* raw[kRowBlock] = {};
  RowExtrema extrema[kRowBlock] = {};
  float shift[kRowBlock] = {};  // what the block's scores lack: sum of v, or 0
  float log_sum_exp[kRowBlock] = {};
};

struct Call {
  const PreparedKeys& keys;
  ConstMatrix values;
  ConstMatrix query;
  const AttentionOutputs& out;
};

void check_outputs(const Call& call, ConstMatrix query) {
  const AttentionOutputs& out = call.out;
  const Index rows = query.rows;
  if (out.context.data != nullptr) {
    check_extent(kForward, "rows of context", rows, out.context.rows);
    check_extent(kForward, "columns of context", call.values.cols, out.context.cols);
  }
  if (out.weights.data != nullptr) {
    check_extent(kForward, "rows of weights", rows, out.weights.rows);
    check_at_least(kForward, "columns of weights", call.keys.longest, out.weights.cols);
  }
  if (out.raw_scores.data != nullptr) {
    check_extent(kForward, "rows of raw_scores", rows, out.raw_scores.rows);
    check_at_least(kForward, "columns of raw_scores", call.keys.longest, out.raw_scores.cols);
  }
  if (out.log_sum_exp) check_extent(kForward, "size of log_sum_exp", rows, out.log_sum_exp.size);
  check_stride(kForward, {"context", out.context});
  check_stride(kForward, {"weights", out.weights});
  check_stride(kForward, {"raw_scores", out.raw_scores});
  check_apart(kForward,
              {{"context", out.context},
               {"weights", out.weights},
               {"raw_scores", out.raw_scores},
               {"log_sum_exp", as_matrix(out.log_sum_exp)}},
              {{"query", query},
               {"values", call.values},
               {"keys", call.keys.keys},
               {"v", as_matrix(call.keys.score.v)},
               {"w", call.keys.score.w}});
}

// Scores of the block, short of shift.
void score_block(const Call& call, const RowBlock& block, Scratch& s) noexcept {
  const PreparedKeys& keys = call.keys;
  const Index length = keys.rows.length[block.sentence];
  if (keys.score.kind == ScoreKind::kAdditive) {
    const AdditiveKeys additive = additive_keys(keys, block.sentence);
    for (Index i = 0; i < block.count; ++i) {
      s.raw[i] = call.query.row(block.rows[i]);
      s.extrema[i] = exponentiate_row(s.raw[i], keys.width, keys.padded_width,
                                      s.query + i * keys.padded_width, 16);
      s.shift[i] = takes_factors(additive, s.extrema[i]) ? keys.sum_v : 0.0f;
    }
    additive_scores(additive, {s.raw, s.query, s.extrema, block.count}, s.scores, s.score_stride);
    return;
  }
  for (Index i = 0; i < block.count; ++i) {
    std::memcpy(s.query + i * keys.width, call.query.row(block.rows[i]),
                sizeof(float) * static_cast<std::size_t>(keys.width));
    s.shift[i] = 0.0f;
  }
  gemm({s.query, block.count, keys.width},
       {keys.panels + keys.panel_start[block.sentence], keys.width, length}, ChainStart::kZero, {},
       {s.scores, block.count, length, s.score_stride});
  const float factor = dot_factor(keys);
  if (factor != 1.0f) scale_scores({s.scores, s.score_stride, block.count, length}, factor);
}

// One row of a [R, longest] output: `count` values, then zeros.
void write_row(const float* from, Index count, float shift, Matrix to, Index row) noexcept {
  float* out = to.row(row);
  if (shift == 0.0f) {
    std::copy(from, from + count, out);
  } else {
    std::transform(from, from + count, out, [shift](float x) { return x + shift; });
  }
  std::fill(out + count, out + to.cols, 0.0f);
}

void no_keys(const AttentionOutputs& out, Index row) noexcept {
  if (out.context.data) std::fill_n(out.context.row(row), out.context.cols, 0.0f);
  if (out.weights.data) std::fill_n(out.weights.row(row), out.weights.cols, 0.0f);
  if (out.raw_scores.data) std::fill_n(out.raw_scores.row(row), out.raw_scores.cols, 0.0f);
  if (out.log_sum_exp) out.log_sum_exp[row] = -std::numeric_limits<float>::infinity();
}

// score, (scale,) normalise, combine, write.
void forward_block(const Call& call, const RowBlock& block, Scratch& s) noexcept {
  const AttentionOutputs& out = call.out;
  const Index length = call.keys.rows.length[block.sentence];
  if (length == 0) {
    for (Index i = 0; i < block.count; ++i) no_keys(out, block.rows[i]);
    return;
  }
  score_block(call, block, s);
  if (out.raw_scores.data != nullptr) {
    for (Index i = 0; i < block.count; ++i) {
      write_row(s.scores + i * s.score_stride, length, s.shift[i], out.raw_scores, block.rows[i]);
    }
  }
  softmax_forward({s.scores, s.score_stride, block.count, length},
                  out.log_sum_exp ? s.log_sum_exp : nullptr);
  for (Index i = 0; i < block.count; ++i) {
    const Index row = block.rows[i];
    if (out.log_sum_exp) out.log_sum_exp[row] = s.log_sum_exp[i] + s.shift[i];
    if (out.weights.data) {
      write_row(s.scores + i * s.score_stride, length, 0.0f, out.weights, row);
    }
  }
  if (out.context.data == nullptr) return;
  weighted_sums({s.scores, s.score_stride, 1},
                live_rows(call.values, call.keys.rows, block.sentence), false,
                {out.context.data, out.context.stride, block.count, block.rows});
}

}  // namespace

void check_call(const char* function, const PreparedKeys& keys, ConstMatrix values,
                const QueryRows& queries) {
  const bool general = keys.score.kind == ScoreKind::kGeneral;
  check_extent(function, "columns of query", general ? keys.score.w.rows : keys.width,
               queries.query.cols);
  check_extent(function, "rows of values", keys.keys.rows, values.rows);
  check_stride(function, {"query", queries.query});
  check_stride(function, {"values", values});
}

ConstMatrix scored_query(const PreparedKeys& keys, ConstMatrix query, Arena& workspace) {
  if (keys.score.kind != ScoreKind::kGeneral) return query;
  const Matrix projected = workspace.matrix(query.rows, keys.width);
  general_project_forward(query, keys.score.w, projected, workspace);
  return projected;
}

void attend_forward(const PreparedKeys& keys, ConstMatrix values, const QueryRows& queries,
                    const AttentionOutputs& outputs, Arena& workspace) {
  const FloatEnvironment environment;
  const ArenaScope scope(workspace);
  check_call(kForward, keys, values, queries);
  check_outputs({keys, values, queries.query, outputs}, queries.query);
  const RowBlocks blocks =
      make_row_blocks(kForward, queries.key_row, queries.query.rows, keys.rows.count, workspace);
  const Call call{keys, values, scored_query(keys, queries.query, workspace), outputs};
  Scratch scratch;
  const Index rows = std::min(kRowBlock, queries.query.rows);
  scratch.query = workspace.array<float>(rows * keys.padded_width);
  scratch.score_stride = padded_lanes(keys.longest);
  scratch.scores = workspace.array<float>(rows * scratch.score_stride);
  for (const RowBlock& block : blocks) forward_block(call, block, scratch);
}

}  // namespace regard::attention
