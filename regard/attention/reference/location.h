// location.h as plain loops, templated on float and double: the specification.
#pragma once

#include <cmath>
#include <vector>

#include "regard/tensor/view.h"

namespace regard::attention::reference {

// A query row, the state around which it looks, the keys and the parameters.
template <class T>
struct LocationCall {
  MatrixView<const T> keys;     // [S,A]
  VectorView<const T> query;    // [A]
  VectorView<const T> v;        // [A]
  MatrixView<const T> filters;  // [channels, taps]; null: coverage
  MatrixView<const T> u;        // [A, channels]
  VectorView<const T> state;    // [S]
  T scale;
};

template <class T>
struct LocationGradients {
  MatrixView<T> d_keys;
  VectorView<T> d_query, d_v;
  MatrixView<T> d_filters, d_u;
  VectorView<T> d_state;
};

// fn(t, j') for each tap t of the filter around key j that meets the state, and its place j'.
template <class T, class Fn>
void for_taps(const LocationCall<T>& c, Index j, Fn fn) {
  const Index taps = c.filters.cols;
  for (Index t = 0; t < taps; ++t) {
    const Index place = j + t - taps / 2;
    if (place >= 0 && place < c.state.size) fn(t, place);
  }
}

// f_j of one channel.
template <class T>
T location_feature(const LocationCall<T>& c, Index j, Index channel) {
  if (c.filters.data == nullptr) return c.state[j];
  T sum = 0;
  for_taps(c, j, [&](Index t, Index place) { sum += c.filters(channel, t) * c.state[place]; });
  return sum;
}

// tanh(q + k_j + U f_j) at dim a.
template <class T>
T location_tanh(const LocationCall<T>& c, Index j, Index a) {
  T z = c.query[a] + c.keys(j, a);
  for (Index n = 0; n < c.u.cols; ++n) z += c.u(a, n) * location_feature(c, j, n);
  return std::tanh(z);
}

template <class T>
void location_scores(const LocationCall<T>& c, VectorView<T> scores) {
  for (Index j = 0; j < c.keys.rows; ++j) {
    T sum = 0;
    for (Index a = 0; a < c.keys.cols; ++a) sum += c.v[a] * location_tanh(c, j, a);
    scores[j] = c.scale * sum;
  }
}

template <class T>
void location_backward(const LocationCall<T>& c, VectorView<const T> d_scores,
                       const LocationGradients<T>& d) {
  for (Index j = 0; j < c.keys.rows; ++j) {
    if (d_scores[j] == T(0)) continue;
    std::vector<T> d_feature(static_cast<std::size_t>(c.u.cols), T(0));
    for (Index a = 0; a < c.keys.cols; ++a) {
      const T tanh = location_tanh(c, j, a);
      const T d_z = d_scores[j] * c.scale * c.v[a] * (T(1) - tanh * tanh);
      d.d_v[a] += d_scores[j] * c.scale * tanh;
      d.d_query[a] += d_z;
      d.d_keys(j, a) += d_z;
      for (Index n = 0; n < c.u.cols; ++n) {
        d.d_u(a, n) += d_z * location_feature(c, j, n);
        d_feature[static_cast<std::size_t>(n)] += d_z * c.u(a, n);
      }
    }
    for (Index n = 0; n < c.u.cols; ++n) {
      const T d_f = d_feature[static_cast<std::size_t>(n)];
      if (c.filters.data == nullptr) {
        d.d_state[j] += d_f;
        continue;
      }
      for_taps(c, j, [&](Index t, Index place) {
        d.d_filters(n, t) += d_f * c.state[place];
        d.d_state[place] += d_f * c.filters(n, t);
      });
    }
  }
}

}  // namespace regard::attention::reference
