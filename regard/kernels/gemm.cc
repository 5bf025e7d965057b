// The driver of the matrix product: which tiles, in which order, from which packed operands.
//
// K is cut into blocks (of at most kMaxBlockK; the partial sums wait in C), M into blocks whose
// packed rows fit into the scratch. Inside a block, panels of B are the outer loop and tiles of
// rows the inner one, so a panel is read from far away once and a packed row tile comes from a near
// cache. None of these choices changes a bit: see gemm_tile-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/gemm.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/gemm.h"
#include "regard/kernels/gemm_pack-inl.h"
#include "regard/kernels/gemm_tile-inl.h"

#ifndef REGARD_KERNELS_GEMM_CALL_
#define REGARD_KERNELS_GEMM_CALL_
namespace regard {

constexpr Index kMaxBlockK = 1808;
// What gemm() keeps on the stack.
constexpr Index kStackScratch = 64 * 1024;

struct GemmCall {
  ConstMatrix a;  // [M,K], or [K,M] where a_transposed
  bool a_transposed = false;
  PackedMatrix b;
  ChainStart start = ChainStart::kZero;
  const float* bias = nullptr;
  Matrix c;
  float* scratch = nullptr;  // room for the packed rows of A
  Index scratch_size = 0;    // at least 16 + kMaxBlockK * 16
};

}  // namespace regard
#endif

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// The rows of C in tiles of at most `max_rows`, as even as possible.
struct RowTiles {
  Index count, height, taller;
  RowTiles(Index rows, Index max_rows)
      : count((rows + max_rows - 1) / max_rows), height(rows / count), taller(rows % count) {}
  Index first(Index tile) const { return tile * height + std::min(tile, taller); }
  Index rows(Index tile) const { return height + (tile < taller ? 1 : 0); }
};

// A tile whose columns do not all exist: computed beside C, then copied.
HWY_NOINLINE void multiply_ragged(TileFn fn, Tile t, Index rows, Index panels, Index width) {
  alignas(64) float c[kTileRows * 16 * std::max(kTilePanels, kFewPanels)];
  const size_t bytes = sizeof(float) * static_cast<size_t>(width);
  std::memset(c, 0, sizeof(float) * static_cast<size_t>(rows * panels * 16));
  float* to = t.c;
  const Index to_stride = t.c_stride;
  for (Index r = 0; r < rows; ++r) {
    float* row = c + r * panels * 16;
    if (t.start == ChainStart::kBias) std::memcpy(row, t.bias, bytes);
    if (t.start == ChainStart::kContinue) std::memcpy(row, to + r * to_stride, bytes);
  }
  t.start = ChainStart::kContinue;
  t.c = c;
  t.c_stride = panels * 16;
  fn(t);
  for (Index r = 0; r < rows; ++r) {
    std::memcpy(to + r * to_stride, c + r * panels * 16, bytes);
  }
}

HWY_INLINE void multiply(TileFn fn, const Tile& t, Index rows, Index panels, Index width) {
  if (width == panels * 16) {
    fn(t);
  } else {
    multiply_ragged(fn, t, rows, panels, width);
  }
}

// The columns of C from panel `first` on, `panels` at a time, as long as so many are left; returns
// the first panel that is left.
template <int max_rows, int panels, bool packed_a>
HWY_INLINE Index multiply_panels(const GemmCall& g, const RowTiles& tiles, Index first_tile,
                                 Index last_tile, Tile t, Index k0, Index panel) {
  const Index n = g.c.cols;
  const Index all = (n + 15) / 16;
  const float* a = t.a;
  for (; panel + panels <= all; panel += panels) {
    const Index j = panel * 16;
    t.b = g.b.data + panel * t.b_stride + k0 * 16;
    t.a = a;
    t.bias = g.bias != nullptr ? g.bias + j : nullptr;
    for (Index i = first_tile; i < last_tile; ++i) {
      const Index rows = tiles.rows(i);
      t.c = g.c.data + tiles.first(i) * t.c_stride + j;
      multiply(tile_function<max_rows, panels, packed_a>(rows), t, rows, panels,
               std::min<Index>(panels * 16, n - j));
      t.a += packed_a ? t.k * rows : rows * t.a_stride;
    }
  }
  return panel;
}

template <int max_rows, int panels, bool packed_a>
HWY_INLINE void multiply_all_panels(const GemmCall& g, const RowTiles& tiles, Index first_tile,
                                    Index last_tile, const Tile& t, Index k0) {
  Index panel = 0;
  if constexpr (panels >= 4) {
    panel = multiply_panels<max_rows, 4, packed_a>(g, tiles, first_tile, last_tile, t, k0, panel);
  }
  if constexpr (panels >= 2) {
    panel = multiply_panels<max_rows, 2, packed_a>(g, tiles, first_tile, last_tile, t, k0, panel);
  }
  multiply_panels<max_rows, 1, packed_a>(g, tiles, first_tile, last_tile, t, k0, panel);
}

