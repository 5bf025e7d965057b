// The two products with the values, and their twins for dot-product keys: weighted sums of rows,
// and dot products of rows with rows. Neither copies nor transposes its right-hand rows.
//
// Internal: pointers and strides in floats, nothing checked.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

constexpr Index padded_lanes(Index n) { return (n + 15) / 16 * 16; }

// Right-hand rows, in the caller's memory.
struct Rows {
  const float* data = nullptr;
  Index stride = 0;
  Index count = 0;
  Index width = 0;
};

// The row stride of tiles of weights that are worked on most: kernels know it when they are
// compiled.
constexpr Index kWeightTileStride = 128;

// A weight for each (output row m, right-hand row j): data[m * row_stride + j * col_stride].
struct WeightGrid {
  const float* data = nullptr;
  Index row_stride = 0;
  Index col_stride = 0;
};

// Where output row m goes: data + (index ? index[m] : m) * stride.
struct OutputRows {
  float* data = nullptr;
  Index stride = 0;
  Index count = 0;
  const Index* index = nullptr;
  float* row(Index m) const { return data + (index == nullptr ? m : index[m]) * stride; }
};

// out[m] = (accumulate ? out[m] : 0) + sum_j weight(m, j) rows[j], one chain of multiply-adds over
// j in order per element. Writes `rows.width` floats a row.
void weighted_sums(const WeightGrid& weights, const Rows& rows, bool accumulate,
                   const OutputRows& out) noexcept;

// out[i * out_stride + j] = x_i . rows[j]: sixteen partial sums, then the fixed tree. Row i of x
// starts at x + i * x_stride and is zero from `width` to padded_lanes(width). Writes a multiple of
// 16 of j.
void row_dots(const float* x, Index x_stride, Index x_rows, const Rows& rows, float* out,
              Index out_stride) noexcept;

// out[n] += factor * x[n], n < width.
void add_scaled(const float* x, float factor, Index width, float* out) noexcept;

}  // namespace regard::attention
