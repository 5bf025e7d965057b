// kernels/embedding.h as plain loops: the specification.
#pragma once

#include <cstdint>

#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
void embedding_forward(MatrixView<const T> table, const std::int32_t* ids, MatrixView<T> y) {
  for (Index r = 0; r < y.rows; ++r) {
    for (Index j = 0; j < y.cols; ++j) y(r, j) = table(ids[r], j);
  }
}

template <class T>
void embedding_backward(MatrixView<const T> d_y, const std::int32_t* ids, MatrixView<T> d_table) {
  for (Index r = 0; r < d_y.rows; ++r) {
    for (Index j = 0; j < d_y.cols; ++j) d_table(ids[r], j) += d_y(r, j);
  }
}

}  // namespace regard::reference
