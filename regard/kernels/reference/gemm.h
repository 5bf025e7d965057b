// The matrix product as plain loops: the specification of kernels/gemm.h. In float, the same bits
// as the fast one wherever the processor has a fused multiply-add.
#pragma once

#include <cmath>

#include "regard/kernels/gemm.h"

namespace regard::reference {

// c[i,j] = fma chain over k in index order, from zero, bias[j] or the old c[i,j]. a(i, k) and
// b(k, j) are callables, so that one loop serves every transposition.
template <class T, class A, class B>
void multiply(A a, B b, Index inner, ChainStart start, VectorView<const T> bias, MatrixView<T> c) {
  for (Index i = 0; i < c.rows; ++i) {
    for (Index j = 0; j < c.cols; ++j) {
      T sum = start == ChainStart::kZero ? T(0) : start == ChainStart::kBias ? bias[j] : c(i, j);
      for (Index k = 0; k < inner; ++k) sum = std::fma(a(i, k), b(k, j), sum);
      c(i, j) = sum;
    }
  }
}

// A [M,K] B [K,N], both row-major.
template <class T>
void gemm(MatrixView<const T> a, MatrixView<const T> b, ChainStart start, VectorView<const T> bias,
          MatrixView<T> c) {
  multiply<T>([&](Index i, Index k) { return a(i, k); }, [&](Index k, Index j) { return b(k, j); },
              a.cols, start, bias, c);
}

// A^T B for A [K,M], B [K,N].
template <class T>
void gemm_at_b(MatrixView<const T> a, MatrixView<const T> b, ChainStart start, MatrixView<T> c) {
  multiply<T>([&](Index i, Index k) { return a(k, i); }, [&](Index k, Index j) { return b(k, j); },
              a.rows, start, {}, c);
}

// A B^T for A [M,K], B [N,K].
template <class T>
void gemm_a_bt(MatrixView<const T> a, MatrixView<const T> b, ChainStart start, MatrixView<T> c) {
  multiply<T>([&](Index i, Index k) { return a(i, k); }, [&](Index k, Index j) { return b(j, k); },
              a.cols, start, {}, c);
}

}  // namespace regard::reference
