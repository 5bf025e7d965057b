// Attention on the tape: keys prepared once, queried at every step, their gradients finished once.
#pragma once

#include "regard/attention/attention.h"
#include "regard/autograd/tape.h"

namespace regard {

using attention::NormalizerKind;
using attention::RaggedRows;
using attention::ScoreKind;

// The parameters that an attention names, none where it has none. Shapes as of attention::Score and
// attention::Bias.
struct AttentionParameters {
  ParameterId v, b, g, w, filters, u;
  ParameterId slopes;  // ALiBi
  ParameterId table;   // relative positions
  // entmax: a number a, and alpha = 1.5 + 0.45 tanh(a): always between softmax (1) and sparsemax
  // (2), 1.5 at a = 0. Without it Normalizer::alpha is taken as it is.
  ParameterId alpha;
};

// A batch's keys and values, ready for any number of attend() calls. Lives in the tape's arena.
struct AttentionMemory {
  const attention::PreparedKeys* keys = nullptr;
  attention::KeyGradients* sums = nullptr;  // null when nothing is recorded
  AttentionParameters parameters;
  Var values;

  Index longest() const { return keys->longest; }
  Index heads() const { return keys->attention.heads; }
  bool stateful() const { return keys->attention.stateful(); }
};

// Prepares keys and values [rows, N Dv] of `sentences`. Views of `spec` whose parameters are named
// are filled in here; what it borrows besides (masks by row, a dense bias, which is a constant) has
// to outlive backward.
AttentionMemory begin_attention(Tape& tape, attention::Attention spec,
                                const AttentionParameters& parameters, Var keys, Var values,
                                const RaggedRows& sentences);
// The same for a score that has no parameter but v, softmax and one head.
AttentionMemory begin_attention(Tape& tape, ScoreKind kind, ParameterId v, Var keys, Var values,
                                const RaggedRows& sentences);

// The rows that look: attention::QueryRows with gradients. Arrays are borrowed until backward has
// run; what is not used is empty.
struct AttentionQuery {
  Var query;
  const Index* key_row = nullptr;
  const Index* position = nullptr;
  const Index* query_length = nullptr;
  const std::uint64_t* dropout_key = nullptr;
  Var state;         // [n N, longest] what the step before left in next_state; empty: the beginning
  Var chunk_scores;  // likewise, MoChA; empty: the scores
  Var center;        // [n N, 1], contiguous: local
};

// What attend() writes beside the context, [n N, longest] (row r, head h: row r N + h); null data:
// not asked for.
struct AttentionRows {
  Matrix weights = {};     // alpha_ij
  Matrix raw_scores = {};  // e_ij
  Matrix d_weights = {};  // in: what comes back to the weights themselves, as other ops will add it
  Var next_state = {};    // with a state: what the next step reads
};

// Writes c_i [n, N Dv] into `context`. Weights that were not asked for are kept inside the tape
// when recording.
void attend(Tape& tape, const AttentionMemory& memory, const AttentionQuery& query, Var context,
            AttentionRows rows);
void attend(Tape& tape, const AttentionMemory& memory, Var query, const Index* key_row, Var context,
            AttentionRows rows);

// Where each row looks around: center [n N, 1] = S sigma(z), contiguous, for z [n, N] and S the
// length of the row's sentence.
//
// Source   Luong et al., arXiv 1508.04025v5, eq. 9
Var local_center(Tape& tape, const AttentionMemory& memory, Var z, const Index* key_row);

// What it costs to look again where the model has looked: loss[r] = weight / N sum over heads and
// keys of min(w_rj, coverage_rj). When recording, adds its gradients to d_weights and to that of
// `coverage` (empty: nothing was seen yet, and the loss is 0), so it comes after attend().
//
// Source   See et al., arXiv 1704.04368v2, eq. 12
// Shapes   rows.weights and rows.d_weights (when recording) as attend() was given them; coverage
//          [n N, longest]; loss [n]
void coverage_loss(Tape& tape, const AttentionMemory& memory, const AttentionRows& rows,
                   Var coverage, float weight, Vector loss);

}  // namespace regard
