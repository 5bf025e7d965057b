// All axes of attention.h as plain loops, templated on float and double: the specification of what
// is computed and in which order. Gradients of the whole are tested as central differences of this.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "regard/attention/attention.h"
#include "regard/attention/reference/bias.h"
#include "regard/attention/reference/location.h"
#include "regard/attention/reference/normalizers.h"
#include "regard/base/random.h"

namespace regard::attention::reference {

// The numbers of a call; what is no number is read from the Attention.
template <class T>
struct Numbers {
  MatrixView<const T> query, keys, values;
  VectorView<const T> v, b, g;
  MatrixView<const T> w, filters, u;
  BiasValues<T> bias;
  MatrixView<const T> state, chunk_scores;
  VectorView<const T> center;
  T alpha;
};

template <class T>
struct AxesOutputs {
  MatrixView<T> context, weights, raw_scores, next_state;
  VectorView<T> log_sum_exp;
};

template <class T>
class Axes {
 public:
  Axes(const Attention& attention, const RaggedRows& rows, const QueryRows& queries,
       const Numbers<T>& numbers)
      : a_(attention), rows_(rows), q_(queries), n_(numbers) {}

  void forward(const AxesOutputs<T>& out) const {
    std::vector<Index> seen(static_cast<std::size_t>(rows_.count), 0), all(seen);
    for (Index r = 0; r < n_.query.rows; ++r) ++all[static_cast<std::size_t>(q_.key_row[r])];
    for (Index r = 0; r < n_.query.rows; ++r) {
      const std::size_t b = static_cast<std::size_t>(q_.key_row[r]);
      const Index ordinal = seen[b]++;
      for (Index h = 0; h < a_.heads; ++h) {
        RowPlace place;
        place.row = r;
        place.sentence = q_.key_row[r];
        place.position = q_.position != nullptr ? q_.position[r] : ordinal;
        place.head = h;
        place.keys = rows_.length[b];
        place.queries = q_.query_length != nullptr ? q_.query_length[b] : all[b];
        place.first_key = rows_.start[b];
        row(place, out);
      }
    }
  }

 private:
  // Columns of one head in a row of `all` columns.
  Index per_head(Index all) const { return all / a_.heads; }

  void row(const RowPlace& place, const AxesOutputs<T>& out) const {
    const Index row = place.row * a_.heads + place.head;
    std::vector<T> e = scores(place);
    std::vector<bool> live(e.size());
    std::vector<KeyBits> bits(static_cast<std::size_t>(key_words(place.keys)), ~KeyBits{0});
    if (!a_.mask.trivial()) a_.mask.live_keys(place, bits.data());
    for (std::size_t j = 0; j < e.size(); ++j) live[j] = (bits[j / 64] >> (j % 64) & 1) != 0;
    for (Index j = 0; j < place.keys; ++j) {
      const std::size_t n = static_cast<std::size_t>(j);
      if (live[n]) out.raw_scores(row, j) = e[n];
      e[n] += bias_value(n_.bias, place, j);
    }
    std::vector<T> w(e.size()), next(e.size());
    T lse = -std::numeric_limits<T>::infinity();
    normalize(row, e, live, w, next, lse);
    if (out.log_sum_exp) out.log_sum_exp[row] = lse;
    for (Index j = 0; j < place.keys; ++j) {
      const std::size_t n = static_cast<std::size_t>(j);
      out.weights(row, j) = w[n];
      if (out.next_state.data != nullptr) out.next_state(row, j) = next[n];
      if (live[n]) combine(place, j, w[n], out);
    }
  }

  void combine(const RowPlace& place, Index j, T weight, const AxesOutputs<T>& out) const {
    const Index width = per_head(n_.values.cols);
    if (a_.dropout > 0.0f) {
      const std::uint64_t key =
          mix(q_.dropout_key[place.row], static_cast<std::uint64_t>(place.head));
      const auto words = philox(key, static_cast<std::uint64_t>(place.position),
                                static_cast<std::uint64_t>(j / 4));
      const bool kept = uniform_float(words[static_cast<std::size_t>(j % 4)]) >= a_.dropout;
      weight = kept ? weight * T(1.0f / (1.0f - a_.dropout)) : T(0);
    }
    for (Index d = place.head * width; d < (place.head + 1) * width; ++d) {
      out.context(place.row, d) += weight * n_.values(place.first_key + j, d);
    }
  }

  void normalize(Index row, const std::vector<T>& e, const std::vector<bool>& live,
                 std::vector<T>& w, std::vector<T>& next, T& lse) const {
    NormalizerRow<T> r;
    r.normalizer = a_.normalizer;
    r.alpha = n_.alpha;
    r.live = live;
    if (n_.state.data != nullptr) r.state = n_.state.row(row);
    if (n_.chunk_scores.data != nullptr) r.chunk_scores = n_.chunk_scores.row(row);
    if (n_.center) r.center = n_.center[row];
    normalizer_forward<T>(r, e.data(), {w.data(), next.data(), &lse});
    if (a_.normalizer.stateful()) return;
    // Coverage adds up; location-sensitive keeps the last.
    const bool adds = a_.score.kind == ScoreKind::kCoverage && n_.state.data != nullptr;
    for (std::size_t j = 0; j < w.size(); ++j) {
      next[j] = w[j] + (adds ? n_.state(row, static_cast<Index>(j)) : T(0));
    }
  }

