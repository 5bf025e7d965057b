#include "regard/model/decoder.h"

#include <algorithm>
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
    case AttentionKind::kConcat:
      return ScoreKind::kConcat;
    case AttentionKind::kCosine:
      return ScoreKind::kCosine;
    case AttentionKind::kLocation:
      return ScoreKind::kLocation;
    case AttentionKind::kLocationSensitive:
      return ScoreKind::kLocationSensitive;
    case AttentionKind::kCoverage:
      return ScoreKind::kCoverage;
  }
  return ScoreKind::kAdditive;
}

NormalizerKind normalizer_kind(WeightsKind kind) {
  switch (kind) {
    case WeightsKind::kSoftmax:
    case WeightsKind::kLocalM:  // and a mask
      return NormalizerKind::kSoftmax;
    case WeightsKind::kSparsemax:
      return NormalizerKind::kSparsemax;
    case WeightsKind::kEntmax15:
      return NormalizerKind::kEntmax15;
    case WeightsKind::kEntmax:
      return NormalizerKind::kEntmax;
    case WeightsKind::kHardmax:
      return NormalizerKind::kHardmax;
    case WeightsKind::kSigmoid:
      return NormalizerKind::kSigmoid;
    case WeightsKind::kMonotonic:
      return NormalizerKind::kMonotonic;
    case WeightsKind::kMocha:
      return NormalizerKind::kMocha;
    case WeightsKind::kLocalP:
      return NormalizerKind::kLocal;
  }
  return NormalizerKind::kSoftmax;
}

AttentionShape attention_shape(const ModelConfig& c) {
  AttentionShape s;
  s.score = score_kind(c.attention);
  s.query = c.hidden;
  s.memory = c.memory();
  s.width = c.attention_width;
  s.heads = c.heads;
  s.projections = c.projections;
  s.weight_norm = c.weight_norm;
  s.normalizer.kind = normalizer_kind(c.normalizer);
  s.normalizer.straight_through = c.straight_through;
  const auto temperature = static_cast<float>(c.temperature);
  if (c.divides_scores()) {
    s.scale = 1.0f / temperature;
  } else {
    s.normalizer.temperature = temperature;
  }
  if (c.normalizer == WeightsKind::kLocalM) {
    s.window = c.window;
  } else {
    s.normalizer.window = c.window;
  }
  s.channels = c.location_channels;
  s.taps = c.location_taps;
  s.longest = c.longest_source;
  return s;
}

CellState rows_of(const CellState& s, Index first, Index n) {
  return {s.h.rows_at(first, n), s.c.empty() ? Var{} : s.c.rows_at(first, n)};
}

