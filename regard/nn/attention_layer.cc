#include "regard/nn/attention_layer.h"

#include <algorithm>

#include "regard/base/error.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

ParameterId product(Parameters& p, const std::string& name, Index in, Index out) {
  return Linear::make(p, name, in, out, false).weight;
}

// A matrix that the attention itself reads.
ParameterId matrix(Parameters& p, const std::string& name, Index rows, Index cols,
                   Init init = Init::kGlorot) {
  return p.add({name, rows, cols, Use::kProduct, init});
}

// mean[r] = the mean of rows r N to r N + N - 1.
void mean_of_heads(ConstMatrix heads, Index n, Matrix mean) {
  if (mean.data == nullptr || mean.data == heads.data) return;
  for (Index r = 0; r < mean.rows; ++r) {
    for (Index j = 0; j < heads.cols; ++j) {
      float sum = heads(r * n, j);
      for (Index h = 1; h < n; ++h) sum += heads(r * n + h, j);
      mean(r, j) = sum / static_cast<float>(n);
    }
  }
}

}  // namespace

void AttentionLayer::add_score(Parameters& p, const std::string& name,
                               const AttentionShape& shape) {
  attention::Score& score = spec_.score;
  score.kind = shape.score;
  score.scale = shape.scale;
  if (shape.score == ScoreKind::kGeneral) {
    // A projection of the query and then a plain dot product.
    query_ = product(p, name + ".general", shape.query, shape.memory);
    score.kind = ScoreKind::kDot;
  } else if (shape.score == ScoreKind::kLocation) {
    query_ = product(p, name + ".location", shape.query, shape.heads * shape.longest);
    longest_ = shape.longest;
  } else if (shape.projections || score.has_v()) {
    query_ = product(p, name + ".query", shape.query, shape.width);
    key_ = product(p, name + ".key", shape.memory, shape.width);
  }
  if (shape.score == ScoreKind::kConcat) score.kind = ScoreKind::kAdditive;
  if (!score.has_v()) return;
  parameters_.v = p.add({name + ".v", 1, shape.width, Use::kVector, Init::kGlorot});
  if (shape.weight_norm) {
    parameters_.b = p.add({name + ".b", 1, shape.width, Use::kVector, Init::kZero});
    parameters_.g = p.add({name + ".g", 1, 1, Use::kVector, Init::kOne});
  }
  if (score.kind == ScoreKind::kLocationSensitive) {
    parameters_.filters = matrix(p, name + ".filters", shape.channels, shape.taps);
  }
  if (score.stateful()) {
    const bool coverage = score.kind == ScoreKind::kCoverage;
    parameters_.u = matrix(p, name + ".u", shape.width, coverage ? 1 : shape.channels);
  }
}

void AttentionLayer::add_normalizer(Parameters& p, const std::string& name,
                                    const AttentionShape& shape) {
  spec_.normalizer = shape.normalizer;
  const NormalizerKind kind = shape.normalizer.kind;
  if (kind == NormalizerKind::kEntmax) {
    parameters_.alpha = p.add({name + ".alpha", 1, 1, Use::kVector, Init::kZero});
  } else if (kind == NormalizerKind::kLocal) {
    center_inner_ = product(p, name + ".center.inner", shape.query, shape.width);
    center_v_ = product(p, name + ".center.v", shape.width, shape.heads);
  }
  // An offset is a bias by distance that knows one distance.
  if (shape.relative >= 0) {
    parameters_.table =
        matrix(p, name + ".relative", shape.heads, 2 * shape.relative + 1, Init::kZero);
  } else if (!spec_.normalizer.shift_invariant()) {
    parameters_.table = matrix(p, name + ".offset", shape.heads, 1, Init::kZero);
  }
  if (parameters_.table) spec_.bias.kind = attention::BiasKind::kRelative;
}

AttentionLayer AttentionLayer::make(Parameters& p, const std::string& name,
                                    const AttentionShape& shape) {
  AttentionLayer a;
  a.spec_.heads = shape.heads;
  a.spec_.mask = shape.mask;
  a.window_ = shape.window;
  if (shape.window > 0) {
    a.spec_.mask = shape.mask & attention::Mask::window(shape.window, shape.window);
  }
  a.add_score(p, name, shape);
  a.add_normalizer(p, name, shape);
  if (shape.projections) {
    a.value_ = product(p, name + ".value", shape.memory, shape.memory);
    a.output_ = product(p, name + ".output", shape.memory, shape.memory);
  }
  return a;
}

