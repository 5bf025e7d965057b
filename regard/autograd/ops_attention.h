// Attention on the tape: keys prepared once, queried at every step, their gradients finished once.
#pragma once

#include "regard/attention/attention.h"
#include "regard/autograd/tape.h"

namespace regard {

using attention::RaggedRows;
using attention::ScoreKind;

// A batch's keys and values, ready for any number of attend() calls. Lives in the tape's arena.
struct AttentionMemory {
  const attention::PreparedKeys* keys = nullptr;
  attention::KeyGradients* sums = nullptr;  // null when nothing is recorded
  ParameterId v;                            // additive only
  Var values;

  Index longest() const { return keys->longest; }
};

// Prepares keys [rows, A or D] and values [rows, Dv] of `sentences`. Additive takes projected keys
// and the parameter v [1,A]. General is a product of the caller's on the query
// (nn/attention_layer.h) followed by kDot.
AttentionMemory begin_attention(Tape& tape, ScoreKind kind, ParameterId v, Var keys, Var values,
                                const RaggedRows& sentences);

// What attend() writes beside the context, [n, at least longest]; null data: not asked for.
struct AttentionRows {
  Matrix weights;     // alpha_ij
  Matrix raw_scores;  // e_ij
};

// Writes c_i into `context` for each query row. Weights that were not asked for are kept inside the
// tape when recording. key_row is borrowed until backward has run.
void attend(Tape& tape, const AttentionMemory& memory, Var query, const Index* key_row, Var context,
            AttentionRows rows);

}  // namespace regard
