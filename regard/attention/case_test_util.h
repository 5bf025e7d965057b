// One attention problem of any score, run by the library in float and by the reference in double.
#pragma once

#include <vector>

#include "regard/attention/attention.h"
#include "regard/attention/reference/attention.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard::attention::test {

using regard::test::Buffers;
using regard::test::Guarded;

struct Shape {
  ScoreKind kind = ScoreKind::kAdditive;
  std::vector<Index> lengths;  // of the sentences
  std::vector<Index> key_row;  // of the query rows
  Index width = 0;             // A or D
  Index query_width = 0;       // general alone
  Index value_width = 0;
  Index gap = 2;  // dead rows after each sentence
  float scale = 1.0f;

  Index rows() const { return static_cast<Index>(key_row.size()); }
  Index longest() const {
    Index n = 0;
    for (const Index length : lengths) n = n < length ? length : n;
    return n;
  }
  Index key_rows() const {
    Index n = 0;
    for (const Index length : lengths) n += length + gap;
    return n;
  }
  Index query_cols() const { return kind == ScoreKind::kGeneral ? query_width : width; }
};

constexpr ScoreKind kAllScores[] = {ScoreKind::kAdditive, ScoreKind::kDot, ScoreKind::kScaledDot,
                                    ScoreKind::kGeneral};
inline const char* name_of(ScoreKind kind) {
  constexpr const char* kNames[] = {"Additive", "Dot", "ScaledDot", "General"};
  return kNames[static_cast<int>(kind)];
}

// Where the parts of a case lie among the buffers.
enum Input { kQuery, kKeys, kValues, kV, kW, kInputs };
enum Output { kContext, kWeights, kRawScores, kLogSumExp, kOutputs };

class Case {
 public:
  explicit Case(const Shape& shape) : shape_(shape) {
    Index at = 0;
    for (const Index length : shape.lengths) {
      start_.push_back(at);
      at += length + shape.gap;
    }
  }
  const Shape& shape() const { return shape_; }
  Index start(Index sentence) const { return start_[static_cast<std::size_t>(sentence)]; }
  RaggedRows rows() const {
    return {start_.data(), shape_.lengths.data(), static_cast<Index>(start_.size())};
  }

  // Values of order one, `key_size` times as large for queries and keys.
  Buffers<double> inputs(std::uint64_t key = 1, double key_size = 1.0) const {
    const Shape& s = shape_;
    const bool general = s.kind == ScoreKind::kGeneral;
    using regard::test::random_values;
    return {random_values(s.rows() * s.query_cols(), key, -key_size, key_size),
            random_values(s.key_rows() * s.width, key + 1, -key_size, key_size),
            random_values(s.key_rows() * s.value_width, key + 2),
            random_values(s.kind == ScoreKind::kAdditive ? s.width : 0, key + 3),
            random_values(general ? s.query_width * s.width : 0, key + 4)};
  }

  template <class T>
  Buffers<T> run_forward(const Buffers<T>& in) const {
    const Shape& s = shape_;
    const Guarded<T> query(s.rows(), s.query_cols(), in[kQuery]);
    const Guarded<T> keys(s.key_rows(), s.width, in[kKeys]);
    const Guarded<T> values(s.key_rows(), s.value_width, in[kValues]);
    Guarded<T> context(s.rows(), s.value_width);
    Guarded<T> weights(s.rows(), s.longest() + 1), raw(s.rows(), s.longest() + 1);
    std::vector<T> lse(s.key_row.size());
    const VectorView<T> lse_view(lse.data(), s.rows());
    if constexpr (sizeof(T) == sizeof(float)) {
      Arena arena, workspace;
      const PreparedKeys prepared = prepare_keys(score(in), keys.view(), rows(), arena);
      attend_forward(prepared, values.view(), {query.view(), s.key_row.data()},
                     {context.view(), weights.view(), lse_view, raw.view()}, workspace);
    } else {
      reference::attend_forward<T>(call(in, query, keys, values),
                                   {context.view(), weights.view(), raw.view(), lse_view});
    }
    return {context.values(), weights.values(), raw.values(), lse};
  }

  // Gradients of all inputs, added to `d_in`, from those of context and weights. In `calls` calls
  // of the library, each with every calls-th row.
  template <class T>
  void run_backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Shape& s = shape_;
    const Guarded<T> query(s.rows(), s.query_cols(), in[kQuery]);
    const Guarded<T> keys(s.key_rows(), s.width, in[kKeys]);
    const Guarded<T> values(s.key_rows(), s.value_width, in[kValues]);
    const Buffers<T> out = run_forward(in);
    const Guarded<T> weights(s.rows(), s.longest() + 1, out[kWeights]);
    const Guarded<T> d_context(s.rows(), s.value_width, d_out[kContext]);
    const Guarded<T> d_weights(s.rows(), s.longest() + 1, d_out[kWeights]);
    Guarded<T> d_query(s.rows(), s.query_cols(), d_in[kQuery]);
    Guarded<T> d_keys(s.key_rows(), s.width, d_in[kKeys]);
    Guarded<T> d_values(s.key_rows(), s.value_width, d_in[kValues]);
    const VectorView<T> d_v(d_in[kV].data(), static_cast<Index>(d_in[kV].size()));
    const MatrixView<T> d_w(d_in[kW].data(), d_in[kW].empty() ? 0 : s.query_width, s.width);
    if constexpr (sizeof(T) == sizeof(float)) {
      Arena arena, workspace;
      const PreparedKeys prepared = prepare_keys(score(in), keys.view(), rows(), arena);
      KeyGradients sums = begin_key_gradients(prepared, s.value_width, arena);
      attend_backward(
          prepared, values.view(),
          {{query.view(), s.key_row.data()}, weights.view(), d_context.view(), d_weights.view()},
          sums, {d_query.view(), d_v, d_w}, workspace);
      finish_key_gradients(prepared, sums, {d_keys.view(), d_values.view(), {}}, workspace);
    } else {
      reference::attend_backward<T>(call(in, query, keys, values), weights.view(), d_context.view(),
                                    d_weights.view(),
                                    {d_query.view(), d_keys.view(), d_values.view(), d_w, d_v});
    }
    d_in[kQuery] = d_query.values();
    d_in[kKeys] = d_keys.values();
    d_in[kValues] = d_values.values();
  }

  Score score(const Buffers<float>& in) const {
    Score out;
    out.kind = shape_.kind;
    out.scale = shape_.scale;
    out.v = {in[kV].data(), static_cast<Index>(in[kV].size())};
    if (shape_.kind == ScoreKind::kGeneral) {
      out.w = {in[kW].data(), shape_.query_width, shape_.width};
    }
    return out;
  }

 private:
  template <class T>
  reference::Call<T> call(const Buffers<T>& in, const Guarded<T>& query, const Guarded<T>& keys,
                          const Guarded<T>& values) const {
    const bool general = shape_.kind == ScoreKind::kGeneral;
    return {shape_.kind,
            static_cast<T>(shape_.scale),
            {in[kV].data(), static_cast<Index>(in[kV].size())},
            {in[kW].data(), general ? shape_.query_width : 0, shape_.width},
            keys.view(),
            values.view(),
            rows(),
            query.view(),
            shape_.key_row.data()};
  }

  Shape shape_;
  std::vector<Index> start_;
};

}  // namespace regard::attention::test
