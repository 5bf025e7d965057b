// Biases are vectors over the keys of one row: a row of a matrix, a slope times a distance, or a
// part of a table between two constants.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/bias.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/bias.h"
#include "regard/attention/checks.h"
#include "regard/base/error.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// |i - j| of keys j to j + 15, exact below 2^24.
HWY_INLINE F16 distances(Index i, Index j) {
  return abs(add(set(static_cast<float>(j - i)), load(kLaneNumbers)));
}

void add_constant_impl(float c, float* y, Index n) noexcept {
  const F16 v = set(c);
  for_blocks(
      n, [&](Index j, auto block) HWY_ATTR { store(add(load(y + j, block), v), y + j, block); });
}

float sum_row_impl(const float* x, Index n) noexcept {
  F16 sum = set(0.0f);
  for_blocks(n, [&](Index j, auto block) HWY_ATTR { sum = add(sum, load(x + j, block)); });
  return reduce_add(sum);
}

// Products are rounded before they are added, here and below: these passes wait for memory, and
// processors without a fused multiply-add get the same bits.
void subtract_distances_impl(float slope, Index i, float* y, Index n) noexcept {
  const F16 s = set(slope);
  for_blocks(n, [&](Index j, auto block) HWY_ATTR {
    store(sub(load(y + j, block), mul(s, distances(i, j))), y + j, block);
  });
}

