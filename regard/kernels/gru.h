// The gated recurrent unit: one step, and whole sequences with the time loop inside.
//
// Math     r = sigma(gi_r + gh_r), z = sigma(gi_z + gh_z), n = tanh(gi_n + r gh_n),
//          h = (1 - z) n + z h_prev, where gi = W x + b and gh = U h_prev + u
// Source   Cho et al. 2014, arXiv 1406.1078v3; the reset gate acts after the product, and the gate
//          order is r, z, n, so that weights of PyTorch and cuDNN mean the same
#pragma once

#include "regard/kernels/gemm.h"
#include "regard/kernels/packing.h"
#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard {

// One step for R independent rows.
//
// Shapes   gi [R,3H], gh [R,3H], h_prev [R,H], h [R,H], gates [R,4H] or null
// Writes   h and gates; h may be h_prev
// Keeps    gates: r, z, n and gh_n for backward; null keeps nothing and changes no bit of h
void gru_cell_forward(ConstMatrix gi, ConstMatrix gh, ConstMatrix h_prev, Matrix h,
                      Matrix gates) noexcept;

// The gradients of one step.
//
// Math     d_n = d_h (1-z) (1-n^2), d_z = d_h (h_prev - n) z (1-z), d_r = d_n gh_n r (1-r);
//          d_gi = [d_r, d_z, d_n], d_gh = [d_r, d_z, d_n r], d_h_prev += z d_h
// Shapes   as forward; d_gi, d_gh [R,3H], d_h_prev [R,H]
// Writes   d_gi and d_gh; accumulates into d_h_prev the direct path alone: the caller adds d_gh U
void gru_cell_backward(ConstMatrix gates, ConstMatrix h_prev, ConstMatrix d_h, Matrix d_gi,
                       Matrix d_gh, Matrix d_h_prev) noexcept;

// Which sequences, and where they start.
struct GruSequence {
  Packing packing;
  bool reverse = false;  // from each sequence's last position to its first
  ConstMatrix h0;        // [B,H], B = packing.max_rows(); null: zeros
};

// Runs all steps of all sequences. A row's bits do not depend on the other sequences.
//
// Shapes   gi [R,3H] with R = packing.total(); u packed, K = H, N = 3H; u_bias [3H]; h [R,H], any
//          row stride; h_prev [R,H] or null; gates [R,4H] or null
// Writes   h: the state after each row. More than six arguments, because each is a buffer of the
//          caller's
// Keeps    h_prev: the state before each row; gates. Backward needs both; null changes no bit of h
// Errors   std::bad_alloc from the arena, before anything is written; it is rewound on return
// Cost     6 R H^2 flops and 1 exp-sized function for each gate and element
void gru_sequence_forward(const GruSequence& sequence, ConstMatrix gi, const PackedMatrix& u,
                          ConstVector u_bias, Matrix h, Matrix h_prev, Matrix gates, Arena& arena);

// The gradients of all steps, given those that arrive at h.
//
// Shapes   u_back packed, K = 3H, N = H: B is U [3H,H] itself; h_prev, gates as kept; d_h [R,H];
//          d_gi, d_gh [R,3H]; d_h0 [B,H] or null
// Writes   d_gi and d_gh; accumulates into d_h0. Weight gradients are one product over all rows,
//          made by the caller: d_U += d_gh^T h_prev, d_u += column sums of d_gh
// Errors   as forward
void gru_sequence_backward(const GruSequence& sequence, const PackedMatrix& u_back,
                           ConstMatrix h_prev, ConstMatrix gates, ConstMatrix d_h, Matrix d_gi,
                           Matrix d_gh, Matrix d_h0, Arena& arena);

}  // namespace regard
