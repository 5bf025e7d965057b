#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/combine.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/combine.h"
#include "regard/attention/lanes-inl.h"
#include "regard/kernels/dispatch-inl.h"

#ifndef REGARD_ATTENTION_COMBINE_STD_
#define REGARD_ATTENTION_COMBINE_STD_
#include <array>
#include <utility>
#endif

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::OutputRows;
using attention::Rows;
using attention::WeightGrid;

// The most rows of a tile of `vectors` sixteens: accumulators, one row of values and one weight in
// registers.
constexpr int most_rows(int vectors) {
  if (kParts > 1) return vectors == 1 ? 4 : vectors == 2 ? 2 : 1;
  return vectors == 1 ? 12 : vectors == 2 ? 12 : vectors == 4 ? 6 : 3;
}

// How weights lie; tiles of one size have strides that are known when this is compiled, and need no
// registers for them.
enum class Grid { kAny, kRowsAside, kColumnsAside };
constexpr Index kTileStride = attention::kWeightTileStride;

struct Strides {
  Index row, col;
};
template <Grid grid>
HWY_INLINE Strides strides_of(const WeightGrid& w) {
  if constexpr (grid == Grid::kRowsAside) return {kTileStride, 1};
  if constexpr (grid == Grid::kColumnsAside) return {1, kTileStride};
  return {w.row_stride, w.col_stride};
}

// Some rows of the right-hand side, whose sums start from nothing or go on.
struct Slice {
  WeightGrid w;
  Rows rows;
  bool accumulate;
};

template <Grid grid, int kVectors, int kRows>
void sum_tile(const Slice& p, Index m, Index col, const OutputRows& out) {
  F16 sum[kRows][kVectors];
  REGARD_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const float* from = out.row(m + r) + col;
    REGARD_UNROLL
    for (int c = 0; c < kVectors; ++c) {
      sum[r][c] = p.accumulate ? load(from + 16 * c) : set(0.0f);
    }
  }
  const Strides stride = strides_of<grid>(p.w);
  const float* x = p.rows.data + col;
  const float* weight = p.w.data + m * stride.row;
  const Index step = p.rows.stride;
  for (Index j = p.rows.count; j > 0; --j, x += step, weight += stride.col) {
    F16 value[kVectors];
    REGARD_UNROLL
    for (int c = 0; c < kVectors; ++c) value[c] = load(x + 16 * c);
    REGARD_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const F16 s = set(weight[r * stride.row]);
      REGARD_UNROLL
      for (int c = 0; c < kVectors; ++c) sum[r][c] = fma(s, value[c], sum[r][c]);
    }
  }
  REGARD_UNROLL
  for (int r = 0; r < kRows; ++r) {
    float* to = out.row(m + r) + col;
    REGARD_UNROLL
    for (int c = 0; c < kVectors; ++c) store(sum[r][c], to + 16 * c);
  }
}

// The last columns, fewer than sixteen: nothing beyond the row is read or written.
HWY_INLINE void sum_tail(const Slice& p, Index m, Index col, const OutputRows& out) {
  const int n = static_cast<int>(p.rows.width - col);
  float* to = out.row(m) + col;
  F16 sum = p.accumulate ? load_n(to, n) : set(0.0f);
  for (Index j = 0; j < p.rows.count; ++j) {
    const F16 value = load_n(p.rows.data + j * p.rows.stride + col, n);
    sum = fma(set(p.w.data[m * p.w.row_stride + j * p.w.col_stride]), value, sum);
  }
  store_n(sum, to, n);
}

using TileFn = void (*)(const Slice&, Index, Index, const OutputRows&);
template <Grid grid, int kVectors, int... r>
constexpr std::array<TileFn, sizeof...(r)> tile_table(std::integer_sequence<int, r...>) {
  return {{&sum_tile<grid, kVectors, r + 1>...}};
}

