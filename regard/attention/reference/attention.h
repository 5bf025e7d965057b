// attention.h as plain loops, templated on float and double: the specification.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "regard/attention/attention.h"

namespace regard::attention::reference {

template <class T>
struct Call {
  ScoreKind kind;
  T scale;
  VectorView<const T> v;
  MatrixView<const T> w;
  MatrixView<const T> keys;
  MatrixView<const T> values;
  RaggedRows rows;
  MatrixView<const T> query;
  const Index* key_row;
};

template <class T>
struct Outputs {
  MatrixView<T> context, weights, raw_scores;
  VectorView<T> log_sum_exp;
};

template <class T>
struct Gradients {
  MatrixView<T> d_query, d_keys, d_values, d_w;
  VectorView<T> d_v;
};

// q W for the general score, else q.
template <class T>
std::vector<T> scored_query(const Call<T>& c, Index i) {
  const T* q = c.query.row(i);
  if (c.kind != ScoreKind::kGeneral) return {q, q + c.query.cols};
  std::vector<T> out(static_cast<std::size_t>(c.w.cols), T(0));
  for (Index a = 0; a < c.w.rows; ++a) {
    for (Index d = 0; d < c.w.cols; ++d) out[static_cast<std::size_t>(d)] += q[a] * c.w(a, d);
  }
  return out;
}

template <class T>
T factor(const Call<T>& c) {
  const bool scaled = c.kind == ScoreKind::kScaledDot && c.keys.cols > 0;
  return scaled ? c.scale / std::sqrt(T(c.keys.cols)) : c.scale;
}

template <class T>
T score(const Call<T>& c, const T* q, const T* k) {
  T sum = 0;
  for (Index a = 0; a < c.keys.cols; ++a) {
    sum += c.kind == ScoreKind::kAdditive ? c.v[a] * std::tanh(q[a] + k[a]) : q[a] * k[a];
  }
  return factor(c) * sum;
}

template <class T>
void attend_forward(const Call<T>& c, const Outputs<T>& out) {
  for (Index i = 0; i < c.query.rows; ++i) {
    const Index start = c.rows.start[c.key_row[i]];
    const Index length = c.rows.length[c.key_row[i]];
    for (Index d = 0; d < out.context.cols; ++d) out.context(i, d) = 0;
    for (Index j = 0; j < out.weights.cols; ++j) out.weights(i, j) = out.raw_scores(i, j) = 0;
    out.log_sum_exp[i] = -std::numeric_limits<T>::infinity();
    if (length == 0) continue;
    const std::vector<T> q = scored_query(c, i);
    T largest = -std::numeric_limits<T>::infinity();
    for (Index j = 0; j < length; ++j) {
      const T e = score(c, q.data(), c.keys.row(start + j));
      out.raw_scores(i, j) = e;
      largest = largest < e ? e : largest;
    }
    T sum = 0;
    for (Index j = 0; j < length; ++j) sum += std::exp(out.raw_scores(i, j) - largest);
    out.log_sum_exp[i] = largest + std::log(sum);
    for (Index j = 0; j < length; ++j) {
      out.weights(i, j) = std::exp(out.raw_scores(i, j) - largest) / sum;
      for (Index d = 0; d < c.values.cols; ++d) {
        out.context(i, d) += out.weights(i, j) * c.values(start + j, d);
      }
    }
  }
}

template <class T>
struct Pair {
  const T* q;
  const T* k;
  T* d_q;
  T* d_k;
};

// One pair's part of the gradients, given the gradient of its score.
template <class T>
void score_backward(const Call<T>& c, const Pair<T>& pair, T d_e, VectorView<T> d_v) {
  const auto [q, k, d_q, d_k] = pair;
  d_e *= factor(c);
  for (Index a = 0; a < c.keys.cols; ++a) {
    if (c.kind == ScoreKind::kAdditive) {
      const T t = std::tanh(q[a] + k[a]);
      const T d_z = d_e * c.v[a] / std::pow(std::cosh(q[a] + k[a]), T(2));
      d_v[a] += d_e * t;
      d_q[a] += d_z;
      d_k[a] += d_z;
    } else {
      d_q[a] += d_e * k[a];
      d_k[a] += d_e * q[a];
    }
  }
}

// From d_context and d_weights; every gradient accumulates.
template <class T>
void attend_backward(const Call<T>& c, MatrixView<const T> weights, MatrixView<const T> d_context,
                     MatrixView<const T> d_weights, const Gradients<T>& g) {
  for (Index i = 0; i < c.query.rows; ++i) {
    const Index start = c.rows.start[c.key_row[i]];
    const Index length = c.rows.length[c.key_row[i]];
    const std::vector<T> q = scored_query(c, i);
    std::vector<T> d_q(q.size(), T(0)), d_w(static_cast<std::size_t>(length));
    T mean = 0;
    for (Index j = 0; j < length; ++j) {
      T& d = d_w[static_cast<std::size_t>(j)] = d_weights(i, j);
      for (Index n = 0; n < c.values.cols; ++n) {
        d += d_context(i, n) * c.values(start + j, n);
        g.d_values(start + j, n) += weights(i, j) * d_context(i, n);
      }
      mean += weights(i, j) * d;
    }
    for (Index j = 0; j < length; ++j) {
      const T d_e = weights(i, j) * (d_w[static_cast<std::size_t>(j)] - mean);
      score_backward<T>(c, {q.data(), c.keys.row(start + j), d_q.data(), g.d_keys.row(start + j)},
                        d_e, g.d_v);
    }
    if (c.kind != ScoreKind::kGeneral) {
      for (Index a = 0; a < c.query.cols; ++a) g.d_query(i, a) += d_q[static_cast<std::size_t>(a)];
      continue;
    }
    for (Index a = 0; a < c.w.rows; ++a) {
      for (Index d = 0; d < c.w.cols; ++d) {
        g.d_query(i, a) += d_q[static_cast<std::size_t>(d)] * c.w(a, d);
        g.d_w(a, d) += c.query(i, a) * d_q[static_cast<std::size_t>(d)];
      }
    }
  }
}

}  // namespace regard::attention::reference
