// Adam, and the two questions that a trainer asks of a gradient: how large, and is it finite?
#pragma once

#include "regard/tensor/view.h"

namespace regard {

// One update's constants.
struct AdamStep {
  float rate = 1e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float bias1 = 1.0f;  // 1 - beta1^t, t = 1 for the first update
  float bias2 = 1.0f;  // 1 - beta2^t
  float gradient_scale =
      1.0f;  // multiplies every gradient first: clipping and the mean over tokens
};

// Math     g = gradient_scale gradient; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
//          parameter -= (rate / bias1) m / (sqrt(v / bias2) + epsilon)
// Source   Kingma and Ba 2015, arXiv 1412.6980v9, algorithm 1. Dense: an element without gradient
//          moves too
// Shapes   all [n]
// Writes   parameter, m, v
void adam_update(const AdamStep& step, const float* gradient, float* parameter, float* m, float* v,
                 Index n) noexcept;

// sum x^2, in float over blocks of 4,096 (16 partial sums in a fixed tree), in double over blocks
// in index order. Squares beyond float's range give inf.
double sum_of_squares(const float* x, Index n) noexcept;

// True if no element is NaN or infinite.
bool all_finite(const float* x, Index n) noexcept;

}  // namespace regard
