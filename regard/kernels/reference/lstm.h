// kernels/lstm.h as plain loops: the specification. Sequences run one by one, from their own first
// to their own last position, with U [4H,H] as it is stored.
#pragma once

#include <cmath>
#include <vector>

#include "regard/kernels/packing.h"
#include "regard/kernels/reference/activations.h"
#include "regard/kernels/reference/gru.h"
#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
void lstm_cell_forward(MatrixView<const T> gi, MatrixView<const T> gh, MatrixView<const T> c_prev,
                       MatrixView<T> h, MatrixView<T> c, MatrixView<T> gates) {
  const Index width = h.cols;
  for (Index b = 0; b < h.rows; ++b) {
    for (Index j = 0; j < width; ++j) {
      const auto sum = [&](Index gate) {
        return gi(b, gate * width + j) + gh(b, gate * width + j);
      };
      const T i = logistic(sum(0)), f = logistic(sum(1)), g = std::tanh(sum(2));
      const T o = logistic(sum(3));
      c(b, j) = f * c_prev(b, j) + i * g;
      h(b, j) = o * std::tanh(c(b, j));
      const T kept[] = {i, f, g, o};
      for (Index k = 0; gates.data != nullptr && k < 4; ++k) gates(b, k * width + j) = kept[k];
    }
  }
}

// d_c may be null.
template <class T>
void lstm_cell_backward(MatrixView<const T> gates, MatrixView<const T> c_prev,
                        MatrixView<const T> c, MatrixView<const T> d_h, MatrixView<const T> d_c,
                        MatrixView<T> d_gates, MatrixView<T> d_c_prev) {
  const Index width = d_h.cols;
  for (Index b = 0; b < d_h.rows; ++b) {
    for (Index j = 0; j < width; ++j) {
      const T i = gates(b, j), f = gates(b, width + j), g = gates(b, 2 * width + j);
      const T o = gates(b, 3 * width + j);
      const T tanh_c = std::tanh(c(b, j));
      const T arriving = d_c.data != nullptr ? d_c(b, j) : T(0);
      const T d = arriving + d_h(b, j) * o * (T(1) - tanh_c * tanh_c);
      d_gates(b, j) = d * g * i * (T(1) - i);
      d_gates(b, width + j) = d * c_prev(b, j) * f * (T(1) - f);
      d_gates(b, 2 * width + j) = d * i * (T(1) - g * g);
      d_gates(b, 3 * width + j) = d_h(b, j) * tanh_c * o * (T(1) - o);
      d_c_prev(b, j) += d * f;
    }
  }
}

template <class T>
struct LstmSequence {
  Packing packing;
  bool reverse = false;
  MatrixView<const T> h0, c0;  // null: zeros
};

template <class T>
void lstm_sequence_forward(const LstmSequence<T>& sequence, MatrixView<const T> gi,
                           MatrixView<const T> u, VectorView<const T> u_bias, MatrixView<T> h,
                           MatrixView<T> h_prev, MatrixView<T> c, MatrixView<T> c_prev,
                           MatrixView<T> gates) {
  const Index width = h.cols;
  std::vector<T> gh(static_cast<std::size_t>(4 * width));
  const MatrixView<T> gh_row(gh.data(), 1, 4 * width);
  for (Index b = 0; b < sequence.packing.max_rows(); ++b) {
    Index before = -1;
    for (const Index row : rows_of_sequence(sequence.packing, sequence.reverse, b)) {
      for (Index j = 0; j < width; ++j) {
        const T h_start = sequence.h0.data != nullptr ? sequence.h0(b, j) : T(0);
        const T c_start = sequence.c0.data != nullptr ? sequence.c0(b, j) : T(0);
        h_prev(row, j) = before >= 0 ? h(before, j) : h_start;
        c_prev(row, j) = before >= 0 ? c(before, j) : c_start;
      }
      for (Index g = 0; g < 4 * width; ++g) {
        gh_row(0, g) = u_bias[g];
        for (Index k = 0; k < width; ++k) gh_row(0, g) += u(g, k) * h_prev(row, k);
      }
      lstm_cell_forward<T>(gi.row_slice(row, 1), gh_row, c_prev.row_slice(row, 1),
                           h.row_slice(row, 1), c.row_slice(row, 1), gates.row_slice(row, 1));
      before = row;
    }
  }
}

template <class T>
void lstm_sequence_backward(const LstmSequence<T>& sequence, MatrixView<const T> u,
                            MatrixView<const T> c, MatrixView<const T> c_prev,
                            MatrixView<const T> gates, MatrixView<const T> d_h,
                            MatrixView<T> d_gates, MatrixView<T> d_h0, MatrixView<T> d_c0) {
  const Index width = d_h.cols;
  for (Index b = 0; b < sequence.packing.max_rows(); ++b) {
    const std::vector<Index> rows = rows_of_sequence(sequence.packing, sequence.reverse, b);
    const std::vector<T> zeros(static_cast<std::size_t>(width), T(0));
    std::vector<T> carry_h(zeros), carry_c(zeros), d(zeros), d_c(zeros);
    const MatrixView<T> carry_h_row(carry_h.data(), 1, width), d_row(d.data(), 1, width);
    const MatrixView<T> carry_c_row(carry_c.data(), 1, width), d_c_row(d_c.data(), 1, width);
    for (std::size_t i = rows.size(); i-- > 0;) {
      const Index row = rows[i];
      for (Index j = 0; j < width; ++j) d_row(0, j) = d_h(row, j) + carry_h_row(0, j);
      d_c = carry_c;
      carry_h = carry_c = zeros;
      lstm_cell_backward<T>(gates.row_slice(row, 1), c_prev.row_slice(row, 1), c.row_slice(row, 1),
                            d_row, d_c_row, d_gates.row_slice(row, 1), carry_c_row);
      for (Index k = 0; k < width; ++k) {
        for (Index g = 0; g < 4 * width; ++g) carry_h_row(0, k) += d_gates(row, g) * u(g, k);
      }
    }
    for (Index j = 0; j < width; ++j) {
      if (d_h0.data != nullptr) d_h0(b, j) += carry_h_row(0, j);
      if (d_c0.data != nullptr) d_c0(b, j) += carry_c_row(0, j);
    }
  }
}

}  // namespace regard::reference
