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

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::Rows;
using attention::WeightGrid;

// Accumulators in registers: 24 of 32 with AVX-512, 8 of 16 elsewhere, in units of one F16.
constexpr int kTile = kParts == 1 ? 24 : 4;

template <int kRows, int kVectors>
HWY_INLINE void sum_tile(const WeightGrid& w, const Rows& rows, Index m, Index col, bool accumulate,
                         float* out, Index out_stride) {
  F16 sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      sum[r][c] = accumulate ? load(out + (m + r) * out_stride + col + 16 * c) : set(0.0f);
    }
  }
  const float* x = rows.data + col;
  const float* weight = w.data + m * w.row_stride;
  for (Index j = 0; j < rows.count; ++j, x += rows.stride, weight += w.col_stride) {
    F16 value[kVectors];
    for (int c = 0; c < kVectors; ++c) value[c] = load(x + 16 * c);
    for (int r = 0; r < kRows; ++r) {
      const F16 s = set(weight[r * w.row_stride]);
      for (int c = 0; c < kVectors; ++c) sum[r][c] = fma(s, value[c], sum[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      store(sum[r][c], out + (m + r) * out_stride + col + 16 * c);
    }
  }
}

// The last columns, fewer than sixteen: nothing beyond the row is read.
HWY_INLINE void sum_tail(const WeightGrid& w, const Rows& rows, Index m, Index col, bool accumulate,
                         float* out, Index out_stride) {
  const int n = static_cast<int>(rows.width - col);
  float* to = out + m * out_stride + col;
  F16 sum = accumulate ? load(to) : set(0.0f);
  for (Index j = 0; j < rows.count; ++j) {
    const F16 value = load_n(rows.data + j * rows.stride + col, n);
    sum = fma(set(w.data[m * w.row_stride + j * w.col_stride]), value, sum);
  }
  store(sum, to);
}

template <int kRows>
HWY_INLINE void sum_rows(const WeightGrid& w, const Rows& rows, Index m, bool accumulate,
                         float* out, Index out_stride) {
  constexpr int kVectors = kTile / kRows > 8 ? 8 : kTile / kRows;
  Index col = 0;
  for (; col + 16 * kVectors <= rows.width; col += 16 * kVectors) {
    sum_tile<kRows, kVectors>(w, rows, m, col, accumulate, out, out_stride);
  }
  for (; col + 16 <= rows.width; col += 16) {
    sum_tile<kRows, 1>(w, rows, m, col, accumulate, out, out_stride);
  }
  if (col == rows.width) return;
  for (int r = 0; r < kRows; ++r) sum_tail(w, rows, m + r, col, accumulate, out, out_stride);
}

void weighted_sums_impl(const WeightGrid& w, const Rows& rows, Index outputs, bool accumulate,
                        float* out, Index out_stride) noexcept {
  constexpr int kMostRows = kTile / 2;
  Index m = 0;
  for (; m + kMostRows <= outputs; m += kMostRows) {
    sum_rows<kMostRows>(w, rows, m, accumulate, out, out_stride);
  }
  if constexpr (kMostRows > 4) {
    for (; m + 4 <= outputs; m += 4) sum_rows<4>(w, rows, m, accumulate, out, out_stride);
  }
  if constexpr (kMostRows > 2) {
    for (; m + 2 <= outputs; m += 2) sum_rows<2>(w, rows, m, accumulate, out, out_stride);
  }
  for (; m < outputs; ++m) sum_rows<1>(w, rows, m, accumulate, out, out_stride);
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

void weighted_sums(const WeightGrid& weights, const Rows& rows, Index outputs, bool accumulate,
                   float* out, Index out_stride) noexcept {
  REGARD_DISPATCH(weighted_sums_impl)(weights, rows, outputs, accumulate, out, out_stride);
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