// `heads`: rows of attention for each row.
DecoderState state_rows(const DecoderState& s, Index heads, Index first, Index n) {
  DecoderState out;
  for (const CellState& layer : s.layers) out.layers.push_back(rows_of(layer, first, n));
  if (!s.feed.empty()) out.feed = s.feed.rows_at(first, n);
  if (!s.attention.empty()) out.attention = s.attention.rows_at(first * heads, n * heads);
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
    d.attention_ = AttentionLayer::make(parameters, "attention", attention_shape(config));
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

DecoderMemory Decoder::prepare(Tape& tape, const Memory& memory, const DropoutPlan& dropout) const {
  DecoderMemory m{memory, {}};
  if (attention_) {
    m.attention = attention_->prepare(
        tape, memory.rows, {memory.start, memory.length, memory.count}, dropout.rates.attention);
  }
  return m;
}

DecoderState Decoder::make_states(Tape& tape, const DecoderMemory& memory, Index rows) const {
  DecoderState s;
  for (const Recurrent& layer : layers_) s.layers.push_back(layer.make_state(tape, rows));
  if (feed_block_ >= 0) s.feed = tape.make(rows, config_.readout);
  if (attention_ && attention_->stateful()) {
    s.attention = tape.make(rows * attention_->heads(), memory.attention.longest());
  }
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

Decoder::Rows Decoder::Rows::at(Index first, Index n) const {
  Rows r = *this;
  r.key_row += first;
  if (position != nullptr) r.position += first;
  if (dropout_key != nullptr) r.dropout_key += first;
  r.origin = origin.at(first, n);
  return r;
}

Decoder::Inputs Decoder::inputs(Tape& tape, const DecoderMemory& memory, const std::int32_t* ids,
                                Index n, const Rows& rows) const {
  Inputs in;
  in.embedded = embedding(tape, embedding_, ids, n);
  const DropoutPlan* dropout = rows.dropout;
  if (dropout != nullptr && dropout->rates.embedding > 0.0f) {
    in.embedded = regard::dropout(tape, in.embedded,
                                  dropout_rows(tape, *dropout, rows.origin, "target.embedding"),
                                  dropout->rates.embedding);
  }
  in.gi = layers_[0].input(tape, in.embedded);
  if (config_.feed_context) {
    const Var c = gather_rows(tape, memory.encoder.summary, rows.key_row, n);
    layers_[0].input_onto(tape, in.gi, c, context_block_);
  }
  return in;
}

void Decoder::look(Tape& tape, const DecoderMemory& memory, Var query, const Rows& rows,
                   const Cell& cell) const {
  AttentionLayer::Rows looking;
  looking.query = query;
  looking.key_row = rows.key_row;
  looking.position = rows.position;
  looking.dropout_key = rows.dropout_key;
  looking.state = cell.looked;
  attention_->attend(tape, memory.attention, looking, cell.look);
}

// luong: the next step reads a_i, or where the model looked. Otherwise attention waits for the
// read-out, for all steps at once.
bool Decoder::looks_in_recurrence() const {
  return feed_block_ >= 0 || (attention_ && attention_->stateful());
}

// One step of the recurrence, and of what it reads: attention, and with input feeding the read-out.
void Decoder::advance(Tape& tape, const DecoderMemory& memory, const DecoderState& previous,
                      const Rows& rows, const Cell& cell) const {
  const Recurrent& first = layers_[0];
  const CellState& s0 = previous.layers[0];
  const CellState& s1 = cell.out.layers[0];
  switch (config_.decoder) {
    case DecoderKind::kFixed:
      first.step(tape, cell.in.gi, s0, s1);
      break;
    case DecoderKind::kBahdanau:
      look(tape, memory, s0.h, rows, cell);
      first.input_onto(tape, cell.in.gi, cell.look.context, context_block_);
      first.step(tape, cell.in.gi, s0, s1);
      break;
    case DecoderKind::kConditional: {
      const CellState middle = first.make_state(tape, cell.in.gi.rows());
      first.step(tape, cell.in.gi, s0, middle);
      look(tape, memory, middle.h, rows, cell);
      second_->step(tape, second_->input(tape, cell.look.context), middle, s1);
      break;
    }
    case DecoderKind::kLuong:
      if (feed_block_ >= 0) first.input_onto(tape, cell.in.gi, previous.feed, feed_block_);
      first.step(tape, cell.in.gi, s0, s1);
      break;
  }
  for (size_t l = 1; l < layers_.size(); ++l) {
    Var below = cell.out.layers[l - 1].h;
    if (rows.dropout != nullptr && rows.dropout->rates.layer > 0.0f) {
      const std::string site = "decoder.layer" + std::to_string(l + 1);
      below = regard::dropout(tape, below, dropout_rows(tape, *rows.dropout, rows.origin, site),
                              rows.dropout->rates.layer);
    }
    layers_[l].step(tape, layers_[l].input(tape, below), previous.layers[l], cell.out.layers[l]);
  }
  if (config_.decoder != DecoderKind::kLuong || !looks_in_recurrence()) return;
  const Var top = cell.out.layers.back().h;
  look(tape, memory, top, rows, cell);
  if (feed_block_ >= 0) read_out_luong(tape, top, cell.look.context, cell.out.feed);
}

// t = tanh(b + W_1 s + W_2 E y + W_3 c), for what the recurrence did not read out itself; parts
// that a decoder lacks are left out.
Var Decoder::read_out(Tape& tape, const DecoderMemory& memory, const Rows& rows, Cell& cell) const {
  if (feed_block_ >= 0) return cell.out.feed;
  const Var top = cell.out.layers.back().h;
  if (config_.decoder == DecoderKind::kLuong && !looks_in_recurrence()) {
    // Nothing is fed back, so this is one call for all rows, in training those of all steps.
    look(tape, memory, top, rows, cell);
  } else if (config_.feed_context) {
    cell.look.context = gather_rows(tape, memory.encoder.summary, rows.key_row, top.rows());
  }
  const Var t = linear(tape, top, read_state_, read_bias_);
  if (read_embedding_) linear_onto(tape, t, cell.in.embedded, read_embedding_);
  if (read_context_) linear_onto(tape, t, cell.look.context, read_context_);
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
                 const Index* key_row, const DropoutPlan& dropout, const Looks& looks) const {
  const Index rows = target.rows();
  Rows all;
  all.key_row = key_row;
  all.dropout = &dropout;
  all.origin = {target.row_lane.data(), target.sequence.data(), target.row_position.data(), rows};
  Cell whole;
  whole.in = inputs(tape, memory, target.ids.data(), rows, all);
  whole.out = make_states(tape, memory, rows);
  if (attention_) {
    whole.look.context = tape.make(rows, config_.memory());
    whole.look.weights = looks.weights;
    whole.look.coverage_weight = looks.coverage_weight;
    whole.look.coverage_loss = looks.coverage_loss;
    Index* position = tape.arena().array<Index>(rows);
    std::copy(target.row_position.begin(), target.row_position.end(), position);
    all.position = position;
    if (dropout.rates.attention > 0.0f) {
      all.dropout_key = attention_dropout_keys(tape, dropout, all.origin, "attention");
    }
  }
  const DecoderState begin = start(tape, memory, key_row, target.lanes());
  const Index heads = attention_ ? attention_->heads() : 1;
  const Packing packing = target.packing();
  {
    Loop loop(tape, packing);
    for (Index t = 0; t < packing.steps; ++t) {
      loop.begin_step(t);
      const Index first = packing.offsets[t];
      const Index n = packing.rows(t);
      const DecoderState previous = t == 0
                                        ? state_rows(begin, heads, 0, n)
                                        : state_rows(whole.out, heads, packing.offsets[t - 1], n);
      Cell cell = cell_rows(whole, heads, first, n);
      cell.looked = previous.attention;
      advance(tape, memory, previous, all.at(first, n), cell);
    }
  }

  Var t = read_out(tape, memory, all, whole);
  if (dropout.rates.readout > 0.0f) {
    t = regard::dropout(tape, t, dropout_rows(tape, dropout, all.origin, "readout"),
                        dropout.rates.readout);
  }
  return t;
}

Decoder::Cell Decoder::cell_rows(const Cell& c, Index heads, Index first, Index n) {
  Cell out;
  out.in = {c.in.embedded.rows_at(first, n), c.in.gi.rows_at(first, n)};
  out.out = state_rows(c.out, heads, first, n);
  if (!c.look.context.empty()) out.look.context = c.look.context.rows_at(first, n);
  if (c.look.weights.data != nullptr) out.look.weights = c.look.weights.row_slice(first, n);
  out.look.next_state = out.out.attention;
  out.look.coverage_weight = c.look.coverage_weight;
  if (c.look.coverage_loss) out.look.coverage_loss = {c.look.coverage_loss.data + first, n};
  return out;
}

Decoder::Step Decoder::step(Tape& tape, const DecoderMemory& memory, const DecoderState& state,
                            const std::int32_t* ids, const Index* key_row, Index n,
                            bool with_scores) const {
  Rows rows;
  rows.key_row = key_row;
  Cell cell;
  cell.in = inputs(tape, memory, ids, n, rows);
  cell.out = make_states(tape, memory, n);
  cell.out.step = state.step + 1;
  cell.looked = state.attention;
  if (attention_) {
    Index* position = tape.arena().array<Index>(n);
    std::fill_n(position, n, state.step);
    rows.position = position;
    cell.look.context = tape.make(n, config_.memory());
    cell.look.next_state = cell.out.attention;
    const Index longest = memory.attention.longest();
    cell.look.weights = tape.arena().matrix(n, longest);
    if (with_scores) cell.look.raw_scores = tape.arena().matrix(n, longest);
  }
  advance(tape, memory, state, rows, cell);
  const Var t = read_out(tape, memory, rows, cell);
  AttentionRows attention;
  attention.weights = cell.look.weights;
  attention.raw_scores = cell.look.raw_scores;
  return {cell.out, t, cell.look.context, attention};
}

}  // namespace regard