AttentionMemory AttentionLayer::prepare(Tape& tape, Var memory_rows, const RaggedRows& sentences,
                                        float dropout) const {
  Var keys = key_ ? linear(tape, memory_rows, key_) : memory_rows;
  if (spec_.score.kind == ScoreKind::kLocation) {
    keys = memory_rows.cols_at(0, 0);
    for (Index b = 0; b < sentences.count; ++b) {
      if (sentences.length[b] <= longest_) continue;
      throw ShapeError(
          "location attention scores each place of a source by itself and has learnt " +
          std::to_string(longest_) + " places, end marker included; a source has " +
          std::to_string(sentences.length[b]) + ": cut it with --max-source-length " +
          std::to_string(longest_ - 1) + ", or train on sources as long as that");
    }
  }
  const Var values = value_ ? linear(tape, memory_rows, value_) : memory_rows;
  attention::Attention spec = spec_;
  spec.dropout = dropout;
  return begin_attention(tape, spec, parameters_, keys, values, sentences);
}

// The rows' own places for a window: a target longer than its source stays at the source's end.
const Index* AttentionLayer::places(Tape& tape, const AttentionMemory& memory,
                                    const Rows& rows) const {
  if (window_ == 0) return rows.position;
  const Index n = rows.query.rows();
  Index* places = tape.arena().array<Index>(n);
  for (Index r = 0; r < n; ++r) {
    const Index keys = memory.keys->rows.length[rows.key_row == nullptr ? 0 : rows.key_row[r]];
    places[r] = std::min(rows.position == nullptr ? r : rows.position[r], keys - 1);
  }
  return places;
}

// Rows for every head, where there are several or what is asked for is not what is needed.
AttentionRows AttentionLayer::asked_for(Tape& tape, const AttentionMemory& memory, Index n,
                                        const Output& output) const {
  const Index rows = n * spec_.heads, longest = memory.longest();
  const bool one = spec_.heads == 1;
  const bool loss = output.coverage_weight > 0.0f;
  AttentionRows a;
  a.next_state = output.next_state;
  a.weights = output.head_weights;
  if (a.weights.data == nullptr && (output.weights.data != nullptr || loss)) {
    a.weights =
        one && output.weights.data != nullptr ? output.weights : tape.arena().matrix(rows, longest);
  }
  if (output.raw_scores.data != nullptr) {
    a.raw_scores = one ? output.raw_scores : tape.arena().matrix(rows, longest);
  }
  if (loss && tape.recording()) a.d_weights = tape.arena().zero_matrix(rows, longest);
  return a;
}

void AttentionLayer::attend(Tape& tape, const AttentionMemory& memory, const Rows& rows,
                            const Output& output) const {
  const Index n = rows.query.rows();
  AttentionQuery q;
  q.query = query_ ? linear(tape, rows.query, query_) : rows.query;
  q.key_row = rows.key_row;
  q.position = places(tape, memory, rows);
  q.query_length = rows.query_length;
  q.dropout_key = rows.dropout_key;
  q.state = rows.state;
  if (center_v_) {
    const Var inner = tanh_onto(tape, linear(tape, rows.query, center_inner_));
    q.center = local_center(tape, memory, linear(tape, inner, center_v_), rows.key_row);
  }
  const AttentionRows asked = asked_for(tape, memory, n, output);
  const Var context = output_ ? tape.make(n, memory.values.cols()) : output.context;
  regard::attend(tape, memory, q, context, asked);
  if (output.coverage_weight > 0.0f) {
    regard::coverage_loss(tape, memory, asked, rows.state, output.coverage_weight,
                          output.coverage_loss);
  }
  if (output_) linear_into(tape, output.context, context, output_, {});
  mean_of_heads(asked.weights, spec_.heads, output.weights);
  mean_of_heads(asked.raw_scores, spec_.heads, output.raw_scores);
}

}  // namespace regard
