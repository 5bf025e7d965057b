// Softmax over the live keys of a row block, and its backward; plus the small passes over scores.
//
// Rows are `stride` floats apart, a multiple of 16; `count` live scores, at least one. What lies
// between count and the next multiple of 16 may hold anything and comes out as zero.
//
// Internal: nothing checked.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

struct ScoreBlock {
  float* data = nullptr;
  Index stride = 0;
  Index rows = 0;
  Index count = 0;
};

// scores *= factor.
void scale_scores(const ScoreBlock& scores, float factor) noexcept;

// The sum of a row: sixteen partial sums, then the fixed tree.
float row_sum(const float* x, Index count) noexcept;

// In place; log_sum_exp [rows].
void softmax_forward(const ScoreBlock& scores, float* log_sum_exp) noexcept;

// d_scores in: g_ij, the gradient of the weights; out: w_ij (g_ij - sum_j w_ij g_ij), in place.
// weights: a block of the same stride, zero beyond count. Row i of `extra` [count], if not null, is
// added to g first. row_sums[i] becomes the sum of row i's result.
void softmax_backward(const ScoreBlock& d_scores, const float* weights, const float* const* extra,
                      float* row_sums) noexcept;

}  // namespace regard::attention
