#include "regard/model/decoder.h"

#include <string>

#include "regard/kernels/rows.h"

namespace regard {
namespace {

ScoreKind score_kind(AttentionKind kind) {
  switch (kind) {
    case AttentionKind::kAdditive:
      return ScoreKind::kAdditive;
    case AttentionKind::kDot:
      return ScoreKind::kDot;
    case AttentionKind::kScaledDot:
      return ScoreKind::kScaledDot;
    case AttentionKind::kGeneral:
      return ScoreKind::kGeneral;
  }
  return ScoreKind::kAdditive;
}

CellState rows_of(const CellState& s, Index first, Index n) {
  return {s.h.rows_at(first, n), s.c.empty() ? Var{} : s.c.rows_at(first, n)};
}

DecoderState rows_of(const DecoderState& s, Index first, Index n) {
  DecoderState out;
  for (const CellState& layer : s.layers) out.layers.push_back(rows_of(layer, first, n));
  if (!s.feed.empty()) out.feed = s.feed.rows_at(first, n);
  return out;
}

}  // namespace

Decoder Decoder::make(const ModelConfig& config, ParameterId embedding, Parameters& parameters) {
  Decoder d;
  d.config_ = config;
  d.embedding_ = embedding;
  const RecurrentKind kind = recurrent_kind(config.decoder_cell);
  const Index e = config.target_embedding;
  const Index u = config.hidden;
  const Index m = config.memory();
  const std::string layer1 = "decoder.layer1";
  const bool context_in = config.decoder == DecoderKind::kBahdanau || config.feed_context;
  if (context_in) {
    d.layers_.push_back(
        Recurrent::make(parameters, layer1, kind, u, {{"embedding", e}, {"context", m}}));
    d.context_block_ = 1;
  } else if (config.input_feeding) {
    d.layers_.push_back(
        Recurrent::make(parameters, layer1, kind, u, {{"embedding", e}, {"feed", config.readout}}));
    d.feed_block_ = 1;
  } else {
    d.layers_.push_back(Recurrent::make(parameters, layer1, kind, u, {{"embedding", e}}));
  }
  if (config.decoder == DecoderKind::kConditional) {
    d.second_ = Recurrent::make(parameters, layer1 + ".second", kind, u, {{"context", m}});
  }
  for (int l = 1; l < config.decoder_layers; ++l) {
    d.layers_.push_back(Recurrent::make(parameters, "decoder.layer" + std::to_string(l + 1), kind,
                                        u, {{"below", u}}));
  }
  if (config.start != DecoderStart::kZero) {
    for (int l = 0; l < config.decoder_layers; ++l) {
      d.start_.push_back(Linear::make(parameters, "decoder.start" + std::to_string(l + 1), m, u));
    }
  }
  if (config.has_attention()) {
    d.attention_ = AttentionLayer::make(
        parameters, "attention", {score_kind(config.attention), u, m, config.attention_width});
  }
  const auto product = [&](const char* name, Index in) {
    return parameters.add(
        {std::string("readout.") + name, config.readout, in, Use::kProduct, Init::kGlorot});
  };
  d.read_state_ = product("state", u);
  if (config.decoder != DecoderKind::kLuong) d.read_embedding_ = product("embedding", e);
  if (config.has_attention() || config.feed_context) d.read_context_ = product("context", m);
  d.read_bias_ = parameters.add({"readout.bias", 1, config.readout, Use::kVector, Init::kZero});
  return d;
}

bool Decoder::needs_summary() const {
  return config_.start == DecoderStart::kLast || config_.decoder == DecoderKind::kFixed;
}

DecoderMemory Decoder::prepare(Tape& tape, const Memory& memory) const {
  DecoderMemory m{memory, {}};
  if (attention_) {
    m.attention =
        attention_->prepare(tape, memory.rows, {memory.start, memory.length, memory.count});
  }
  return m;
}

DecoderState Decoder::make_states(Tape& tape, Index rows) const {
  DecoderState s;
  for (const Recurrent& layer : layers_) s.layers.push_back(layer.make_state(tape, rows));
  if (feed_block_ >= 0) s.feed = tape.make(rows, config_.readout);
  return s;
}

DecoderState Decoder::start(Tape& tape, const DecoderMemory& memory, const Index* key_row,
                            Index n) const {
  DecoderState s;
  Var from;
  if (config_.start == DecoderStart::kLast) {
    from = memory.encoder.summary;
  } else if (config_.start == DecoderStart::kMean) {
    from = mean_rows(tape, memory.encoder.rows, memory.encoder.start, memory.encoder.length,
                     memory.encoder.count);
  }
  // With a gradient that nobody reads: cells add to the gradient of the state before them.
  const Var zeros = tape.make(n, config_.hidden);
  fill(zeros.value, 0.0f);
  for (size_t l = 0; l < layers_.size(); ++l) {
    CellState layer;
    layer.h = start_.empty()
                  ? zeros
                  : gather_rows(tape, tanh_onto(tape, start_[l](tape, from)), key_row, n);
    if (layers_[l].kind() == RecurrentKind::kLstm) layer.c = zeros;
    s.layers.push_back(layer);
  }
  if (feed_block_ >= 0) {
    s.feed = Tape::constant(tape.arena().zero_matrix(n, config_.readout));
  }
  return s;
}

Decoder::Inputs Decoder::inputs(Tape& tape, const DecoderMemory& memory, const std::int32_t* ids,
                                const Index* key_row, Index n, const DropoutPlan* dropout,
                                const RowOrigin& origin) const {
  Inputs in;
  in.embedded = embedding(tape, embedding_, ids, n);
  if (dropout != nullptr && dropout->rates.embedding > 0.0f) {
    in.embedded =
        regard::dropout(tape, in.embedded, dropout_rows(tape, *dropout, origin, "target.embedding"),
                        dropout->rates.embedding);
  }
  in.gi = layers_[0].input(tape, in.embedded);
  if (config_.feed_context) {
    const Var c = gather_rows(tape, memory.encoder.summary, key_row, n);
    layers_[0].input_onto(tape, in.gi, c, context_block_);
  }
  return in;
}

// One step of the recurrence. With input feeding it holds attention and read-out too, since the
// next step reads a_i.
void Decoder::advance(Tape& tape, const DecoderMemory& memory, const DecoderState& previous,
                      const Index* key_row, const Cell& cell, const DropoutPlan* dropout,
                      const RowOrigin& origin) const {
  const Recurrent& first = layers_[0];
  const CellState& s0 = previous.layers[0];
  const CellState& s1 = cell.out.layers[0];
  switch (config_.decoder) {
    case DecoderKind::kFixed:
      first.step(tape, cell.in.gi, s0, s1);
      break;
    case DecoderKind::kBahdanau:
      attention_->attend(tape, memory.attention, s0.h, key_row, cell.context, cell.attention);
      first.input_onto(tape, cell.in.gi, cell.context, context_block_);
      first.step(tape, cell.in.gi, s0, s1);
      break;
    case DecoderKind::kConditional: {
      const CellState middle = first.make_state(tape, cell.in.gi.rows());
      first.step(tape, cell.in.gi, s0, middle);
      attention_->attend(tape, memory.attention, middle.h, key_row, cell.context, cell.attention);
      second_->step(tape, second_->input(tape, cell.context), middle, s1);
      break;
    }
    case DecoderKind::kLuong:
      if (feed_block_ >= 0) first.input_onto(tape, cell.in.gi, previous.feed, feed_block_);
      first.step(tape, cell.in.gi, s0, s1);
      break;
  }
  for (size_t l = 1; l < layers_.size(); ++l) {
    Var below = cell.out.layers[l - 1].h;
    if (dropout != nullptr && dropout->rates.layer > 0.0f) {
      const std::string site = "decoder.layer" + std::to_string(l + 1);
      below = regard::dropout(tape, below, dropout_rows(tape, *dropout, origin, site),
                              dropout->rates.layer);
    }
    layers_[l].step(tape, layers_[l].input(tape, below), previous.layers[l], cell.out.layers[l]);
  }
  if (feed_block_ >= 0) {
    const Var top = cell.out.layers.back().h;
    attention_->attend(tape, memory.attention, top, key_row, cell.context, cell.attention);
    read_out_luong(tape, top, cell.context, cell.out.feed);
  }
}

// t = tanh(b + W_1 s + W_2 E y + W_3 c), for what the recurrence did not read out itself; parts
// that a decoder lacks are left out.
Var Decoder::read_out(Tape& tape, const DecoderMemory& memory, const Index* key_row,
                      Cell& cell) const {
  if (feed_block_ >= 0) return cell.out.feed;
  const Var top = cell.out.layers.back().h;
  if (config_.decoder == DecoderKind::kLuong) {
    // Nothing is fed back, so this is one call for all rows, in training those of all steps.
    attention_->attend(tape, memory.attention, top, key_row, cell.context, cell.attention);
  } else if (config_.feed_context) {
    cell.context = gather_rows(tape, memory.encoder.summary, key_row, top.rows());
  }
  const Var t = linear(tape, top, read_state_, read_bias_);
  if (read_embedding_) linear_onto(tape, t, cell.in.embedded, read_embedding_);
  if (read_context_) linear_onto(tape, t, cell.context, read_context_);
  return tanh_onto(tape, t);
}

// a = tanh(b + W_s s + W_c c), written into rows of a packed value.
void Decoder::read_out_luong(Tape& tape, Var state, Var context, Var out) const {
  Var before = out;
  if (tape.recording()) before.grad = tape.arena().zero_matrix(out.rows(), out.cols());
  linear_into(tape, before, state, read_state_, read_bias_);
  linear_onto(tape, before, context, read_context_);
  tanh_into(tape, before, out);
}

Var Decoder::run(Tape& tape, const DecoderMemory& memory, const PackedIds& target,
                 const Index* key_row, const DropoutPlan& dropout, Matrix weights) const {
  const Index rows = target.rows();
  const RowOrigin origin{target.row_lane.data(), target.sequence.data(), target.row_position.data(),
                         rows};
  const Inputs in = inputs(tape, memory, target.ids.data(), key_row, rows, &dropout, origin);
  const DecoderState states = make_states(tape, rows);
  Var context;
  if (attention_) context = tape.make(rows, config_.memory());
  const DecoderState begin = start(tape, memory, key_row, target.lanes());

  const Packing packing = target.packing();
  {
    Loop loop(tape, packing);
    for (Index t = 0; t < packing.steps; ++t) {
      loop.begin_step(t);
      const Index first = packing.offsets[t];
      const Index n = packing.rows(t);
      Cell cell;
      cell.in = {in.embedded.rows_at(first, n), in.gi.rows_at(first, n)};
      cell.out = rows_of(states, first, n);
      if (attention_) {
        cell.context = context.rows_at(first, n);
        if (weights.data != nullptr) cell.attention.weights = weights.row_slice(first, n);
      }
      const DecoderState previous =
          t == 0 ? rows_of(begin, 0, n) : rows_of(states, packing.offsets[t - 1], n);
      advance(tape, memory, previous, key_row + first, cell, &dropout, origin.at(first, n));
    }
  }

  Cell all{in, states, context, {weights, {}}};
  Var t = read_out(tape, memory, key_row, all);
  if (dropout.rates.readout > 0.0f) {
    t = regard::dropout(tape, t, dropout_rows(tape, dropout, origin, "readout"),
                        dropout.rates.readout);
  }
  return t;
}

Decoder::Step Decoder::step(Tape& tape, const DecoderMemory& memory, const DecoderState& state,
                            const std::int32_t* ids, const Index* key_row, Index n,
                            bool with_scores) const {
  Cell cell;
  cell.in = inputs(tape, memory, ids, key_row, n, nullptr, {});
  cell.out = make_states(tape, n);
  if (attention_) {
    cell.context = tape.make(n, config_.memory());
    const Index longest = memory.attention.longest();
    cell.attention.weights = tape.arena().matrix(n, longest);
    if (with_scores) cell.attention.raw_scores = tape.arena().matrix(n, longest);
  }
  advance(tape, memory, state, key_row, cell, nullptr, {});
  const Var t = read_out(tape, memory, key_row, cell);
  return {cell.out, t, cell.context, cell.attention};
}

}  // namespace regard
