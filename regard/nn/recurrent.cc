#include "regard/nn/layers.h"

namespace regard {

Recurrent Recurrent::make(Parameters& p, const std::string& name, RecurrentKind kind, Index hidden,
                          std::initializer_list<Block> blocks) {
  const int gates = kind == RecurrentKind::kGru ? 3 : 4;
  const Init bias = kind == RecurrentKind::kGru ? Init::kZero : Init::kForgetGateOne;
  Recurrent r;
  r.kind_ = kind;
  r.hidden_ = hidden;
  for (const Block& block : blocks) {
    r.input_.push_back(p.add({name + ".input." + block.name, gates * hidden, block.width,
                              Use::kProduct, Init::kGlorot, gates}));
  }
  r.input_bias_ = p.add({name + ".input_bias", 1, gates * hidden, Use::kVector, bias, gates});
  r.state_ = p.add(
      {name + ".state", gates * hidden, hidden, Use::kProduct, Init::kOrthogonalPerGate, gates});
  r.state_bias_ =
      p.add({name + ".state_bias", 1, gates * hidden, Use::kVector, Init::kZero, gates});
  return r;
}

void Recurrent::step(Tape& tape, Var gi, const CellState& previous, const CellState& out) const {
  const Var gh = linear(tape, previous.h, state_, state_bias_);
  if (kind_ == RecurrentKind::kGru) {
    gru_cell(tape, gi, gh, previous.h, out.h);
  } else {
    lstm_cell(tape, gi, gh, previous, out);
  }
}

void Recurrent::sequence(Tape& tape, const SequenceOptions& options, Var gi, Var out) const {
  if (kind_ == RecurrentKind::kGru) {
    gru_sequence(tape, options, gi, state_, state_bias_, out);
  } else {
    lstm_sequence(tape, options, gi, state_, state_bias_, out);
  }
}

CellState Recurrent::make_state(Tape& tape, Index rows) const {
  CellState s;
  s.h = tape.make(rows, hidden_);
  if (kind_ == RecurrentKind::kLstm) s.c = tape.make(rows, hidden_);
  return s;
}

}  // namespace regard
