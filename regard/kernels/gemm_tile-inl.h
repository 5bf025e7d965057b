// The inner loop of the matrix product: one tile of C in registers, and all of k.
//
// A tile is `rows` rows by `panels` panels of 16 columns. For each k it loads one row of each panel
// of B and broadcasts one element of each row of A, so every accumulator is one chain of fused
// multiply-adds over k. Whatever the tile's shape, an element of C sees the same operations.
//
// Per-target header: included again for each target, hence the toggle instead of `#pragma once`.
#if defined(REGARD_KERNELS_GEMM_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_GEMM_TILE_INL_H_
#undef REGARD_KERNELS_GEMM_TILE_INL_H_
#else
#define REGARD_KERNELS_GEMM_TILE_INL_H_
#endif

#include <algorithm>
#include <array>
#include <utility>

#include "regard/kernels/gemm.h"
#include "regard/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// The largest tiles that the registers hold. With few rows, A is read in place and the tile is
// wider, which keeps enough independent chains in flight.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 14, kTilePanels = 2, kFewRows = 4, kFewPanels = 4;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6, kTilePanels = 1, kFewRows = 2, kFewPanels = 2;
#elif HWY_TARGET == HWY_NEON
constexpr int kTileRows = 4, kTilePanels = 1, kFewRows = 2, kFewPanels = 2;
#elif HWY_TARGET == HWY_SSE4
constexpr int kTileRows = 3, kTilePanels = 1, kFewRows = 1, kFewPanels = 2;
#else
constexpr int kTileRows = 2, kTilePanels = 1, kFewRows = 1, kFewPanels = 1;
#endif

// One tile's work. All of its columns exist in C: the driver gives ragged edges a tile of their
// own.
struct Tile {
  const float* a;  // packed: [k][rows]; in place: rows a_stride apart
  Index a_stride;
  const float* b;  // panel p starts at b + p * b_stride
  Index b_stride;
  Index k;
  ChainStart start;
  const float* bias;
  float* c;
  Index c_stride;
};

// Hints that the line at p will be written soon: fetched at once in the state that a store needs.
HWY_INLINE void prefetch_for_write(const float* p) { __builtin_prefetch(p, 1); }

template <int rows, int panels, bool packed_a>
void multiply_tile(const Tile& t) noexcept {
  constexpr int kVectors = panels * kParts;
  const D d;
  V acc[rows][kVectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = t.start == ChainStart::kZero ? hn::Zero(d)
                  : t.start == ChainStart::kBias
                      ? hn::LoadU(d, t.bias + v * kVectorLanes)
                      : hn::LoadU(d, t.c + r * t.c_stride + v * kVectorLanes);
    }
  }
  const float* a = t.a;
  const float* b = t.b;
  const float* end = a + (packed_a ? t.k * rows : t.k);
  const Index a_stride = t.a_stride;
  const Index b_stride = t.b_stride;
  const float* c_row = t.c;
  // The lines of C are asked for one row at a time, two steps of k apart, so that the requests do
  // not crowd out the loads of A and B.
  for (int r = 0; r < rows; ++r, c_row += t.c_stride) {
    for (int p = 0; p < panels; ++p) prefetch_for_write(c_row + 16 * p);
    const float* pause = r + 1 < rows ? std::min(end, a + (packed_a ? 2 * rows : 2)) : end;
    while (a < pause) {
      V bv[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        bv[v] = hn::LoadU(d, b + (v / kParts) * b_stride + (v % kParts) * kVectorLanes);
      }
      for (int i = 0; i < rows; ++i) {
        const V av = hn::Set(d, packed_a ? a[i] : a[i * a_stride]);
        for (int v = 0; v < kVectors; ++v) acc[i][v] = fma(av, bv[v], acc[i][v]);
      }
      a += packed_a ? rows : 1;
      b += 16;
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(acc[r][v], d, t.c + r * t.c_stride + v * kVectorLanes);
    }
  }
}

using TileFn = void (*)(const Tile&) noexcept;

// table[r - 1] multiplies r rows.
template <int panels, bool packed_a, int... r>
constexpr std::array<TileFn, sizeof...(r)> tile_table(std::integer_sequence<int, r...>) {
  return {{&multiply_tile<r + 1, panels, packed_a>...}};
}
template <int max_rows, int panels, bool packed_a>
constexpr TileFn tile_function(Index rows) {
  constexpr auto kTable = tile_table<panels, packed_a>(std::make_integer_sequence<int, max_rows>());
  return kTable[static_cast<size_t>(rows - 1)];
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