void gemm_impl(const GemmCall& g) noexcept {
  const Index m = g.c.rows, k_all = g.b.k;
  if (g.c.empty()) return;
  const Index k_blocks = std::max<Index>(1, (k_all + kMaxBlockK - 1) / kMaxBlockK);
  Tile t = {};
  t.b_stride = panel_stride(k_all);
  t.c_stride = g.c.stride;
  for (Index block = 0; block < k_blocks; ++block) {
    const Index k0 = k_all * block / k_blocks;
    t.k = k_all * (block + 1) / k_blocks - k0;
    t.start = block == 0 ? g.start : ChainStart::kContinue;
    if (m <= kFewRows && !g.a_transposed) {
      t.a = g.a.data + k0;
      t.a_stride = g.a.stride;
      multiply_all_panels<kFewRows, kFewPanels, false>(g, RowTiles(m, kFewRows), 0, 1, t, k0);
      continue;
    }
    const RowTiles tiles(m, kTileRows);
    const Index tiles_at_once =
        std::max<Index>(1, (g.scratch_size - 16) / std::max<Index>(1, t.k * tiles.rows(0)));
    for (Index first = 0; first < tiles.count; first += tiles_at_once) {
      const Index last = std::min(tiles.count, first + tiles_at_once);
      float* to = g.scratch;
      for (Index i = first; i < last; ++i) {
        const Index row = tiles.first(i), rows = tiles.rows(i);
        if (g.a_transposed) {
          pack_columns(g.a.row(k0) + row, g.a.stride, m - row, rows, t.k, to);
        } else {
          pack_rows(g.a.row(row) + k0, g.a.stride, rows, t.k, to);
        }
        to += t.k * rows;
      }
      t.a = g.scratch;
      multiply_all_panels<kTileRows, kTilePanels, true>(g, tiles, first, last, t, k0);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(gemm_impl);
REGARD_DISPATCH_TABLE(pack_impl);
REGARD_DISPATCH_TABLE(pack_transposed_impl);

namespace {

// Rows of A that are packed at once when the arena holds them: about a quarter of a usual
// second-level cache.
constexpr Index kArenaScratch = 128 * 1024;

void multiply_in(Arena& arena, GemmCall& call) {
  const Index all = call.c.rows * call.b.k + 16;
  call.scratch_size = std::max<Index>(16 + kMaxBlockK * 16, std::min(all, kArenaScratch));
  call.scratch = arena.array<float>(call.scratch_size);
  REGARD_DISPATCH(gemm_impl)(call);
}

}  // namespace

PackedMatrix pack(ConstMatrix b, float* out) noexcept {
  REGARD_DISPATCH(pack_impl)(b, out);
  return {out, b.rows, b.cols};
}

PackedMatrix pack_transposed(ConstMatrix b_transposed, float* out) noexcept {
  REGARD_DISPATCH(pack_transposed_impl)(b_transposed, out);
  return {out, b_transposed.cols, b_transposed.rows};
}

void gemm(ConstMatrix a, const PackedMatrix& b, ChainStart start, ConstVector bias,
          Matrix c) noexcept {
  REGARD_ASSERT(a.rows == c.rows && a.cols == b.k && b.n == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias || bias.size == b.n);
  alignas(64) float scratch[kStackScratch];
  REGARD_DISPATCH(gemm_impl)
  ({a, false, b, start, start == ChainStart::kBias ? bias.data : nullptr, c, scratch,
    kStackScratch});
}

void gemm_at_b(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena) {
  REGARD_ASSERT(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias);
  const ArenaScope scope(arena);
  const PackedMatrix packed = pack(b, arena.array<float>(packed_size(b.rows, b.cols)));
  GemmCall call{a, true, packed, start, nullptr, c, nullptr, 0};
  multiply_in(arena, call);
}

void gemm_a_b(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena) {
  REGARD_ASSERT(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias);
  const ArenaScope scope(arena);
  const PackedMatrix packed = pack(b, arena.array<float>(packed_size(b.rows, b.cols)));
  GemmCall call{a, false, packed, start, nullptr, c, nullptr, 0};
  multiply_in(arena, call);
}

void gemm_a_bt(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena) {
  REGARD_ASSERT(a.rows == c.rows && a.cols == b.cols && b.rows == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias);
  const ArenaScope scope(arena);
  const PackedMatrix packed = pack_transposed(b, arena.array<float>(packed_size(b.cols, b.rows)));
  GemmCall call{a, false, packed, start, nullptr, c, nullptr, 0};
  multiply_in(arena, call);
}

}  // namespace regard
#endif  // HWY_ONCE
