// Long short-term memory: one step, and whole sequences with the time loop inside.
//
// Math     i, f, o = sigma(gi + gh), g = tanh(gi + gh), c = f c_prev + i g, h = o tanh(c), where
//          gi = W x + b and gh = U h_prev + u
// Source   Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000, no peepholes;
//          gate order i, f, g, o as PyTorch
#pragma once

#include "regard/kernels/gemm.h"
#include "regard/kernels/packing.h"
#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard {

// One step for R independent rows.
//
// Shapes   gi [R,4H], gh [R,4H], c_prev [R,H], h [R,H], c [R,H], gates [R,4H] or null
// Writes   h, c and gates; c may be c_prev
// Keeps    gates: i, f, g, o for backward; null keeps nothing and changes no bit
void lstm_cell_forward(ConstMatrix gi, ConstMatrix gh, ConstMatrix c_prev, Matrix h, Matrix c,
                       Matrix gates) noexcept;

// The gradients of one step.
//
// Math     d = d_c + d_h o (1 - tanh(c)^2); d_i = d g i (1-i), d_f = d c_prev f (1-f),
//          d_g = d i (1-g^2), d_o = d_h tanh(c) o (1-o); d_c_prev += d f
// Shapes   as forward; d_h [R,H]; d_c [R,H], what arrives at c, or null; d_gates [R,4H]
// Writes   d_gates, which is both d_gi and d_gh; accumulates into d_c_prev, which may not be d_c
void lstm_cell_backward(ConstMatrix gates, ConstMatrix c_prev, ConstMatrix c, ConstMatrix d_h,
                        ConstMatrix d_c, Matrix d_gates, Matrix d_c_prev) noexcept;

// Which sequences, and where they start.
struct LstmSequence {
  Packing packing;
  bool reverse = false;  // from each sequence's last position to its first
  ConstMatrix h0;        // [B,H], B = packing.max_rows(); null: zeros
  ConstMatrix c0;        // likewise
};

// Runs all steps of all sequences. A row's bits do not depend on the other sequences.
//
// Shapes   gi [R,4H] with R = packing.total(); u packed, K = H, N = 4H; u_bias [4H]; h [R,H], any
//          row stride; h_prev, c, c_prev [R,H] or null; gates [R,4H] or null
// Writes   h: the output after each row; c: the cell after each row. More than six arguments,
//          because each is a buffer of the caller's
// Keeps    h_prev and c_prev: the state before each row; gates. Backward needs them and c; null
//          changes no bit of h
// Errors   std::bad_alloc from the arena, before anything is written; it is rewound on return
// Cost     8 R H^2 flops and 5 exp-sized functions an element
void lstm_sequence_forward(const LstmSequence& sequence, ConstMatrix gi, const PackedMatrix& u,
                           ConstVector u_bias, Matrix h, Matrix h_prev, Matrix c, Matrix c_prev,
                           Matrix gates, Arena& arena);

// The gradients of all steps, given those that arrive at h.
//
// Shapes   u_back packed, K = 4H, N = H: B is U [4H,H] itself; c, c_prev, gates as kept; d_h [R,H];
//          d_gates [R,4H]; d_h0, d_c0 [B,H] or null
// Writes   d_gates, which is both d_gi and d_gh; accumulates into d_h0 and d_c0. Weight gradients
//          are made by the caller: d_U += d_gates^T h_prev, d_u += column sums of d_gates
// Errors   as forward
void lstm_sequence_backward(const LstmSequence& sequence, const PackedMatrix& u_back, ConstMatrix c,
                            ConstMatrix c_prev, ConstMatrix gates, ConstMatrix d_h, Matrix d_gates,
                            Matrix d_h0, Matrix d_c0, Arena& arena);

}  // namespace regard
