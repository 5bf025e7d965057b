#include "regard/model/self_attention_encoder.h"

#include <cmath>
#include <string>

#include "regard/nn/positions.h"

namespace regard {
namespace {

SequenceRows rows_of(Tape& tape, const PackedIds& source, const DropoutPlan& dropout) {
  return sequence_rows(tape, source.length.data(), source.lanes(), source.sequence.data(), dropout);
}

}  // namespace

SelfAttentionEncoder SelfAttentionEncoder::make(const ModelConfig& config, ParameterId embedding,
                                                Parameters& parameters) {
  SelfAttentionEncoder e;
  const Index width = config.memory();
  e.embedding_ = embedding;
  e.positions_ = config.positions;
  if (config.tie_all) e.factor_ = std::sqrt(static_cast<float>(config.source_embedding));
  e.projected_ = config.source_embedding != width;
  if (e.projected_) {
    e.input_ = Linear::make(parameters, "encoder.input", config.source_embedding, width);
  }
  SelfAttentionShape shape;
  shape.width = width;
  shape.feed_forward = config.feed_forward;
  shape.attention = multi_head_shape(width, config.encoder_heads);
  if (config.positions == PositionKind::kRelative) shape.attention.relative = kHalfWidth;
  for (int l = 0; l < config.encoder_layers; ++l) {
    e.layers_.push_back(
        SelfAttentionLayer::make(parameters, "encoder.layer" + std::to_string(l + 1), shape));
  }
  e.norm_ = LayerNorm::make(parameters, "encoder.norm", width);
  return e;
}

// Sentence after sentence, which is how attention reads rows.
Var SelfAttentionEncoder::embed(Tape& tape, const PackedIds& source,
                                const SequenceRows& rows) const {
  std::int32_t* ids = tape.arena().array<std::int32_t>(rows.count());
  for (Index r = 0; r < rows.count(); ++r) {
    const Index step = source.offsets[static_cast<size_t>(rows.position[r])];
    ids[r] = source.ids[static_cast<size_t>(step + rows.origin.row_lane[r])];
  }
  Var x = embedding(tape, embedding_, ids, rows.count());
  if (factor_ != 1.0f) x = scaled(tape, x, factor_);
  if (projected_) x = input_(tape, x);
  if (positions_ == PositionKind::kSinusoidal) {
    const Index longest = static_cast<Index>(source.offsets.size()) - 1;
    const Buffer<float> table = sinusoidal_positions(longest, x.cols());
    x = add_table_rows(tape, x, {table.data(), longest, x.cols()}, rows.origin.row_position);
  }
  const float rate = rows.dropout.rates.embedding;
  if (rate == 0.0f) return x;
  return dropout(tape, x, dropout_rows(tape, rows.dropout, rows.origin, "source.embedding"), rate);
}

Memory SelfAttentionEncoder::run(Tape& tape, const PackedIds& source, const DropoutPlan& dropout,
                                 bool with_summary) const {
  const SequenceRows rows = rows_of(tape, source, dropout);
  Var x = embed(tape, source, rows);
  for (const SelfAttentionLayer& layer : layers_) x = layer(tape, x, rows);
  x = norm_(tape, x);
  const float rate = dropout.rates.memory;
  if (rate > 0.0f) {
    x = regard::dropout(tape, x, dropout_rows(tape, dropout, rows.origin, "memory"), rate);
  }
  Memory memory;
  memory.rows = x;
  memory.start = rows.sequences.start;
  memory.length = rows.sequences.length;
  memory.count = rows.sequences.count;
  if (with_summary) {
    memory.summary = mean_rows(tape, x, memory.start, memory.length, memory.count);
  }
  return memory;
}

Matrix SelfAttentionEncoder::weights(Tape& tape, const PackedIds& source, int layer) const {
  const SequenceRows rows = rows_of(tape, source, {});
  Var x = embed(tape, source, rows);
  const Index longest = static_cast<Index>(source.offsets.size()) - 1;
  const Matrix weights = tape.arena().matrix(rows.count() * heads(), longest);
  for (int l = 0; l <= layer; ++l) {
    x = layers_[static_cast<size_t>(l)](tape, x, rows, l == layer ? weights : Matrix{});
  }
  return weights;
}

}  // namespace regard
