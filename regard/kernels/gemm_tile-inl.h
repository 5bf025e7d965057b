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

// The most rows of a tile of `panels` panels: what the registers hold beside one row of the panels
// and one element of A. With few rows, a wider tile keeps enough independent chains in flight.
constexpr int most_rows(int panels) {
#if HWY_TARGET == HWY_AVX3
  return panels == 4 ? 6 : panels == 3 ? 9 : 14;
#elif HWY_TARGET == HWY_AVX2
  return panels == 1 ? 6 : panels == 2 ? 3 : 1;
#elif HWY_TARGET == HWY_NEON
  return panels == 1 ? 4 : panels == 2 ? 2 : 0;
#elif HWY_TARGET == HWY_SSE4
  return panels == 1 ? 3 : panels == 2 ? 1 : 0;
#else
  return panels == 1 ? 2 : 0;
#endif
}
constexpr int kMaxPanels = most_rows(4) > 0 ? 4 : most_rows(2) > 0 ? 2 : 1;
constexpr int kTileRows = most_rows(1);
// Up to this many rows, A is read in place: packing it would cost more than it saves.
constexpr int kFewRows = HWY_TARGET == HWY_AVX3 ? 4 : HWY_TARGET == HWY_SCALAR ? 1 : 2;

// One tile's work. All of its columns exist in C: the driver gives ragged edges a tile of their
// own.
struct Tile {
  const float* a;  // packed: [k][rows]; in place: rows a_stride apart
  Index a_stride;
  const float* b;  // in panels: panel p starts at b + p * b_stride; row-major: rows b_stride apart
  Index b_stride;
  float* b_panels;  // row-major only: where the tile writes B in panels, panel_gap apart, meanwhile
  Index panel_gap;
  Index k;
  const float* start;  // where the chains start: rows start_stride apart, 0 for one row for all
  Index start_stride;
  float* c;
  Index c_stride;
};

enum class AForm { kInPlace, kPacked };
enum class BForm { kPanels, kRowMajor };

// B is asked for this many rows ahead: from the panels because they may come from a far cache, from
// a row-major matrix because the processor foresees no jump from row to row.
constexpr Index kLinesAhead = 24;
constexpr Index kRowsAhead = 16;

template <int rows, int panels, AForm a_form, BForm b_form>
void multiply_tile(const Tile& t) noexcept {
  constexpr int kVectors = panels * kParts;
  constexpr Index kStepA = a_form == AForm::kPacked ? rows : 1;
  const D d;
  V acc[rows][kVectors];
  REGARD_UNROLL
  for (int r = 0; r < rows; ++r) {
    REGARD_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      acc[r][v] = hn::LoadU(d, t.start + r * t.start_stride + v * kVectorLanes);
    }
  }
  const float* a = t.a;
  const float* b = t.b;
  float* b_panels = t.b_panels;
  const float* end = a + t.k * kStepA;
  const Index a_stride = t.a_stride, b_stride = t.b_stride, panel_gap = t.panel_gap;
  const float* c_row = t.c;
  // The lines of C are asked for one row at a time, two steps of k apart, so that the requests do
  // not crowd out the loads of A and B.
  for (int r = 0; r < rows; ++r, c_row += t.c_stride) {
    for (int p = 0; p < panels; ++p) __builtin_prefetch(c_row + 16 * p, 1);
    const float* pause = r + 1 < rows ? std::min(end, a + 2 * kStepA) : end;
    while (a < pause) {
      V bv[kVectors];
      REGARD_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const Index lane = (v % kParts) * kVectorLanes;
        if constexpr (b_form == BForm::kPanels) {
          bv[v] = hn::LoadU(d, b + (v / kParts) * b_stride + lane);
          if (rows > kFewRows && lane == 0)
            __builtin_prefetch(b + (v / kParts) * b_stride + kLinesAhead * 16);
        } else {
          bv[v] = hn::LoadU(d, b + v * kVectorLanes);
          hn::StoreU(bv[v], d, b_panels + (v / kParts) * panel_gap + lane);
          if (lane == 0) __builtin_prefetch(b + kRowsAhead * b_stride + v * kVectorLanes);
        }
      }
      REGARD_UNROLL
      for (int i = 0; i < rows; ++i) {
        const V av = hn::Set(d, a_form == AForm::kPacked ? a[i] : a[i * a_stride]);
        REGARD_UNROLL
        for (int v = 0; v < kVectors; ++v) acc[i][v] = fma(av, bv[v], acc[i][v]);
      }
      a += kStepA;
      b += b_form == BForm::kPanels ? 16 : b_stride;
      if constexpr (b_form == BForm::kRowMajor) b_panels += 16;
    }
  }
  REGARD_UNROLL
  for (int r = 0; r < rows; ++r) {
    REGARD_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(acc[r][v], d, t.c + r * t.c_stride + v * kVectorLanes);
    }
  }
}

using TileFn = void (*)(const Tile&) noexcept;

template <int panels, AForm a_form, BForm b_form, int... r>
constexpr std::array<TileFn, sizeof...(r)> tile_table(std::integer_sequence<int, r...>) {
  return {{&multiply_tile<r + 1, panels, a_form, b_form>...}};
}
// The function for a tile of `rows` rows, 1 <= rows <= most_rows(panels).
template <int panels, AForm a_form, BForm b_form>
TileFn tile_function(Index rows) {
  constexpr int kMost =
      a_form == AForm::kInPlace && kFewRows < most_rows(panels) ? kFewRows : most_rows(panels);
  static constexpr auto kTable =
      tile_table<panels, a_form, b_form>(std::make_integer_sequence<int, kMost>());
  return kTable[static_cast<size_t>(rows - 1)];
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
