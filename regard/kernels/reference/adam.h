// kernels/adam.h as plain loops: the specification.
#pragma once

#include <cmath>

#include "regard/kernels/adam.h"

namespace regard::reference {

template <class T>
void adam_update(const AdamStep& step, const T* gradient, T* parameter, T* m, T* v, Index n) {
  for (Index i = 0; i < n; ++i) {
    const T g = T(step.gradient_scale) * gradient[i];
    m[i] = T(step.beta1) * m[i] + (T(1) - T(step.beta1)) * g;
    v[i] = T(step.beta2) * v[i] + (T(1) - T(step.beta2)) * g * g;
    const T size = std::sqrt(v[i] / T(step.bias2)) + T(step.epsilon);
    parameter[i] -= T(step.rate) / T(step.bias1) * m[i] / size;
  }
}

template <class T>
double sum_of_squares(const T* x, Index n) {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

template <class T>
bool all_finite(const T* x, Index n) {
  for (Index i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return false;
  }
  return true;
}

}  // namespace regard::reference
