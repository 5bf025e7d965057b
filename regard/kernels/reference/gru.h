// kernels/gru.h as plain loops: the specification. Sequences run one by one, from their own first
// to their own last position, with U [3H,H] as it is stored.
#pragma once

#include <cmath>
#include <vector>

#include "regard/kernels/packing.h"
#include "regard/kernels/reference/activations.h"
#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
void gru_cell_forward(MatrixView<const T> gi, MatrixView<const T> gh, MatrixView<const T> h_prev,
                      MatrixView<T> h, MatrixView<T> gates) {
  const Index width = h.cols;
  for (Index b = 0; b < h.rows; ++b) {
    for (Index j = 0; j < width; ++j) {
      const T r = logistic(gi(b, j) + gh(b, j));
      const T z = logistic(gi(b, width + j) + gh(b, width + j));
      const T gh_n = gh(b, 2 * width + j);
      const T n = std::tanh(gi(b, 2 * width + j) + r * gh_n);
      h(b, j) = (T(1) - z) * n + z * h_prev(b, j);
      const T kept[] = {r, z, n, gh_n};
      for (Index k = 0; gates.data != nullptr && k < 4; ++k) gates(b, k * width + j) = kept[k];
    }
  }
}

template <class T>
void gru_cell_backward(MatrixView<const T> gates, MatrixView<const T> h_prev,
                       MatrixView<const T> d_h, MatrixView<T> d_gi, MatrixView<T> d_gh,
                       MatrixView<T> d_h_prev) {
  const Index width = d_h.cols;
  for (Index b = 0; b < d_h.rows; ++b) {
    for (Index j = 0; j < width; ++j) {
      const T r = gates(b, j), z = gates(b, width + j), n = gates(b, 2 * width + j);
      const T gh_n = gates(b, 3 * width + j);
      const T d = d_h(b, j);
      const T d_n = d * (T(1) - z) * (T(1) - n * n);
      const T d_z = d * (h_prev(b, j) - n) * z * (T(1) - z);
      const T d_r = d_n * gh_n * r * (T(1) - r);
      d_gi(b, j) = d_gh(b, j) = d_r;
      d_gi(b, width + j) = d_gh(b, width + j) = d_z;
      d_gi(b, 2 * width + j) = d_n;
      d_gh(b, 2 * width + j) = d_n * r;
      d_h_prev(b, j) += z * d;
    }
  }
}

// The rows of sequence b in the order in which they run.
inline std::vector<Index> rows_of_sequence(const Packing& packing, bool reverse, Index b) {
  std::vector<Index> rows;
  for (Index i = 0; i < packing.steps; ++i) {
    const Index t = reverse ? packing.steps - 1 - i : i;
    if (b < packing.rows(t)) rows.push_back(packing.offsets[t] + b);
  }
  return rows;
}

template <class T>
struct GruSequence {
  Packing packing;
  bool reverse = false;
  MatrixView<const T> h0;  // null: zeros
};

template <class T>
void gru_sequence_forward(const GruSequence<T>& sequence, MatrixView<const T> gi,
                          MatrixView<const T> u, VectorView<const T> u_bias, MatrixView<T> h,
                          MatrixView<T> h_prev, MatrixView<T> gates) {
  const Index width = h.cols;
  std::vector<T> gh(static_cast<std::size_t>(3 * width));
  const MatrixView<T> gh_row(gh.data(), 1, 3 * width);
  for (Index b = 0; b < sequence.packing.max_rows(); ++b) {
    Index before = -1;
    for (const Index row : rows_of_sequence(sequence.packing, sequence.reverse, b)) {
      const T* start = sequence.h0.data != nullptr ? sequence.h0.row(b) : nullptr;
      const T* state = before >= 0 ? h.row(before) : start;
      for (Index j = 0; j < width; ++j) h_prev(row, j) = state != nullptr ? state[j] : T(0);
      for (Index g = 0; g < 3 * width; ++g) {
        gh_row(0, g) = u_bias[g];
        for (Index k = 0; k < width; ++k) gh_row(0, g) += u(g, k) * h_prev(row, k);
      }
      gru_cell_forward<T>(gi.row_slice(row, 1), gh_row, h_prev.row_slice(row, 1),
                          h.row_slice(row, 1), gates.row_slice(row, 1));
      before = row;
    }
  }
}

template <class T>
void gru_sequence_backward(const GruSequence<T>& sequence, MatrixView<const T> u,
                           MatrixView<const T> h_prev, MatrixView<const T> gates,
                           MatrixView<const T> d_h, MatrixView<T> d_gi, MatrixView<T> d_gh,
                           MatrixView<T> d_h0) {
  const Index width = d_h.cols;
  for (Index b = 0; b < sequence.packing.max_rows(); ++b) {
    const std::vector<Index> rows = rows_of_sequence(sequence.packing, sequence.reverse, b);
    std::vector<T> carry(static_cast<std::size_t>(width), T(0)), d(carry);
    const MatrixView<T> carry_row(carry.data(), 1, width), d_row(d.data(), 1, width);
    for (std::size_t i = rows.size(); i-- > 0;) {
      const Index row = rows[i];
      for (Index j = 0; j < width; ++j) {
        d_row(0, j) = d_h(row, j) + carry_row(0, j);
        carry_row(0, j) = 0;
      }
      gru_cell_backward<T>(gates.row_slice(row, 1), h_prev.row_slice(row, 1), d_row,
                           d_gi.row_slice(row, 1), d_gh.row_slice(row, 1), carry_row);
      for (Index k = 0; k < width; ++k) {
        for (Index g = 0; g < 3 * width; ++g) carry_row(0, k) += d_gh(row, g) * u(g, k);
      }
    }
    for (Index j = 0; d_h0.data != nullptr && j < width; ++j) d_h0(b, j) += carry_row(0, j);
  }
}

}  // namespace regard::reference