  // The query of this head as it is compared with the keys, and a key.
  std::vector<T> scored_query(const RowPlace& place) const {
    const T* q = n_.query.row(place.row);
    const bool general = a_.score.kind == ScoreKind::kGeneral;
    const bool concat = a_.score.kind == ScoreKind::kConcat;
    const Index all = general ? n_.w.cols : concat ? n_.w.rows : n_.query.cols;
    const Index width = per_head(all), first = place.head * width;
    std::vector<T> out;
    for (Index a = first; a < first + width; ++a) {
      T x = general || concat ? T(0) : q[a];
      for (Index c = 0; (general || concat) && c < n_.query.cols; ++c) {
        x += q[c] * (general ? n_.w(c, a) : n_.w(a, c));
      }
      if (n_.b) x += n_.b[a];
      out.push_back(x);
    }
    return out;
  }
  std::vector<T> scored_key(const RowPlace& place, Index j) const {
    const T* k = n_.keys.row(place.first_key + j);
    const bool concat = a_.score.kind == ScoreKind::kConcat;
    const Index width = per_head(concat ? n_.w.rows : n_.keys.cols), first = place.head * width;
    std::vector<T> out;
    for (Index a = first; a < first + width; ++a) {
      T x = concat ? T(0) : k[a];
      for (Index c = 0; concat && c < n_.keys.cols; ++c) {
        x += k[c] * n_.w(a, n_.w.cols - n_.keys.cols + c);
      }
      out.push_back(x);
    }
    return out;
  }
  // v as it is used.
  T v(Index a) const {
    if (!n_.g) return n_.v[a];
    T square = 0;
    for (Index i = 0; i < n_.v.size; ++i) square += n_.v[i] * n_.v[i];
    return n_.g[0] * n_.v[a] / std::sqrt(square);
  }

  T pair_score(const RowPlace& place, const std::vector<T>& q, const std::vector<T>& k) const {
    T sum = 0, qq = 0, kk = 0;
    for (std::size_t a = 0; a < k.size(); ++a) {
      const Index column = place.head * static_cast<Index>(k.size()) + static_cast<Index>(a);
      sum += a_.score.factored() ? v(column) * std::tanh(q[a] + k[a]) : q[a] * k[a];
      qq += q[a] * q[a];
      kk += k[a] * k[a];
    }
    if (a_.score.kind == ScoreKind::kCustom) return T(0.5) * swapped(q, k);
    if (a_.score.kind == ScoreKind::kCosine)
      return qq * kk == T(0) ? T(0) : sum / std::sqrt(qq * kk);
    return a_.score.kind == ScoreKind::kScaledDot ? sum / std::sqrt(T(k.size())) : sum;
  }

  // The custom score of the tests: q's dims in reverse.
  static T swapped(const std::vector<T>& q, const std::vector<T>& k) {
    T sum = 0;
    for (std::size_t a = 0; a < k.size(); ++a) sum += q[k.size() - 1 - a] * k[a];
    return sum;
  }

  std::vector<T> scores(const RowPlace& place) const {
    std::vector<T> e(static_cast<std::size_t>(place.keys));
    const std::vector<T> q = scored_query(place);
    if (a_.score.stateful()) {
      location(place, q, e);
    } else {
      for (Index j = 0; j < place.keys; ++j) {
        const std::size_t n = static_cast<std::size_t>(j);
        e[n] = a_.score.kind == ScoreKind::kLocation ? q[n]
                                                     : pair_score(place, q, scored_key(place, j));
      }
    }
    for (T& x : e) {
      x *= T(a_.score.scale);
      const T cap = T(a_.score.soft_cap);
      if (cap > T(0)) x = cap * std::tanh(x / cap);
    }
    return e;
  }

  void location(const RowPlace& place, const std::vector<T>& q, std::vector<T>& e) const {
    const Index width = static_cast<Index>(q.size()), first = place.head * width;
    std::vector<T> used;
    for (Index a = first; a < first + width; ++a) used.push_back(v(a));
    const std::vector<T> zeros(e.size(), T(0));
    const T* state =
        n_.state.data == nullptr ? zeros.data() : n_.state.row(place.row * a_.heads + place.head);
    LocationCall<T> c;
    c.keys = n_.keys.row_slice(place.first_key, place.keys).col_slice(first, width);
    c.query = {q.data(), width};
    c.v = {used.data(), width};
    if (a_.score.kind == ScoreKind::kLocationSensitive) c.filters = n_.filters;
    c.u = n_.u.row_slice(first, width);
    c.state = {state, place.keys};
    c.scale = T(1);
    location_scores<T>(c, {e.data(), place.keys});
  }

  const Attention& a_;
  RaggedRows rows_;
  QueryRows q_;
  Numbers<T> n_;
};

}  // namespace regard::attention::reference