float sum_by_distance_impl(const float* x, Index i, Index n) noexcept {
  F16 sum = set(0.0f);
  for_blocks(n, [&](Index j, auto block)
                    HWY_ATTR { sum = add(sum, mul(load(x + j, block), distances(i, j))); });
  return reduce_add(sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace regard {
REGARD_DISPATCH_TABLE(add_constant_impl);
REGARD_DISPATCH_TABLE(sum_row_impl);
REGARD_DISPATCH_TABLE(subtract_distances_impl);
REGARD_DISPATCH_TABLE(sum_by_distance_impl);

namespace attention {
namespace {

Index dense_row(DenseRows rows, const RowPlace& place) noexcept {
  switch (rows) {
    case DenseRows::kOne:
      return 0;
    case DenseRows::kPosition:
      return place.position;
    case DenseRows::kRow:
      return place.row;
    case DenseRows::kSentence:
      return place.sentence;
    case DenseRows::kHead:
      return place.head;
  }
  return 0;
}

void add_row(const float* x, float* y, Index n) noexcept { add_rows({x, 1, n}, {y, 1, n}); }

Index table_row(Index rows, const RowPlace& place) noexcept { return rows == 1 ? 0 : place.head; }

// Keys before `first` take the table's first value, keys from `end` on its last, and those between
// table[entry], table[entry + 1], ...
struct Reach {
  Index first;
  Index end;
  Index entry;
};

Reach reach_of(Index half_width, const RowPlace& place) noexcept {
  const Index first = std::clamp<Index>(place.position - half_width, 0, place.keys);
  const Index end = std::clamp<Index>(place.position + half_width + 1, 0, place.keys);
  return {first, end, first - place.position + half_width};
}

void add_relative(const float* table, Index half_width, const RowPlace& place,
                  float* scores) noexcept {
  const Reach r = reach_of(half_width, place);
  REGARD_DISPATCH(add_constant_impl)(table[0], scores, r.first);
  if (r.first < r.end) {
    add_row(table + r.entry, scores + r.first, r.end - r.first);
  }
  REGARD_DISPATCH(add_constant_impl)(table[2 * half_width], scores + r.end, place.keys - r.end);
}

void relative_backward(const float* d_scores, Index half_width, const RowPlace& place,
                       float* d_table) noexcept {
  const Reach r = reach_of(half_width, place);
  d_table[0] += REGARD_DISPATCH(sum_row_impl)(d_scores, r.first);
  if (r.first < r.end) {
    add_row(d_scores + r.first, d_table + r.entry, r.end - r.first);
  }
  d_table[2 * half_width] += REGARD_DISPATCH(sum_row_impl)(d_scores + r.end, place.keys - r.end);
}

void check_same_extents(const char* function, const char* name, ConstMatrix wanted, Matrix got) {
  if (got.data == nullptr) return;
  const std::string prefix(name);
  check_extent(function, (prefix + " rows").c_str(), wanted.rows, got.rows);
  check_extent(function, (prefix + " columns").c_str(), wanted.cols, got.cols);
  check_stride(function, {name, got});
}

}  // namespace

// The powers by repeated multiplication in double, whose error is far below half an ulp of float:
// slopes that are powers of two come out exactly.
void alibi_slopes(Index n, float* slopes) noexcept {
  if (n <= 0) return;
  const Index lower = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(n)));
  // 2^(-8/lower) by roots of 2^(-8).
  double ratio = 0x1p-8;
  for (Index m = 1; m < lower; m *= 2) ratio = std::sqrt(ratio);
  double slope = 1.0;
  for (Index h = 0; h < lower; ++h) slopes[h] = static_cast<float>(slope *= ratio);
  // Every second one for 2 * lower heads starts at the root and has the same ratio.
  slope = std::sqrt(ratio);
  for (Index h = lower; h < n; ++h, slope *= ratio) slopes[h] = static_cast<float>(slope);
}

void check_bias(const char* function, const Bias& bias, Index heads) {
  switch (bias.kind) {
    case BiasKind::kNone:
      return;
    case BiasKind::kDense:
      check_stride(function, {"dense bias", bias.dense});
      if (bias.dense_rows != DenseRows::kHead) return;
      check_extent(function, "dense bias rows, one a head", heads, bias.dense.rows);
      return;
    case BiasKind::kAlibi:
      check_extent(function, "ALiBi slopes, one a head", heads, bias.slopes.size);
      return;
    case BiasKind::kRelative:
      check_stride(function, {"table of relative positions", bias.table});
      if (bias.table.rows != 1) {
        check_extent(function, "rows of the table of relative positions, one a head or 1", heads,
                     bias.table.rows);
      }
      if (bias.table.cols % 2 == 1) return;
      check_extent(function, "columns of the table of relative positions, an odd number",
                   bias.table.cols + 1, bias.table.cols);
  }
}

void check_bias_gradients(const char* function, const Bias& bias, const BiasGradients& gradients) {
  const bool dense = bias.kind == BiasKind::kDense, alibi = bias.kind == BiasKind::kAlibi;
  const bool relative = bias.kind == BiasKind::kRelative;
  check_same_extents(function, "d_dense", dense ? bias.dense : ConstMatrix(), gradients.d_dense);
  check_same_extents(function, "d_table", relative ? bias.table : ConstMatrix(), gradients.d_table);
  if (gradients.d_slopes.data == nullptr) return;
  check_extent(function, "d_slopes", alibi ? bias.slopes.size : 0, gradients.d_slopes.size);
}

void check_bias_place(const char* function, const Bias& bias, const RowPlace& place) {
  if (bias.kind != BiasKind::kDense) return;
  constexpr const char* kRows[] = {"dense bias rows", "dense bias rows, one a position",
                                   "dense bias rows, one a row of the call",
                                   "dense bias rows, one a sentence",
                                   "dense bias rows, one a head"};
  const char* rows = kRows[static_cast<int>(bias.dense_rows)];
  const Index row = dense_row(bias.dense_rows, place);
  if (row < 0) {
    throw ShapeError(std::string(function) + ": " + rows + ": wanted a row from 0, got " +
                     std::to_string(row));
  }
  check_at_least(function, rows, row + 1, bias.dense.rows);
  check_at_least(function, "dense bias columns", place.keys, bias.dense.cols);
}

void add_bias(const Bias& bias, const RowPlace& place, float* scores) noexcept {
  switch (bias.kind) {
    case BiasKind::kNone:
      return;
    case BiasKind::kDense:
      add_row(bias.dense.row(dense_row(bias.dense_rows, place)), scores, place.keys);
      return;
    case BiasKind::kAlibi:
      REGARD_DISPATCH(subtract_distances_impl)
      (bias.slopes[place.head], place.position, scores, place.keys);
      return;
    case BiasKind::kRelative:
      add_relative(bias.table.row(table_row(bias.table.rows, place)), bias.half_width(), place,
                   scores);
      return;
  }
}

void bias_backward(const Bias& bias, const RowPlace& place, const float* d_scores,
                   const BiasGradients& gradients) noexcept {
  switch (bias.kind) {
    case BiasKind::kNone:
      return;
    case BiasKind::kDense: {
      if (gradients.d_dense.data == nullptr) return;
      float* d_row = gradients.d_dense.row(dense_row(bias.dense_rows, place));
      add_row(d_scores, d_row, place.keys);
      return;
    }
    case BiasKind::kAlibi:
      if (gradients.d_slopes.data == nullptr) return;
      gradients.d_slopes[place.head] -=
          REGARD_DISPATCH(sum_by_distance_impl)(d_scores, place.position, place.keys);
      return;
    case BiasKind::kRelative: {
      if (gradients.d_table.data == nullptr) return;
      float* d_row = gradients.d_table.row(table_row(bias.table.rows, place));
      relative_backward(d_scores, bias.half_width(), place, d_row);
      return;
    }
  }
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
