// bias.h as plain loops, templated on float and double: the specification.
#pragma once

#include <algorithm>
#include <cmath>

#include "regard/attention/bias.h"

namespace regard::attention::reference {

template <class T>
struct BiasValues {
  BiasKind kind = BiasKind::kNone;
  MatrixView<const T> dense;
  DenseRows dense_rows = DenseRows::kRow;
  VectorView<const T> slopes;
  MatrixView<const T> table;
};

template <class T>
struct BiasSums {
  MatrixView<T> d_dense;
  VectorView<T> d_slopes;
  MatrixView<T> d_table;
};

inline Index dense_row(DenseRows rows, const RowPlace& p) {
  const Index by_kind[] = {0, p.position, p.row, p.sentence, p.head};
  return by_kind[static_cast<int>(rows)];
}

// Where in the table query i finds key j.
inline Index relative_entry(Index cols, Index i, Index j) {
  const Index half_width = (cols - 1) / 2;
  return std::min(std::max(j - i, -half_width), half_width) + half_width;
}

template <class T>
T bias_value(const BiasValues<T>& b, const RowPlace& p, Index j) {
  switch (b.kind) {
    case BiasKind::kDense:
      return b.dense(dense_row(b.dense_rows, p), j);
    case BiasKind::kAlibi:
      return -b.slopes[p.head] * std::fabs(T(p.position - j));
    case BiasKind::kRelative:
      return b.table(b.table.rows == 1 ? 0 : p.head, relative_entry(b.table.cols, p.position, j));
    case BiasKind::kNone:
      break;
  }
  return T(0);
}

// Adds what the gradient d_e of the score at (place, j) gives to the bias's own values.
template <class T>
void bias_backward(const BiasValues<T>& b, const RowPlace& p, Index j, T d_e,
                   const BiasSums<T>& sums) {
  switch (b.kind) {
    case BiasKind::kDense:
      sums.d_dense(dense_row(b.dense_rows, p), j) += d_e;
      break;
    case BiasKind::kAlibi:
      sums.d_slopes[p.head] -= d_e * std::fabs(T(p.position - j));
      break;
    case BiasKind::kRelative:
      sums.d_table(b.table.rows == 1 ? 0 : p.head, relative_entry(b.table.cols, p.position, j)) +=
          d_e;
      break;
    case BiasKind::kNone:
      break;
  }
}

}  // namespace regard::attention::reference
