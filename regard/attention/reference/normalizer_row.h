// One row as the reference normalisers take it, and what they share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "regard/attention/normalizer.h"

namespace regard::attention::reference {

// A row apart from its scores; arrays are [S], S = live.size().
template <class T>
struct NormalizerRow {
  Normalizer normalizer;
  T alpha = T(1.5);  // in place of normalizer.alpha
  std::vector<bool> live;
  const T* state = nullptr;         // null: all weight on key 0
  const T* chunk_scores = nullptr;  // null: the scores
  T center = T(0);
};

template <class T>
struct NormalizerOutputs {
  T* weights = nullptr;
  T* next_state = nullptr;   // may be null, as log_sum_exp
  T* log_sum_exp = nullptr;  // of kinds that have none: untouched
};

// All but d_weights may be null; outputs accumulate.
template <class T>
struct NormalizerRowGradients {
  const T* d_weights = nullptr;
  const T* d_next_state = nullptr;
  T* d_scores = nullptr;
  T* d_state = nullptr;
  T* d_chunk_scores = nullptr;
  T* d_center = nullptr;
  T* d_alpha = nullptr;
};

template <class T>
std::vector<T> softmax(const std::vector<T>& e, T temperature, T* log_sum_exp = nullptr) {
  std::vector<T> w(e);
  T top = -std::numeric_limits<T>::infinity(), sum = 0;
  for (T& x : w) top = std::max(top, x /= temperature);
  for (T& x : w) sum += x = std::exp(x - top);
  for (T& x : w) x /= sum;
  if (log_sum_exp != nullptr) *log_sum_exp = top + std::log(sum);
  return w;
}

template <class T>
std::vector<T> pick(const T* x, const std::vector<std::size_t>& keys) {
  std::vector<T> out;
  for (const std::size_t j : keys) out.push_back(x[j]);
  return out;
}

// g becomes s (g - sum(s g) / sum(s)).
template <class T>
void centre_by(const std::vector<T>& s, std::vector<T>& g) {
  T sum = 0, total = 0;
  for (std::size_t n = 0; n < g.size(); ++n) {
    sum += s[n] * g[n];
    total += s[n];
  }
  for (std::size_t n = 0; n < g.size(); ++n) g[n] = s[n] * (g[n] - sum / total);
}

}  // namespace regard::attention::reference
