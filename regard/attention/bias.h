// Biases: what is added to the scores of a row, by place. Masks are masks: a bias of -inf is live
// data.
#pragma once

#include "regard/attention/mask.h"
#include "regard/tensor/view.h"

namespace regard::attention {

enum class BiasKind {
  kNone,
  kDense,     // values[r, j] of a matrix of the caller's
  kAlibi,     // -slope[head] |i - j|
  kRelative,  // table[head, clamp(j - i, -W, W) + W]
};

// Which row of a dense bias a query row takes.
enum class DenseRows {
  kOne,       // row 0: the bias is by key alone
  kPosition,  // row i
  kRow,       // the row of the call
  kSentence,  // the row of the sentence
  kHead,      // the row of the head
};

// Views are borrowed.
//
// Source   kAlibi: Press et al., arXiv 2108.12409v2, section 3 (there j <= i); kRelative: Shaw et
//          al., arXiv 1803.02155v2 with scalars in place of vectors, as Raffel et al.,
//          arXiv 1910.10683v4, section 2.1
// Shapes   dense [rows as DenseRows asks, at least the longest sentence]; slopes [heads];
//          table [heads or 1, 2 W + 1]
struct Bias {
  BiasKind kind = BiasKind::kNone;
  ConstMatrix dense;
  DenseRows dense_rows = DenseRows::kRow;
  ConstVector slopes;
  ConstMatrix table;

  Index half_width() const noexcept { return (table.cols - 1) / 2; }
};

// The slopes of Press et al. for n heads: a geometric sequence from 2^(-8/n) with that ratio; for n
// no power of two, those of the next lower power and then every second one of the next higher.
void alibi_slopes(Index n, float* slopes) noexcept;

// Gradients in the bias's own shapes; they accumulate; null data: not wanted.
struct BiasGradients {
  Matrix d_dense;
  Vector d_slopes;
  Matrix d_table;
  bool wanted() const noexcept {
    return d_dense.data != nullptr || d_slopes.data != nullptr || d_table.data != nullptr;
  }
};

// Throw ShapeError, naming `function`, where a shape does not fit `heads` (a dense bias by head has
// a row for each), a gradient that is wanted is not of its bias's shape, or the row that `place`
// takes is not there or shorter than place.keys.
void check_bias(const char* function, const Bias& bias, Index heads);
void check_bias_gradients(const char* function, const Bias& bias, const BiasGradients& gradients);
void check_bias_place(const char* function, const Bias& bias, const RowPlace& place);

// scores[j] += bias at (place, j), all j < place.keys.
void add_bias(const Bias& bias, const RowPlace& place, float* scores) noexcept;

// Adds d_scores [place.keys], which is zero where nothing is live, to the gradients.
void bias_backward(const Bias& bias, const RowPlace& place, const float* d_scores,
                   const BiasGradients& gradients) noexcept;

}  // namespace regard::attention
