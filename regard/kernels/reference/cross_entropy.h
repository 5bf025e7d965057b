// kernels/cross_entropy.h as plain loops: the specification.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "regard/tensor/view.h"

namespace regard::reference {

template <class T>
T log_sum_exp(const T* x, Index n) {
  T largest = x[0], sum = 0;
  for (Index j = 1; j < n; ++j) largest = largest < x[j] ? x[j] : largest;
  for (Index j = 0; j < n; ++j) sum += std::exp(x[j] - largest);
  return largest + std::log(sum);
}

template <class T>
void log_softmax_rows(MatrixView<T> logits) {
  for (Index r = 0; r < logits.rows; ++r) {
    const T total = log_sum_exp(static_cast<const T*>(logits.row(r)), logits.cols);
    for (Index j = 0; j < logits.cols; ++j) logits(r, j) -= total;
  }
}

// The layer with plain w [V,U]; a null d_w: no gradients.
template <class T>
struct LinearCrossEntropy {
  MatrixView<const T> w;
  VectorView<const T> bias;
  T label_smoothing = 0;
};

template <class T>
void linear_cross_entropy(const LinearCrossEntropy<T>& layer, MatrixView<const T> t,
                          const std::int32_t* target, VectorView<T> token_log_prob,
                          VectorView<T> token_loss, MatrixView<T> d_t, MatrixView<T> d_w,
                          VectorView<T> d_bias) {
  const Index vocabulary = layer.w.rows, width = layer.w.cols;
  std::vector<T> log_prob(static_cast<std::size_t>(vocabulary));
  for (Index r = 0; r < t.rows; ++r) {
    for (Index v = 0; v < vocabulary; ++v) {
      T logit = layer.bias[v];
      for (Index k = 0; k < width; ++k) logit += layer.w(v, k) * t(r, k);
      log_prob[static_cast<std::size_t>(v)] = logit;
    }
    log_softmax_rows(MatrixView<T>(log_prob.data(), 1, vocabulary));
    token_log_prob[r] = log_prob[static_cast<std::size_t>(target[r])];
    token_loss[r] = 0;
    for (Index k = 0; d_t.data != nullptr && k < width; ++k) d_t(r, k) = 0;
    for (Index v = 0; v < vocabulary; ++v) {
      const T log_p = log_prob[static_cast<std::size_t>(v)];
      const T wanted = (v == target[r] ? T(1) - layer.label_smoothing : T(0)) +
                       layer.label_smoothing / static_cast<T>(vocabulary);
      token_loss[r] -= wanted * log_p;
      if (d_w.data == nullptr) continue;
      const T d_logit = std::exp(log_p) - wanted;
      d_bias[v] += d_logit;
      for (Index k = 0; k < width; ++k) {
        d_w(v, k) += d_logit * t(r, k);
        if (d_t.data != nullptr) d_t(r, k) += d_logit * layer.w(v, k);
      }
    }
  }
}

}  // namespace regard::reference
