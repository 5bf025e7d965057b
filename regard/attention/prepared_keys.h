// The kernels' forms of the keys, one set for each head.
//
// Internal.
#pragma once

#include <cmath>

#include "regard/attention/additive.h"
#include "regard/attention/attention.h"
#include "regard/attention/combine.h"

namespace regard::attention {

struct HeadKeys {
  ConstMatrix keys;  // [rows of the key matrix, width] as scored, this head's columns
  // v . tanh: v and -2 v with scale and weight norm, [padded_width], zero beyond the width.
  const float* v = nullptr;
  const float* minus_two_v = nullptr;
  float sum_v = 0.0f;
  bool v_in_range = false;
  // Factored: e^(2k) by live row [live_rows, padded_width], zero beyond the width and for keys that
  // are not finite, which are flagged; extrema of each sentence over the others.
  const float* exponentials = nullptr;
  const RowExtrema* extrema = nullptr;
  const bool* not_finite = nullptr;  // by live row; null: all are finite
  // Products: packed panels of 16 keys; those of sentence b start at panels + panel_start[b].
  const float* panels = nullptr;
  const Index* panel_start = nullptr;
};

// What a product is multiplied by.
inline float product_factor(const PreparedKeys& keys) {
  const Score& score = keys.attention.score;
  if (score.kind != ScoreKind::kScaledDot || keys.width == 0) return score.scale;
  return score.scale / std::sqrt(static_cast<float>(keys.width));
}

// The live rows of a sentence, from column `col` on, in a matrix laid out as its keys.
inline Rows live_rows(ConstMatrix matrix, const RaggedRows& rows, Index sentence, Index col,
                      Index width) {
  const Index count = rows.length[sentence];
  return {count == 0 ? nullptr : matrix.row(rows.start[sentence]) + col, matrix.stride, count,
          width};
}

// Row of KeyGradients for key `j` of a sentence.
inline Index sum_row(const PreparedKeys& keys, Index head, Index sentence, Index j = 0) {
  return head * keys.live_rows + keys.first[sentence] + j;
}

// g v / |v| or v, times the scale, for one head's part of v.
void effective_v(const Score& score, Index first, Index width, float* out) noexcept;

// concat's two halves of w [A, Dq + Dk].
inline ConstMatrix query_part(const PreparedKeys& keys) {
  const ConstMatrix& w = keys.attention.score.w;
  return w.col_slice(0, w.cols - keys.keys.cols);
}
inline ConstMatrix key_part(const PreparedKeys& keys) {
  const ConstMatrix& w = keys.attention.score.w;
  return w.col_slice(w.cols - keys.keys.cols, keys.keys.cols);
}

}  // namespace regard::attention