// Columns from `col` on, as many at a time as kVectors says and then ever fewer; rows in tiles as
// even as possible.
template <Grid grid, int kVectors>
HWY_INLINE void sum_columns(const Slice& p, Index col, const OutputRows& out) {
  constexpr Index kMost = most_rows(kVectors);
  static constexpr auto kTable =
      tile_table<grid, kVectors>(std::make_integer_sequence<int, static_cast<int>(kMost)>());
  const Index tiles = (out.count + kMost - 1) / kMost;
  for (; col + 16 * kVectors <= p.rows.width; col += 16 * kVectors) {
    for (Index t = 0; t < tiles; ++t) {
      const Index m = out.count * t / tiles, rows = out.count * (t + 1) / tiles - m;
      kTable[static_cast<size_t>(rows - 1)](p, m, col, out);
    }
  }
  if constexpr (kVectors > 1) {
    sum_columns<grid, kVectors / 2>(p, col, out);
  } else if (col < p.rows.width) {
    for (Index m = 0; m < out.count; ++m) sum_tail(p, m, col, out);
  }
}

template <Grid grid>
HWY_INLINE void sum_grid(const Slice& p, const OutputRows& out) {
  constexpr Index kFewRows = 4;
  if (p.rows.count < kFewRows) {  // then the outputs are most of the memory: pass over it in order
    for (Index m = 0; m < out.count; ++m) {
      Slice one = p;
      one.w.data += m * p.w.row_stride;
      sum_columns<grid, 8>(one, 0, {out.row(m), out.stride, 1, nullptr});
    }
  } else if (out.count <= most_rows(8)) {
    sum_columns<grid, 8>(p, 0, out);
  } else {
    sum_columns<grid, 4>(p, 0, out);
  }
}

HWY_INLINE void sum_part(const Slice& p, const OutputRows& out) {
  if (p.w.row_stride == kTileStride && p.w.col_stride == 1) {
    sum_grid<Grid::kRowsAside>(p, out);
  } else if (p.w.row_stride == 1 && p.w.col_stride == kTileStride) {
    sum_grid<Grid::kColumnsAside>(p, out);
  } else {
    sum_grid<Grid::kAny>(p, out);
  }
}

// The right-hand rows come in parts that stay in the second cache while all output rows pass; a
// chain goes on where it stopped.
void weighted_sums_impl(const WeightGrid& w, const Rows& rows, bool accumulate,
                        const OutputRows& out) noexcept {
  constexpr Index kPartFloats = 32768;
  const Index fitting = rows.width == 0 ? rows.count : kPartFloats / rows.width;
  const Index step = fitting < 64 ? 64 : fitting;
  Index j = 0;
  do {  // once at least: with no rows the sums are zero
    Slice p{w, rows, accumulate || j > 0};
    p.w.data += j * w.col_stride;
    p.rows.data += j * rows.stride;
    p.rows.count = rows.count - j < step ? rows.count - j : step;
    sum_part(p, out);
    j += step;
  } while (j < rows.count);
}

