// normalizer.h as plain loops over one row, templated on float and double: the specification.
// Thresholds are found by sorting or bisection. The stateful kinds are in monotonic.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "regard/attention/reference/monotonic.h"

namespace regard::attention::reference {

// The keys that take part: live, and for local within the window.
template <class T>
std::vector<std::size_t> keys_of(const NormalizerRow<T>& row) {
  std::vector<std::size_t> keys;
  for (std::size_t j = 0; j < row.live.size(); ++j) {
    const bool local = row.normalizer.kind == NormalizerKind::kLocal;
    const bool inside = !local || std::fabs(T(j) - row.center) <= T(row.normalizer.window);
    if (row.live[j] && inside) keys.push_back(j);
  }
  return keys;
}

// Algorithm 1 of Martins and Astudillo.
template <class T>
std::vector<T> sparsemax(const std::vector<T>& e) {
  std::vector<T> z(e);
  const T top = *std::max_element(z.begin(), z.end());
  for (T& x : z) x -= top;
  std::vector<T> sorted(z);
  std::sort(sorted.begin(), sorted.end(), std::greater<T>());
  T sum = 0, tau = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    if (T(1) + T(k + 1) * sorted[k] > sum) tau = (sum - T(1)) / T(k + 1);
  }
  for (T& x : z) x = std::max(x - tau, T(0));
  return z;
}

// Algorithm 2 of Peters et al.: the first size of a support whose threshold keeps it as it is.
template <class T>
std::vector<T> entmax15(const std::vector<T>& e) {
  std::vector<T> z(e);
  const T top = *std::max_element(z.begin(), z.end());
  for (T& x : z) x = (x - top) / T(2);
  std::vector<T> sorted(z);
  std::sort(sorted.begin(), sorted.end(), std::greater<T>());
  T sum = 0, squares = 0, tau = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    squares += sorted[k] * sorted[k];
    const T n = T(k + 1), mean = sum / n;
    const T inner = (T(1) - (squares - sum * mean)) / n;
    tau = mean - std::sqrt(std::max(inner, T(0)));
    if (k + 1 == sorted.size() || sorted[k + 1] <= tau) break;
  }
  for (T& x : z) x = std::max(x - tau, T(0)) * std::max(x - tau, T(0));
  return z;
}

// By bisection of m, the largest weight: w = (m^a - a (max - e))+^(1/a), a = alpha - 1. Where the
// slope at a key's entry is infinite, what is missing between neighbouring m goes by their mixture.
template <class T>
std::vector<T> entmax(const std::vector<T>& e, T alpha) {
  const T a = alpha - T(1), top = *std::max_element(e.begin(), e.end());
  const auto weight = [&](T m, T x) {
    const T y = T(1) - a * (top - x) * std::pow(m, -a);
    return y > T(0) ? m * std::pow(y, T(1) / a) : T(0);
  };
  const auto sum_at = [&](T m) {
    T sum = 0;
    for (const T x : e) sum += weight(m, x);
    return sum;
  };
  T low = T(1) / T(2 * e.size()), high = 1;
  for (int i = 0; i < 60; ++i) {
    const T m = (low + high) / T(2);
    (sum_at(m) < T(1) ? low : high) = m;
  }
  const T low_sum = sum_at(low), high_sum = sum_at(high);
  const T part = high_sum > low_sum ? (T(1) - low_sum) / (high_sum - low_sum) : T(1);
  std::vector<T> w(e);
  for (T& x : w) {
    const T lower = weight(low, x);
    x = lower + part * (weight(high, x) - lower);
  }
  return w;
}

template <class T>
T gaussian(const NormalizerRow<T>& row, std::size_t j) {
  const T d = T(row.normalizer.window), x = T(j) - row.center;
  return std::exp(-T(2) * x * x / (d * d));
}

// Weights of the scores of the keys that take part; not for stateful kinds.
template <class T>
std::vector<T> weights_of(const NormalizerRow<T>& row, const std::vector<T>& e, T* log_sum_exp) {
  const T temperature = T(row.normalizer.temperature);
  switch (row.normalizer.kind) {
    case NormalizerKind::kSparsemax:
      return sparsemax(e);
    case NormalizerKind::kEntmax15:
      return entmax15(e);
    case NormalizerKind::kEntmax:
      return entmax(e, row.alpha);
    case NormalizerKind::kHardmax: {
      std::vector<T> w(e.size(), T(0));
      w[static_cast<std::size_t>(std::max_element(e.begin(), e.end()) - e.begin())] = 1;
      return w;
    }
    case NormalizerKind::kSigmoid: {
      std::vector<T> w(e);
      for (T& x : w) x = T(1) / (T(1) + std::exp(-x));
      return w;
    }
    default:
      return softmax(e, temperature, log_sum_exp);
  }
}

