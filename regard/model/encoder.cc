#include "regard/model/encoder.h"

#include <string>

namespace regard {

RecurrentKind recurrent_kind(CellKind kind) {
  return kind == CellKind::kGru ? RecurrentKind::kGru : RecurrentKind::kLstm;
}

Encoder Encoder::make(const ModelConfig& config, ParameterId embedding, Parameters& parameters) {
  Encoder e;
  if (config.self_attention()) {
    e.self_ = SelfAttentionEncoder::make(config, embedding, parameters);
    return e;
  }
  e.embedding_ = embedding;
  e.bidirectional_ = config.bidirectional;
  e.hidden_ = config.encoder_hidden;
  const RecurrentKind kind = recurrent_kind(config.encoder_cell);
  for (int l = 0; l < config.encoder_layers; ++l) {
    const std::string name = "encoder.layer" + std::to_string(l + 1);
    const Index width = l == 0 ? config.source_embedding : config.memory();
    const char* block = l == 0 ? "embedding" : "below";
    Layer layer;
    layer.forward =
        Recurrent::make(parameters, name + ".forward", kind, e.hidden_, {{block, width}});
    if (e.bidirectional_) {
      layer.backward =
          Recurrent::make(parameters, name + ".backward", kind, e.hidden_, {{block, width}});
    }
    e.layers_.push_back(layer);
  }
  return e;
}

Memory Encoder::run(Tape& tape, const PackedIds& source, const DropoutPlan& dropout,
                    bool with_summary) const {
  if (self_) return self_->run(tape, source, dropout, with_summary);
  const RowOrigin origin{source.row_lane.data(), source.sequence.data(), source.row_position.data(),
                         source.rows()};
  const auto drop = [&](Var x, float rate, const std::string& site) {
    return rate > 0.0f ? regard::dropout(tape, x, dropout_rows(tape, dropout, origin, site), rate)
                       : x;
  };
  const Index width = bidirectional_ ? 2 * hidden_ : hidden_;
  Var x = embedding(tape, embedding_, source.ids.data(), source.rows());
  x = drop(x, dropout.rates.embedding, "source.embedding");
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (l > 0) x = drop(x, dropout.rates.layer, "encoder.layer" + std::to_string(l + 1));
    Var h = tape.make(source.rows(), width);
    const Layer& layer = layers_[l];
    layer.forward.sequence(tape, {source.packing(), false}, layer.forward.input(tape, x),
                           h.cols_at(0, hidden_));
    if (bidirectional_) {
      layer.backward.sequence(tape, {source.packing(), true}, layer.backward.input(tape, x),
                              h.cols_at(hidden_, hidden_));
    }
    x = l > 0 && x.cols() == width ? add(tape, x, h) : h;
  }
  x = drop(x, dropout.rates.memory, "memory");

  // From step-major to sentence after sentence, which is how attention reads it.
  Memory memory;
  memory.count = source.lanes();
  Index* start = tape.arena().array<Index>(memory.count);
  Index* length = tape.arena().array<Index>(memory.count);
  Index* row = tape.arena().array<Index>(source.rows());
  Index next = 0;
  for (Index b = 0; b < memory.count; ++b) {
    start[b] = next;
    length[b] = source.length[static_cast<size_t>(b)];
    for (Index j = 0; j < length[b]; ++j) row[next++] = source.offsets[static_cast<size_t>(j)] + b;
  }
  memory.start = start;
  memory.length = length;
  memory.rows = gather_rows(tape, x, row, source.rows());

  if (with_summary) {
    memory.summary = tape.make(memory.count, width);
    Index* last = tape.arena().array<Index>(memory.count);
    for (Index b = 0; b < memory.count; ++b) {
      last[b] = source.offsets[static_cast<size_t>(length[b] - 1)] + b;
    }
    gather_rows_into(tape, x.cols_at(0, hidden_), last, memory.summary.cols_at(0, hidden_));
    if (bidirectional_) {
      Index* first = tape.arena().array<Index>(memory.count);
      for (Index b = 0; b < memory.count; ++b) first[b] = b;
      gather_rows_into(tape, x.cols_at(hidden_, hidden_), first,
                       memory.summary.cols_at(hidden_, hidden_));
    }
  }
  return memory;
}

}  // namespace regard
