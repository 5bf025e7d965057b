// kernels/dropout.h as plain loops: the specification.
#pragma once

#include "regard/base/random.h"
#include "regard/kernels/dropout.h"

namespace regard::reference {

inline bool dropout_keeps(std::uint64_t key, std::uint32_t position, Index unit, float rate) {
  const auto words = philox(key, position, static_cast<std::uint64_t>(unit / 4));
  return uniform_float(words[static_cast<std::size_t>(unit % 4)]) >= rate;
}

template <class T>
void dropout_forward(MatrixView<const T> x, DropoutRows rows, float rate, MatrixView<T> y) {
  const float keep = 1.0f / (1.0f - rate);
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) {
      y(r, j) = dropout_keeps(rows.key[r], rows.position[r], j, rate) ? x(r, j) * T(keep) : T(0);
    }
  }
}

template <class T>
void dropout_backward(MatrixView<const T> d_y, DropoutRows rows, float rate, MatrixView<T> d_x) {
  const float keep = 1.0f / (1.0f - rate);
  for (Index r = 0; r < d_y.rows; ++r) {
    for (Index j = 0; j < d_y.cols; ++j) {
      if (dropout_keeps(rows.key[r], rows.position[r], j, rate)) d_x(r, j) += d_y(r, j) * T(keep);
    }
  }
}

}  // namespace regard::reference