template <class T>
void normalizer_forward(const NormalizerRow<T>& row, const T* scores,
                        const NormalizerOutputs<T>& out) {
  const NormalizerKind kind = row.normalizer.kind;
  const bool has_sum = kind == NormalizerKind::kSoftmax || kind == NormalizerKind::kLocal;
  std::fill(out.weights, out.weights + row.live.size(), T(0));
  if (has_sum && out.log_sum_exp != nullptr) {
    *out.log_sum_exp = -std::numeric_limits<T>::infinity();
  }
  if (row.normalizer.stateful()) return monotonic_forward(row, scores, out);
  const std::vector<std::size_t> keys = keys_of(row);
  if (keys.empty()) return;
  const std::vector<T> w = weights_of(row, pick(scores, keys), has_sum ? out.log_sum_exp : nullptr);
  for (std::size_t n = 0; n < keys.size(); ++n) {
    out.weights[keys[n]] = kind == NormalizerKind::kLocal ? w[n] * gaussian(row, keys[n]) : w[n];
  }
}

// sum_j g_j dw_j / d_alpha; Correia et al., proposition 1.
template <class T>
T alpha_gradient(const std::vector<T>& w, const std::vector<T>& g, T alpha) {
  T total = 0, entropy = 0, sum = 0;
  for (const T x : w) {
    if (x > T(0)) {
      total += std::pow(x, T(2) - alpha);
      entropy -= x * std::log(x);
    }
  }
  const T a = alpha - T(1);
  for (std::size_t n = 0; n < w.size(); ++n) {
    if (!(w[n] > T(0))) continue;
    const T p = std::pow(w[n], T(2) - alpha) / total, h = -w[n] * std::log(w[n]);
    sum += g[n] * ((w[n] - p) / (a * a) + (h - p * entropy) / a);
  }
  return sum;
}

// Of kinds without state: g, the gradient of the weights of `keys`, becomes that of the scores.
template <class T>
void scores_backward(const NormalizerRow<T>& row, const std::vector<T>& e, std::vector<T>& g) {
  const Normalizer& n = row.normalizer;
  if (n.kind == NormalizerKind::kHardmax && !n.straight_through) {
    std::fill(g.begin(), g.end(), T(0));
    return;
  }
  const bool soft = n.kind == NormalizerKind::kSoftmax || n.kind == NormalizerKind::kLocal ||
                    n.kind == NormalizerKind::kHardmax;
  std::vector<T> s = soft ? softmax(e, T(n.temperature)) : weights_of<T>(row, e, nullptr);
  if (n.kind == NormalizerKind::kSigmoid) {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] *= s[i] * (T(1) - s[i]);
    return;
  }
  const T power = n.kind == NormalizerKind::kSparsemax  ? T(0)
                  : n.kind == NormalizerKind::kEntmax15 ? T(0.5)
                  : n.kind == NormalizerKind::kEntmax   ? T(2) - row.alpha
                                                        : T(1);
  for (T& x : s) x = x > T(0) ? std::pow(x, power) : T(0);
  centre_by(s, g);
  for (T& x : g) x /= soft ? T(n.temperature) : T(1);
}

template <class T>
void normalizer_backward(const NormalizerRow<T>& row, const T* scores,
                         const NormalizerRowGradients<T>& out) {
  if (row.normalizer.stateful()) return monotonic_backward(row, scores, out);
  const std::vector<std::size_t> keys = keys_of(row);
  if (keys.empty()) return;
  const std::vector<T> e = pick(scores, keys);
  std::vector<T> g = pick(out.d_weights, keys);
  if (row.normalizer.kind == NormalizerKind::kLocal) {
    const std::vector<T> soft = softmax(e, T(row.normalizer.temperature));
    const T d = T(row.normalizer.window);
    for (std::size_t n = 0; n < keys.size(); ++n) {
      g[n] *= gaussian(row, keys[n]);
      const T slope = T(4) * (T(keys[n]) - row.center) / (d * d);
      if (out.d_center != nullptr) *out.d_center += g[n] * soft[n] * slope;
    }
  }
  if (row.normalizer.kind == NormalizerKind::kEntmax && out.d_alpha != nullptr) {
    *out.d_alpha += alpha_gradient(entmax(e, row.alpha), g, row.alpha);
  }
  scores_backward(row, e, g);
  for (std::size_t n = 0; out.d_scores != nullptr && n < keys.size(); ++n) {
    out.d_scores[keys[n]] += g[n];
  }
}

}  // namespace regard::attention::reference
