// kernels/rows.h as plain loops: the specification.
#pragma once

#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
void copy_rows(MatrixView<const T> x, MatrixView<T> y) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) y(r, j) = x(r, j);
  }
}

template <class T>
void add_rows(MatrixView<const T> x, MatrixView<T> y) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) y(r, j) += x(r, j);
  }
}

template <class T>
void gather_rows(MatrixView<const T> x, const Index* index, MatrixView<T> y) {
  for (Index r = 0; r < y.rows; ++r) {
    for (Index j = 0; j < y.cols; ++j) y(r, j) = index[r] < 0 ? T(0) : x(index[r], j);
  }
}

template <class T>
void scatter_add_rows(MatrixView<const T> d_y, const Index* index, MatrixView<T> d_x) {
  for (Index r = 0; r < d_y.rows; ++r) {
    for (Index j = 0; j < d_y.cols; ++j) {
      if (index[r] >= 0) d_x(index[r], j) += d_y(r, j);
    }
  }
}

template <class T>
void column_sums(MatrixView<const T> x, VectorView<T> sum) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) sum[j] += x(r, j);
  }
}

template <class T>
void fill(MatrixView<T> x, T value) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) x(r, j) = value;
  }
}

template <class T>
void scale(MatrixView<T> x, T factor) {
  for (Index r = 0; r < x.rows; ++r) {
    for (Index j = 0; j < x.cols; ++j) x(r, j) *= factor;
  }
}

}  // namespace regard::reference
