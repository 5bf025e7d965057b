// kernels/layer_norm.h as plain loops: the specification.
#pragma once

#include <cmath>

#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
struct LayerNormRows {
  VectorView<T> mean, scale;
};

template <class T>
struct LayerNormGradients {
  MatrixView<T> d_x;
  VectorView<T> d_gain, d_bias;
};

template <class T>
void layer_norm_forward(MatrixView<const T> x, VectorView<const T> gain, VectorView<const T> bias,
                        MatrixView<T> y, const LayerNormRows<T>& kept) {
  const T n = static_cast<T>(x.cols);
  for (Index r = 0; r < x.rows; ++r) {
    T mean = 0, variance = 0;
    for (Index j = 0; j < x.cols; ++j) mean += x(r, j) / n;
    for (Index j = 0; j < x.cols; ++j) variance += (x(r, j) - mean) * (x(r, j) - mean) / n;
    const T scale = T(1) / std::sqrt(variance + T(1e-5f));
    for (Index j = 0; j < x.cols; ++j) y(r, j) = gain[j] * ((x(r, j) - mean) * scale) + bias[j];
    kept.mean[r] = mean;
    kept.scale[r] = scale;
  }
}

template <class T>
void layer_norm_backward(MatrixView<const T> x, VectorView<const T> gain,
                         const LayerNormRows<T>& kept, MatrixView<const T> d_y,
                         const LayerNormGradients<T>& gradients) {
  const T n = static_cast<T>(x.cols);
  for (Index r = 0; r < x.rows; ++r) {
    const auto h = [&](Index j) { return (x(r, j) - kept.mean[r]) * kept.scale[r]; };
    T mean_g = 0, mean_gh = 0;
    for (Index j = 0; j < x.cols; ++j) {
      mean_g += d_y(r, j) * gain[j] / n;
      mean_gh += d_y(r, j) * gain[j] * h(j) / n;
      gradients.d_gain[j] += d_y(r, j) * h(j);
      gradients.d_bias[j] += d_y(r, j);
    }
    for (Index j = 0; j < x.cols; ++j) {
      gradients.d_x(r, j) += kept.scale[r] * (d_y(r, j) * gain[j] - mean_g - h(j) * mean_gh);
    }
  }
}

}  // namespace regard::reference
