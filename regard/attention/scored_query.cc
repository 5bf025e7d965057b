#include "regard/attention/scored_query.h"

#include <algorithm>
#include <cmath>

#include "regard/attention/unit_rows.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {
namespace {

double length_of(ConstVector v) noexcept {
  double sum = 0.0;
  for (Index a = 0; a < v.size; ++a) sum += static_cast<double>(v[a]) * static_cast<double>(v[a]);
  return std::sqrt(sum);
}

// What v is multiplied by, the scale aside.
double v_factor(const Score& score) noexcept {
  if (!score.g) return 1.0;
  const double length = length_of(score.v);
  return length == 0.0 ? 0.0 : static_cast<double>(score.g[0]) / length;
}

void add_b(ConstVector b, Matrix rows) noexcept {
  for (Index i = 0; i < rows.rows; ++i) add_scaled(b.data, 1.0f, b.size, rows.row(i));
}

ScoredQuery unit_rows(const PreparedKeys& keys, ConstMatrix query, Arena& arena) {
  const Index heads = keys.attention.heads;
  const Matrix unit = arena.matrix(query.rows, query.cols);
  float* norms = arena.array<float>(query.rows * heads);
  for (Index i = 0; i < query.rows; ++i) {
    for (Index h = 0; h < heads; ++h) {
      norms[i * heads + h] =
          unit_row(query.row(i) + h * keys.width, keys.width, unit.row(i) + h * keys.width);
    }
  }
  return {unit, norms, true};
}

}  // namespace

void effective_v(const Score& score, Index first, Index width, float* out) noexcept {
  const double factor = v_factor(score);
  for (Index a = 0; a < width; ++a) {
    const float v = score.v[first + a];
    out[a] = score.scale * (score.g ? static_cast<float>(factor * static_cast<double>(v)) : v);
  }
}

void effective_v_backward(const Score& score, const float* d_effective,
                          const ScoreGradients& gradients) noexcept {
  const Index width = score.v.size;
  const Vector& d_v = gradients.d_v;
  if (!score.g) {
    for (Index a = 0; d_v && a < width; ++a) d_v[a] += score.scale * d_effective[a];
    return;
  }
  const double length = length_of(score.v);
  if (length == 0.0) return;
  double along = 0.0;  // d_effective . v / |v|
  for (Index a = 0; a < width; ++a) {
    along += static_cast<double>(d_effective[a]) * static_cast<double>(score.v[a]) / length;
  }
  const double scale = static_cast<double>(score.scale);
  if (gradients.d_g) gradients.d_g[0] += static_cast<float>(scale * along);
  for (Index a = 0; d_v && a < width; ++a) {
    const double across =
        static_cast<double>(d_effective[a]) - along * static_cast<double>(score.v[a]) / length;
    d_v[a] += static_cast<float>(scale * v_factor(score) * across);
  }
}

ScoredQuery score_query(const PreparedKeys& keys, ConstMatrix query, Arena& arena) {
  const Score& score = keys.attention.score;
  const Index width = keys.attention.heads * keys.width;
  if (score.kind == ScoreKind::kCosine) return unit_rows(keys, query, arena);
  if (score.kind == ScoreKind::kGeneral) {
    const Matrix projected = arena.matrix(query.rows, width);
    general_project_forward(query, score.w, projected, arena);
    return {projected, nullptr, true};
  }
  if (score.kind == ScoreKind::kConcat) {
    const Matrix projected = arena.matrix(query.rows, width);
    gemm_a_bt(query, query_part(keys), ChainStart::kZero, projected, arena);
    if (score.b) add_b(score.b, projected);
    return {projected, nullptr, true};
  }
  if (!score.b) return {query, nullptr, false};
  const Matrix sum = arena.matrix(query.rows, width);
  for (Index i = 0; i < query.rows; ++i) std::copy_n(query.row(i), width, sum.row(i));
  add_b(score.b, sum);
  return {sum, nullptr, true};
}

ConstMatrix rows_with_gradient(ConstMatrix rows, ConstMatrix d, Arena& arena) {
  const auto holds = [](ConstMatrix m, Index i, auto test) {
    return std::any_of(m.row(i), m.row(i) + m.cols, test);
  };
  const auto unfit = [&](Index i) {
    return holds(rows, i, [](float x) { return !(x - x == 0.0f); }) &&
           !holds(d, i, [](float x) { return x != 0.0f; });
  };
  Index first = 0;
  while (first < rows.rows && !unfit(first)) ++first;
  if (first == rows.rows) return rows;
  const Matrix fit = arena.zero_matrix(rows.rows, rows.cols);
  for (Index i = 0; i < rows.rows; ++i) {
    if (!unfit(i)) std::copy_n(rows.row(i), rows.cols, fit.row(i));
  }
  return fit;
}

void score_query_backward(const PreparedKeys& keys, ConstMatrix query, const ScoredQuery& scored,
                          ConstMatrix d_scored, const ScoreGradients& gradients, Arena& arena) {
  const Score& score = keys.attention.score;
  const Matrix& d_query = gradients.d_query;
  for (Index i = 0; gradients.d_b && i < d_scored.rows; ++i) {
    add_scaled(d_scored.row(i), 1.0f, d_scored.cols, gradients.d_b.data);
  }
  if (score.kind == ScoreKind::kGeneral) {
    const ConstMatrix rows = rows_with_gradient(query, d_scored, arena);
    general_project_backward(rows, score.w, d_scored, {d_query, gradients.d_w}, arena);
  } else if (score.kind == ScoreKind::kConcat) {
    if (d_query.data) {
      gemm_a_b(d_scored, query_part(keys), ChainStart::kContinue, d_query, arena);
    }
    if (gradients.d_w.data) {
      gemm_at_b(d_scored, rows_with_gradient(query, d_scored, arena), ChainStart::kContinue,
                gradients.d_w.col_slice(0, query.cols), arena);
    }
  } else if (d_query.data != nullptr) {
    const Index heads = keys.attention.heads, width = keys.width;
    for (Index i = 0; i < query.rows; ++i) {
      for (Index h = 0; h < heads; ++h) {
        const float* d = d_scored.row(i) + h * width;
        float* to = d_query.row(i) + h * width;
        if (scored.norms == nullptr) {
          add_scaled(d, 1.0f, width, to);
        } else {
          unit_row_backward(scored.rows.row(i) + h * width, scored.norms[i * heads + h], d, 1.0f,
                            width, to);
        }
      }
    }
  }
}

}  // namespace regard::attention
