// Monotonic attention and MoChA of one row: the recurrence itself, chunks summed one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "regard/attention/reference/normalizer_row.h"

namespace regard::attention::reference {

// p, 0 at masked keys, and q of the exact recurrence.
template <class T>
struct Monotonic {
  std::vector<T> p, q;
};
template <class T>
Monotonic<T> monotonic(const NormalizerRow<T>& row, const T* scores) {
  Monotonic<T> m;
  T q = 0;
  for (std::size_t j = 0; j < row.live.size(); ++j) {
    const T before = row.state != nullptr ? row.state[j] : T(j == 0 ? 1 : 0);
    q = (j == 0 ? T(0) : (T(1) - m.p[j - 1]) * q) + before;
    m.p.push_back(row.live[j] ? T(1) / (T(1) + std::exp(-scores[j])) : T(0));
    m.q.push_back(q);
  }
  return m;
}

// The live keys of chunk k and their softmax.
template <class T>
struct ChunkOf {
  std::vector<std::size_t> keys;
  std::vector<T> soft;
};
template <class T>
ChunkOf<T> chunk(const NormalizerRow<T>& row, const T* scores, std::size_t k) {
  const T* u = row.chunk_scores != nullptr ? row.chunk_scores : scores;
  const auto width = static_cast<std::size_t>(row.normalizer.window);
  ChunkOf<T> c;
  std::vector<T> values;
  c.keys.reserve(std::min(width, k + 1));
  values.reserve(std::min(width, k + 1));
  for (std::size_t l = k + 1 >= width ? k + 1 - width : 0; l <= k; ++l) {
    if (!row.live[l]) continue;
    c.keys.push_back(l);
    values.push_back(u[l]);
  }
  c.soft = softmax(values, T(1));
  return c;
}

template <class T>
void monotonic_forward(const NormalizerRow<T>& row, const T* scores,
                       const NormalizerOutputs<T>& out) {
  const Monotonic<T> m = monotonic(row, scores);
  for (std::size_t k = 0; k < row.live.size(); ++k) {
    const T alpha = m.p[k] * m.q[k];
    if (out.next_state != nullptr) out.next_state[k] = alpha;
    if (row.normalizer.kind == NormalizerKind::kMonotonic) {
      out.weights[k] = alpha;
    } else if (row.live[k]) {
      const ChunkOf<T> c = chunk(row, scores, k);
      for (std::size_t n = 0; n < c.keys.size(); ++n) {
        out.weights[c.keys[n]] += alpha * c.soft[n];
      }
    }
  }
}

template <class T>
void monotonic_backward(const NormalizerRow<T>& row, const T* scores,
                        const NormalizerRowGradients<T>& out) {
  const std::size_t n = row.live.size();
  const Monotonic<T> m = monotonic(row, scores);
  std::vector<T> d_alpha(n, T(0));
  for (std::size_t k = 0; k < n; ++k) {
    if (!row.live[k]) continue;
    if (out.d_next_state != nullptr) d_alpha[k] += out.d_next_state[k];
    if (row.normalizer.kind == NormalizerKind::kMonotonic) {
      d_alpha[k] += out.d_weights[k];
      continue;
    }
    const ChunkOf<T> c = chunk(row, scores, k);
    std::vector<T> d = pick(out.d_weights, c.keys);
    for (std::size_t i = 0; i < d.size(); ++i) d_alpha[k] += c.soft[i] * d[i];
    centre_by(c.soft, d);
    T* d_u = row.chunk_scores != nullptr ? out.d_chunk_scores : out.d_scores;
    for (std::size_t i = 0; d_u != nullptr && i < d.size(); ++i) {
      d_u[c.keys[i]] += m.p[k] * m.q[k] * d[i];
    }
  }
  T after = 0;
  for (std::size_t k = n; k-- > 0;) {
    if (out.d_scores != nullptr) {
      out.d_scores[k] += (d_alpha[k] - after) * m.q[k] * m.p[k] * (T(1) - m.p[k]);
    }
    after = d_alpha[k] * m.p[k] + (T(1) - m.p[k]) * after;
    if (out.d_state != nullptr) out.d_state[k] += after;
  }
}

}  // namespace regard::attention::reference
