// Small modules: named parameters and how they are applied.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "regard/autograd/ops.h"

namespace regard {

// y = b + W x. Parameters `name`.weight [out,in] and `name`.bias [1,out].
struct Linear {
  ParameterId weight, bias;

  static Linear make(Parameters& p, const std::string& name, Index in, Index out,
                     bool with_bias = true) {
    Linear l;
    l.weight = p.add({name + ".weight", out, in, Use::kProduct, Init::kGlorot});
    if (with_bias) l.bias = p.add({name + ".bias", 1, out, Use::kVector, Init::kZero});
    return l;
  }
  Var operator()(Tape& tape, Var x) const { return linear(tape, x, weight, bias); }
};

enum class RecurrentKind { kGru, kLstm };

// One recurrent layer, GRU or LSTM. The input may come in blocks of several widths (embedding,
// context, ...), each with its own matrix `name`.input.<block> [gates U, width]; their chain starts
// from `name`.input_bias.
class Recurrent {
 public:
  struct Block {
    const char* name;
    Index width;
  };
  static Recurrent make(Parameters& p, const std::string& name, RecurrentKind kind, Index hidden,
                        std::initializer_list<Block> blocks);

  RecurrentKind kind() const { return kind_; }
  Index hidden() const { return hidden_; }

  // gi = b + W_0 x: all rows of a sequence at once, or those of a step.
  Var input(Tape& tape, Var x) const { return linear(tape, x, input_[0], input_bias_); }
  // gi += W_block x, in place.
  void input_onto(Tape& tape, Var gi, Var x, int block) const {
    linear_onto(tape, gi, x, input_[static_cast<size_t>(block)]);
  }
  // One step: `out` receives the new state.
  void step(Tape& tape, Var gi, const CellState& previous, const CellState& out) const;
  // All steps, from a zero state; `out` [R,hidden].
  void sequence(Tape& tape, const SequenceOptions& options, Var gi, Var out) const;
  // A new state of `rows` rows.
  CellState make_state(Tape& tape, Index rows) const;

 private:
  RecurrentKind kind_ = RecurrentKind::kGru;
  Index hidden_ = 0;
  std::vector<ParameterId> input_;
  ParameterId input_bias_, state_, state_bias_;
};

}  // namespace regard
