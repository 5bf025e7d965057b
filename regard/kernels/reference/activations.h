// kernels/activations.h as plain loops: the specification.
#pragma once

#include <cmath>

#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
T logistic(T x) {
  return x < T(0) ? std::exp(x) / (T(1) + std::exp(x)) : T(1) / (T(1) + std::exp(-x));
}

template <class T>
void tanh_forward(MatrixView<const T> x, MatrixView<T> y) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) y(r, j) = std::tanh(x(r, j));
  }
}

template <class T>
void logistic_forward(MatrixView<const T> x, MatrixView<T> y) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) y(r, j) = logistic(x(r, j));
  }
}

template <class T>
void relu_forward(MatrixView<const T> x, MatrixView<T> y) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) y(r, j) = x(r, j) < T(0) ? T(0) : x(r, j);
  }
}

template <class T>
void tanh_backward(MatrixView<const T> y, MatrixView<const T> d_y, MatrixView<T> d_x) {
  for (Index r = 0; r < y.rows; ++r) {
    for (Index j = 0; j < y.cols; ++j) d_x(r, j) += d_y(r, j) * (T(1) - y(r, j) * y(r, j));
  }
}

template <class T>
void logistic_backward(MatrixView<const T> y, MatrixView<const T> d_y, MatrixView<T> d_x) {
  for (Index r = 0; r < y.rows; ++r) {
    for (Index j = 0; j < y.cols; ++j) d_x(r, j) += d_y(r, j) * y(r, j) * (T(1) - y(r, j));
  }
}

template <class T>
void relu_backward(MatrixView<const T> y, MatrixView<const T> d_y, MatrixView<T> d_x) {
  for (Index r = 0; r < y.rows; ++r) {
    for (Index j = 0; j < y.cols; ++j) d_x(r, j) += y(r, j) > T(0) ? d_y(r, j) : y(r, j);
  }
}

}  // namespace regard::reference
