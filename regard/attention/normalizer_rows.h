// The kernels of the normalisers that are no root of anything: each element by itself, the largest,
// a Gaussian window, and the recurrences of monotonic attention.
//
// Rows go on to a multiple of 16 with anything in it, unless said otherwise.
//
// Internal: nothing checked.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

// row = sigma(row), of n elements and up to a multiple of 16.
void sigmoid_row(float* row, Index n) noexcept;
// d = d w (1 - w), likewise.
void sigmoid_row_backward(float* d, const float* weights, Index n) noexcept;

// 1 at the first largest, else 0; NaN where softmax is.
void hardmax_row(float* row, Index n) noexcept;

// Math     G_j = exp(-2 offset_j^2 / D^2), which is Luong's with sigma = D / 2
// row = row G.
void gaussian_row(float* row, const float* offsets, Index n, float half_width) noexcept;
// d in: the gradient of soft G, out: that of soft, d G. Returns the gradient of the centre,
// 4 / D^2 sum_j d_j soft_j G_j offset_j. `soft` is zero beyond n.
float gaussian_row_backward(float* d, const float* soft, const float* offsets, Index n,
                            float half_width) noexcept;

// Math     q_j = (1 - p_{j-1}) q_{j-1} + a_j, w_j = p_j q_j; a_j = state[j], or null: 1 at j = 0
// p [n] is zero at masked keys, which pass on what they hold. p becomes w. A q below 2^-100 is 0.
void monotonic_row(float* p, const float* state, Index n) noexcept;
// Math     r_j = d_w_j p_j + (1 - p_j) r_{j+1}; d_a_j = r_j; d_e_j = (d_w_j - r_{j+1}) q_j p_j (1 -
//          p_j)
// d in: that of w, zero at masked keys; out: d_e. d_state accumulates, or null. q [n]: scratch.
void monotonic_row_backward(float* d, const float* p, const float* state, Index n, float* d_state,
                            float* q) noexcept;

// MoChA, of one row of n keys. Arrays hold n elements, `margin` ones before them and
// margin + 16 after them, margin >= width - 1.
//
// Math     chunk k is the live keys of k - width + 1 to k; top_k the largest u in it, total_k the
//          sum of exp(u - top_k); w_j = sum_{k = j}^{j + width - 1} r_k exp(u_j - top_k),
//          r_k = alpha_k / total_k
// Values   u is -inf at masked keys and before the first one. Behind the last key and at masked
//          ones, top is +inf and r 0 in what sums over k.
struct ChunkRow {
  Index n = 0;
  Index width = 1;
};
// top and total from u; out may hold anything at masked keys.
void chunk_sums(const ChunkRow& row, const float* u, float* top, float* total) noexcept;
// w from u, top and r.
void chunk_weights(const ChunkRow& row, const float* u, const float* top, const float* r,
                   float* weights) noexcept;
// c_k = sum_l exp(u_l - top_k) d_w_l / total_k, the gradient of alpha_k; d_w zero where u is -inf.
void chunk_means(const ChunkRow& row, const float* u, const float* top, const float* total,
                 const float* d_weights, float* c) noexcept;

struct ChunkGradients {
  const float* u = nullptr;
  const float* top = nullptr;
  const float* r = nullptr;
  const float* c = nullptr;
};
// d in: that of w; out: that of u, sum_k r_k exp(u_l - top_k) (d_w_l - c_k).
void chunk_backward(const ChunkRow& row, const ChunkGradients& g, float* d) noexcept;

}  // namespace regard::attention
