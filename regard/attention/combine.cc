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

using attention::OutputRows;
using attention::Rows;
using attention::WeightGrid;

// Accumulators in registers: 24 of 32 with AVX-512, 8 of 16 elsewhere, in units of one F16.
constexpr int kTile = kParts == 1 ? 24 : 4;

// Some rows of the right-hand side, whose sums start from nothing or go on.
struct Part {
  WeightGrid w;
  Rows rows;
  bool accumulate;
};

template <int kRows, int kVectors>
HWY_INLINE void sum_tile(const Part& p, Index m, Index col, const OutputRows& out) {
  F16 sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    const float* from = out.row(m + r) + col;
    for (int c = 0; c < kVectors; ++c) {
      sum[r][c] = p.accumulate ? load(from + 16 * c) : set(0.0f);
    }
  }
  const float* x = p.rows.data + col;
  const float* weight = p.w.data + m * p.w.row_stride;
  for (Index j = 0; j < p.rows.count; ++j, x += p.rows.stride, weight += p.w.col_stride) {
    F16 value[kVectors];
    for (int c = 0; c < kVectors; ++c) value[c] = load(x + 16 * c);
    for (int r = 0; r < kRows; ++r) {
      const F16 s = set(weight[r * p.w.row_stride]);
      for (int c = 0; c < kVectors; ++c) sum[r][c] = fma(s, value[c], sum[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float* to = out.row(m + r) + col;
    for (int c = 0; c < kVectors; ++c) store(sum[r][c], to + 16 * c);
  }
}

// The last columns, fewer than sixteen: nothing beyond the row is read or written.
HWY_INLINE void sum_tail(const Part& p, Index m, Index col, const OutputRows& out) {
  const int n = static_cast<int>(p.rows.width - col);
  float* to = out.row(m) + col;
  F16 sum = p.accumulate ? load_n(to, n) : set(0.0f);
  for (Index j = 0; j < p.rows.count; ++j) {
    const F16 value = load_n(p.rows.data + j * p.rows.stride + col, n);
    sum = fma(set(p.w.data[m * p.w.row_stride + j * p.w.col_stride]), value, sum);
  }
  store_n(sum, to, n);
}

template <int kRows>
HWY_INLINE void sum_rows(const Part& p, Index m, const OutputRows& out) {
  constexpr int kVectors = kTile / kRows > 8 ? 8 : kTile / kRows;
  const Index width = p.rows.width;
  Index col = 0;
  for (; col + 16 * kVectors <= width; col += 16 * kVectors) {
    sum_tile<kRows, kVectors>(p, m, col, out);
  }
  for (; col + 16 <= width; col += 16) sum_tile<kRows, 1>(p, m, col, out);
  if (col == width) return;
  for (int r = 0; r < kRows; ++r) sum_tail(p, m + r, col, out);
}

HWY_INLINE void sum_part(const Part& p, const OutputRows& out) {
  constexpr int kMostRows = kTile / 2;
  constexpr Index kFewRows = 4;
  Index m = 0;
  if (p.rows.count < kFewRows) {  // then the outputs are most of the memory: pass over it in order
    for (; m < out.count; ++m) sum_rows<1>(p, m, out);
  }
  for (; m + kMostRows <= out.count; m += kMostRows) sum_rows<kMostRows>(p, m, out);
  if constexpr (kMostRows > 4) {
    for (; m + 4 <= out.count; m += 4) sum_rows<4>(p, m, out);
  }
  if constexpr (kMostRows > 2) {
    for (; m + 2 <= out.count; m += 2) sum_rows<2>(p, m, out);
  }
  for (; m < out.count; ++m) sum_rows<1>(p, m, out);
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
    Part p{w, rows, accumulate || j > 0};
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
