// The operations of the tape: each a forward and backward pair of kernels/ or attention/ and one
// closure.
//
// Common rules. Outputs are new values unless a line says "in place". Gradients of inputs
// accumulate, but for the gate inputs of recurrent cells, which have one reader and are
// overwritten. Index and id arrays are borrowed until backward has run. Inside a Loop, parameter
// products keep their rows (tape.h). Extents that disagree are a ShapeError.
#pragma once

#include <cstdint>

#include "regard/autograd/tape.h"
#include "regard/kernels/cross_entropy.h"
#include "regard/kernels/dropout.h"

namespace regard {

// --- Products ------------------------------------------------------------------------------------

// y [R,out] = b + x [R,in] W^T for W [out,in]; `bias` may be none.
Var linear(Tape& tape, Var x, ParameterId weight, ParameterId bias = {});
// The same, written into `y`: rows of a packed value.
void linear_into(Tape& tape, Var y, Var x, ParameterId weight, ParameterId bias);

// y += x W^T, in place: the chain of y's elements goes on over a further input block, so a product
// that was hoisted out of a loop and one inside it agree to the bit. y must have no reader before
// this call.
void linear_onto(Tape& tape, Var y, Var x, ParameterId weight);

// --- Rows and elements ---------------------------------------------------------------------------

// y [n,E]: rows `ids` of the table [V,E].
Var embedding(Tape& tape, ParameterId table, const std::int32_t* ids, Index n);

// y = tanh x, in place: y takes over the memory of x's value, so x must have no other reader.
Var tanh_onto(Tape& tape, Var x);
// The same, written into `y`, whose value may be x's own memory; the gradients must differ.
void tanh_into(Tape& tape, Var x, Var y);

// x / (1 - rate) where kept, else 0; the mask is a function of (key, position, unit) alone. Returns
// x at rate 0.
Var dropout(Tape& tape, Var x, const DropoutRows& rows, float rate);

// y[r] = x[index[r]], a zero row where the index is -1.
Var gather_rows(Tape& tape, Var x, const Index* index, Index n);
void gather_rows_into(Tape& tape, Var x, const Index* index, Var y);

// y[b] = mean of rows [start[b], start[b] + length[b]) of x; zero for an empty range.
Var mean_rows(Tape& tape, Var x, const Index* start, const Index* length, Index n);

// a + b.
Var add(Tape& tape, Var a, Var b);

// --- Recurrent cells and sequences (docs/models.md; gates r,z,n and i,f,g,o) -------------------

struct CellState {
  Var h;
  Var c;  // LSTM only
};

// h' from gi = W x + b and gh = U h + u, written into `out` (rows of a packed value).
void gru_cell(Tape& tape, Var gi, Var gh, Var h_prev, Var out);
// The same for (h', c'). Pre-activations are gi + gh.
void lstm_cell(Tape& tape, Var gi, Var gh, CellState previous, CellState out);

struct SequenceOptions {
  Packing packing;
  bool reverse = false;
};
// The whole sequence, time loop inside; `out` [R,H] may be columns of a wider value. Starts from
// zero.
void gru_sequence(Tape& tape, const SequenceOptions& options, Var gi, ParameterId u,
                  ParameterId u_bias, Var out);
void lstm_sequence(Tape& tape, const SequenceOptions& options, Var gi, ParameterId u,
                   ParameterId u_bias, Var out);

// --- Loss ----------------------------------------------------------------------------------------

struct LossRows {
  Vector token_log_prob;  // [R] log p of the target
  Vector token_loss;      // [R] with label smoothing
};
// log p(target) = log_softmax(W t + b) for every row, in row blocks; when recording, the gradients
// of the SUM of token_loss are made at once: those of W and b are added, that of t is overwritten
// (it has no earlier writer).
LossRows linear_cross_entropy(Tape& tape, Var t, ParameterId weight, ParameterId bias,
                              const std::int32_t* target, float label_smoothing);

// log_softmax(W t + b) [R,V], for search. Same bits as linear_cross_entropy. Never recorded.
Matrix linear_log_softmax(Tape& tape, Var t, ParameterId weight, ParameterId bias);

}  // namespace regard
