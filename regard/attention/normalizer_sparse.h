// Kernels of sparsemax and the entmaxes, over live keys that lie together.
//
// Math     sparsemax w = (e - tau)+ · entmax-1.5 w = ((e / 2 - tau)+)^2 · entmax
//          w = (((alpha - 1) e - tau)+)^(1 / (alpha - 1)), tau such that the row sums to 1
//
// Internal: nothing checked.
#pragma once

#include "regard/attention/normalizer_live.h"

namespace regard::attention {

// Floats of one row of the candidates that the forward kernels ask for: [rows of the group] of
// them, for rows of at most `keys` keys.
constexpr Index candidate_stride(Index keys) { return padded(keys) + 16; }

// In place.
void sparsemax_forward(const RowGroup& scores, float* candidates) noexcept;
void entmax15_forward(const RowGroup& scores, float* candidates) noexcept;
void entmax_forward(const RowGroup& scores, float alpha, float* candidates) noexcept;

// d in: the gradient of the weights; out: that of the scores. Row r of the weights lies as that of
// d does, zero beyond its count.
void sparsemax_backward(const RowGroup& d, const float* const* weights) noexcept;
void entmax15_backward(const RowGroup& d, const float* const* weights) noexcept;
// d_alpha[r]: pointers to what is overwritten, or null.
void entmax_backward(const RowGroup& d, const float* const* weights, float alpha,
                     float* const* d_alpha) noexcept;

}  // namespace regard::attention