// Lane sums of kRows rows of x with four rows: acc[16 * (4 * row + key)]. Beyond the last key the
// last one is taken again.
template <int kRows>
HWY_INLINE void dot_tile(const float* x, Index x_stride, const Rows& rows, Index j, float* acc) {
  const float* key[4];
  for (int n = 0; n < 4; ++n) {
    const Index at = j + n < rows.count ? j + n : rows.count - 1;
    key[n] = rows.data + at * rows.stride;
  }
  F16 sum[kRows][4];
  for (int r = 0; r < kRows; ++r) {
    for (int n = 0; n < 4; ++n) sum[r][n] = set(0.0f);
  }
  Index a = 0;
  for (; a + 16 <= rows.width; a += 16) {
    F16 k[4];
    for (int n = 0; n < 4; ++n) k[n] = load(key[n] + a);
    for (int r = 0; r < kRows; ++r) {
      const F16 v = load(x + r * x_stride + a);
      for (int n = 0; n < 4; ++n) sum[r][n] = fma(v, k[n], sum[r][n]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int n = 0; n < 4; ++n) store(sum[r][n], acc + 16 * (4 * r + n));
  }
  if (a == rows.width) return;
  const int rest = static_cast<int>(rows.width - a);
  for (int n = 0; n < 4; ++n) {
    const F16 k = load_n(key[n] + a, rest);
    for (int r = 0; r < kRows; ++r) {
      float* s = acc + 16 * (4 * r + n);
      store(fma(load(x + r * x_stride + a), k, load(s)), s);
    }
  }
}

// kRows rows of x against keys first to first + 15, kRows * 4 pairs a tile, sixteen pairs a sum.
template <int kRows>
HWY_INLINE void dot_sixteen_keys(const float* x, Index x_stride, const Rows& rows, Index first,
                                 float* out, Index out_stride) {
  alignas(64) float acc[16 * 16 * kRows];
  alignas(64) float sums[16 * kRows];
  // acc holds [quarter of the keys][row][4 keys][16 lanes].
  for (int quarter = 0; quarter < 4; ++quarter) {
    float* part = acc + 64 * kRows * quarter;
    if (first + 4 * quarter < rows.count) {
      dot_tile<kRows>(x, x_stride, rows, first + 4 * quarter, part);
    } else {
      std::memset(part, 0, sizeof(float) * 64 * kRows);
    }
  }
  for (int n = 0; n < kRows; ++n) sum_sixteen_rows(acc + 256 * n, sums + 16 * n);
  for (int quarter = 0; quarter < 4; ++quarter) {
    for (int r = 0; r < kRows; ++r) {
      std::memcpy(out + r * out_stride + first + 4 * quarter, sums + 4 * (kRows * quarter + r),
                  sizeof(float) * 4);
    }
  }
}

void row_dots_impl(const float* x, Index x_stride, Index x_rows, const Rows& rows, float* out,
                   Index out_stride) noexcept {
  constexpr int kRows = kParts == 1 ? 4 : 1;
  for (Index first = 0; first < rows.count; first += 16) {
    Index i = 0;
    for (; i + kRows <= x_rows; i += kRows) {
      dot_sixteen_keys<kRows>(x + i * x_stride, x_stride, rows, first, out + i * out_stride,
                              out_stride);
    }
    if constexpr (kRows > 2) {
      for (; i + 2 <= x_rows; i += 2) {
        dot_sixteen_keys<2>(x + i * x_stride, x_stride, rows, first, out + i * out_stride,
                            out_stride);
      }
    }
    for (; i < x_rows; ++i) {
      dot_sixteen_keys<1>(x + i * x_stride, x_stride, rows, first, out + i * out_stride,
                          out_stride);
    }
  }
}

void add_scaled_impl(const float* x, float factor, Index width, float* out) noexcept {
  const F16 f = set(factor);
  Index n = 0;
  for (; n + 16 <= width; n += 16) store(fma(f, load(x + n), load(out + n)), out + n);
  if (n == width) return;
  const int rest = static_cast<int>(width - n);
  store_n(fma(f, load_n(x + n, rest), load_n(out + n, rest)), out + n, rest);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(weighted_sums_impl);
REGARD_DISPATCH_TABLE(row_dots_impl);
REGARD_DISPATCH_TABLE(add_scaled_impl);

namespace attention {

void weighted_sums(const WeightGrid& weights, const Rows& rows, bool accumulate,
                   const OutputRows& out) noexcept {
  REGARD_DISPATCH(weighted_sums_impl)(weights, rows, accumulate, out);
}
void row_dots(const float* x, Index x_stride, Index x_rows, const Rows& rows, float* out,
              Index out_stride) noexcept {
  REGARD_DISPATCH(row_dots_impl)(x, x_stride, x_rows, rows, out, out_stride);
}
void add_scaled(const float* x, float factor, Index width, float* out) noexcept {
  REGARD_DISPATCH(add_scaled_impl)(x, factor, width, out);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
