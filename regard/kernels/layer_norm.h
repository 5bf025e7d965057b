// Layer normalisation: every row to mean 0 and variance 1, then a gain and a bias per column.
#pragma once

#include "regard/tensor/view.h"

namespace regard {

// Added to the variance, so that a row of equal values has a quotient.
inline constexpr float kLayerNormEpsilon = 1e-5f;

// What backward needs of each row: the mean and 1 / sqrt(variance + epsilon), both [R].
struct LayerNormRows {
  Vector mean;
  Vector scale;
};

// y = gain * (x - mean) / sqrt(variance + 1e-5) + bias.
//
// Math     mean = sum_j x_j / N; variance = sum_j (x_j - mean)^2 / N (biased), from a second pass
// Source   Ba, Kiros, Hinton, arXiv 1607.06450v1, eq. 4
// Shapes   x, y [R,N]; gain, bias [N]
// Values   a row of equal values (and so N = 1) becomes the bias; NaN or Inf makes its row NaN
// Writes   y, which may be x; kept, all of it
void layer_norm_forward(ConstMatrix x, ConstVector gain, ConstVector bias, Matrix y,
                        const LayerNormRows& kept) noexcept;

struct LayerNormGradients {
  Matrix d_x;  // null: not wanted
  Vector d_gain, d_bias;
};

// Gradients from those of y. With h = (x - mean) scale and g = d_y * gain:
//
// Math     d_x += scale (g - sum_j g_j / N - h sum_j g_j h_j / N); d_gain += d_y * h and
//          d_bias += d_y, one chain of additions per column in row order
// Shapes   as forward; x and `kept` are those of forward
// Writes   accumulates; nothing may alias
void layer_norm_backward(ConstMatrix x, ConstVector gain, const LayerNormRows& kept,
                         ConstMatrix d_y, const LayerNormGradients& gradients) noexcept;

}  // namespace regard
