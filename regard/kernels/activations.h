// tanh, the logistic function and the rectifier on matrices, with gradients from the outputs.
#pragma once

#include "regard/tensor/view.h"

namespace regard {

// y = tanh(x), y = 1 / (1 + exp(-x)), y = x < 0 ? 0 : x.
//
// Shapes   x, y [R,C], any row stride
// Values   at most 2 ulp from the exact value; NaN propagates
// Writes   y, all of it; y may be x
// Threads  safe at once on different outputs
void tanh_forward(ConstMatrix x, Matrix y) noexcept;
void logistic_forward(ConstMatrix x, Matrix y) noexcept;
void relu_forward(ConstMatrix x, Matrix y) noexcept;

// d_x += d_y (1 - y^2), d_x += d_y y (1 - y), d_x += y > 0 ? d_y : 0, from the outputs y alone.
//
// Shapes   y, d_y, d_x [R,C]
// Writes   accumulates into d_x, which may not alias
void tanh_backward(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept;
void logistic_backward(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept;
void relu_backward(ConstMatrix y, ConstMatrix d_y, Matrix d_x) noexcept;

}  // namespace regard
