// The output layer: logits, their log-softmax, and the loss with all of its gradients.
#pragma once

#include <cstdint>

#include "regard/kernels/gemm.h"
#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard {

// log sum_j exp(x[j]) over n > 0 values: largest value + log of 16 partial sums in a fixed tree.
// -inf is a value like others; all -inf, +inf or any NaN give NaN.
float log_sum_exp(const float* x, Index n) noexcept;

// Every row of logits [R,V] becomes its log-probabilities, (x - largest) - log sum exp(x -
// largest). Search calls this, and linear_cross_entropy computes the same bits.
void log_softmax_rows(Matrix logits) noexcept;

// The layer logits = W t + bias and its loss.
struct LinearCrossEntropy {
  PackedMatrix w;                // K = U, N = V: packs W^T for W [V,U]
  PackedMatrix w_back;           // K = V, N = U: packs W; null data: no gradients are made
  ConstVector bias;              // [V]
  float label_smoothing = 0.0f;  // epsilon
};

// The loss of R rows and the gradient of its sum, in blocks of rows: all logits are never stored.
//
// Math     q = (1 - epsilon) [v = target] + epsilon / V; loss = -sum_v q_v log p_v;
//          d_logits = p - q; d_t = d_logits W, d_w += d_logits^T t, d_bias += sum over rows
// Shapes   t [R,U], target [R] in 0..V-1, token_log_prob [R], token_loss [R], d_t [R,U] or null,
//          d_w [V,U], d_bias [V]; the last three are not looked at without w_back
// Writes   token_log_prob: log p of the target, without smoothing, the bits of log_softmax_rows;
//          token_loss: equal to -log p when epsilon is 0; d_t; accumulates into d_w and d_bias in
//          row order
// Values   no result depends on how rows are cut into blocks
// Errors   std::bad_alloc from the arena, which is rewound on return
// Cost     6 R U V flops (2 without gradients), one exp a logit, about 6 MB and the operands'
//          packed forms from the arena
void linear_cross_entropy(const LinearCrossEntropy& layer, ConstMatrix t,
                          const std::int32_t* target, Vector token_log_prob, Vector token_loss,
                          Matrix d_t, Matrix d_w, Vector d_bias, Arena& arena);

}  // namespace regard
