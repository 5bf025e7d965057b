// The driver of the matrix product: which tiles, in which order, from which packed operands.
//
// K is cut into blocks (the partial sums wait in C), N into blocks of panels that stay in the
// second-level cache, M into blocks whose packed rows fit into the scratch. Inside a block, tiles
// of rows are the outer loop and panels the inner one: a packed row tile stays in the first-level
// cache, and C is written along its rows. A B that is not packed yet is packed on the way: by the
// first row tile while it multiplies, or, transposed, panel by panel just before use. None of these
// choices changes a bit: see gemm_tile-inl.h.
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

constexpr Index kMaxBlockK = 640;
// Floats of a block of panels: 640 KiB, which leaves room beside it in a cache of 1 MiB.
constexpr Index kBlockPanels = 160 * 1024;
// A block has a multiple of so many panels, if it can: every width of tile divides it.
constexpr Index kPanelStep = 12;
// Floats that a packed row tile may need.
constexpr Index kTileScratch = kMaxBlockK * 16 + 16;

enum class Operand { kPanels, kRowMajor, kTransposed };

struct GemmCall {
  Operand a_form = Operand::kRowMajor;  // or kTransposed: `a` is [K,M]
  ConstMatrix a;
  Operand b_form = Operand::kPanels;  // otherwise from `b`, [K,N] or transposed [N,K]
  ConstMatrix b;
  const float* panels = nullptr;  // all of B packed, or where to
  float* new_panels = nullptr;    // the same, where B has still to be packed
  Index k = 0;
  ChainStart start = ChainStart::kZero;
  const float* bias = nullptr;
  Matrix c;
  float* scratch = nullptr;  // room for packed rows of A
  Index scratch_size = 0;    // at least kTileScratch
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

// Some row tiles and some panels of C, and one block of k.
struct Block {
  RowTiles tiles;
  Index first_tile, last_tile;
  Index first_panel, last_panel;
  Index k0, k;
  bool packs_b;  // B is packed on the way
  bool compact;  // only this block of panels is kept packed: no later row needs the others

  // What a packed row tile takes: a store at its end may spill over.
  Index packed_size(Index tile) const { return k * tiles.rows(tile) + 16; }
};

// The distance between panels, and from the first of them to the block's part of `panel`.
Index panel_gap(const GemmCall& g, const Block& block) {
  return panel_stride(block.compact ? block.k : g.k);
}
Index panel_offset(const GemmCall& g, const Block& block, Index panel) {
  return block.compact ? (panel - block.first_panel) * panel_stride(block.k)
                       : panel * panel_stride(g.k) + block.k0 * 16;
}

void pack_row_tiles(const GemmCall& g, const Block& block) {
  float* out = g.scratch;
  if (g.a_form == Operand::kRowMajor) {
    for (Index i = block.first_tile; i < block.last_tile; ++i) {
      pack_rows(g.a.row(block.tiles.first(i)) + block.k0, g.a.stride, block.tiles.rows(i), block.k,
                out);
      out += block.packed_size(i);
    }
    return;
  }
  // Along the rows of A^T's memory, all tiles side by side.
  for (Index k = 0; k < block.k; ++k) {
    const float* a = g.a.row(block.k0 + k);
    out = g.scratch;
    for (Index i = block.first_tile; i < block.last_tile; ++i) {
      const Index row = block.tiles.first(i), rows = block.tiles.rows(i);
      pack_row_of_columns(a + row, g.a.cols - row, rows, out + k * rows);
      out += block.packed_size(i);
    }
  }
}

void pack_panels(const GemmCall& g, const Block& block, Index panel, Index panels) {
  if (block.k == 0) return;  // B may be null
  for (Index p = panel; p < panel + panels; ++p) {
    const Index width = std::min<Index>(16, g.c.cols - p * 16);
    float* out = g.new_panels + panel_offset(g, block, p);
    if (g.b_form == Operand::kRowMajor) {
      pack_panel(g.b.row(block.k0) + p * 16, g.b.stride, width, block.k, out);
    } else {
      pack_panel_transposed(g.b.row(p * 16) + block.k0, g.b.stride, width, block.k, out);
    }
  }
}

// A tile whose columns do not all exist: computed beside C, then copied.
HWY_NOINLINE void multiply_ragged(TileFn fn, Tile t, Index rows, Index panels, Index width) {
  alignas(64) float c[kTileRows * 16 * kMaxPanels];
  const size_t bytes = sizeof(float) * static_cast<size_t>(width);
  const Index stride = panels * 16;
  std::memset(c, 0, sizeof(float) * static_cast<size_t>(rows * stride));
  for (Index r = 0; r < rows; ++r) {
    std::memcpy(c + r * stride, t.start + r * t.start_stride, bytes);
  }
  float* to = t.c;
  const Index to_stride = t.c_stride;
  t.start = t.c = c;
  t.start_stride = t.c_stride = stride;
  fn(t);
  for (Index r = 0; r < rows; ++r) std::memcpy(to + r * to_stride, c + r * stride, bytes);
}

alignas(64) constexpr float kZeros[16 * kMaxPanels] = {};

// Points the tile at the values where its chains start.
HWY_INLINE void set_start(const GemmCall& g, const Block& block, Index column, Tile& t) {
  const ChainStart start = block.k0 > 0 ? ChainStart::kContinue : g.start;
  t.start = start == ChainStart::kZero   ? kZeros
            : start == ChainStart::kBias ? g.bias + column
                                         : t.c;
  t.start_stride = start == ChainStart::kContinue ? t.c_stride : 0;
}

// Row tile `i` of C from panel `panel` on, `panels` panels at a time and then ever fewer.
template <int panels, AForm a_form>
HWY_INLINE void multiply_panels(const GemmCall& g, const Block& block, Index i, Tile t,
                                Index panel) {
  const Index rows = block.tiles.rows(i);
  if (rows <= most_rows(panels)) {
    const TileFn multiply = tile_function<panels, a_form, BForm::kPanels>(rows);
    const bool packs = block.packs_b && i == block.first_tile;
    float* c = g.c.row(block.tiles.first(i));
    for (; panel + panels <= block.last_panel; panel += panels) {
      const Index column = panel * 16;
      const Index width = std::min<Index>(panels * 16, g.c.cols - column);
      const Index offset = panel_offset(g, block, panel);
      t.c = c + column;
      set_start(g, block, column, t);
      if constexpr (a_form == AForm::kPacked) {
        if (packs && g.b_form == Operand::kRowMajor && width == panels * 16) {
          Tile packing = t;
          packing.b = g.b.row(block.k0) + column;
          packing.b_stride = g.b.stride;
          packing.b_panels = g.new_panels + offset;
          packing.panel_gap = t.b_stride;
          tile_function<panels, a_form, BForm::kRowMajor>(rows)(packing);
          continue;
        }
      }
      if (packs) pack_panels(g, block, panel, panels);
      t.b = g.panels + offset;
      if (width == panels * 16) {
        multiply(t);
      } else {
        multiply_ragged(multiply, t, rows, panels, width);
      }
    }
  }
  if constexpr (panels > 1) multiply_panels<panels - 1, a_form>(g, block, i, t, panel);
}

template <AForm a_form>
HWY_INLINE void multiply_block(const GemmCall& g, const Block& block, Tile t) {
  t.b_stride = panel_gap(g, block);
  t.c_stride = g.c.stride;
  t.k = block.k;
  for (Index i = block.first_tile; i < block.last_tile; ++i) {
    multiply_panels<kMaxPanels, a_form>(g, block, i, t, block.first_panel);
    if (a_form == AForm::kPacked) t.a += block.packed_size(i);
  }
}

// All of M and N for one block of k.
void multiply_rows_packed(const GemmCall& g, Block block) {
  const Index panels = block.last_panel;
  const Index near =
      std::max<Index>(1, kBlockPanels / (kPanelStep * panel_stride(block.k))) * kPanelStep;
  const Index panel_blocks = (panels + near - 1) / near;
  // If all of B is near, a row tile is best multiplied as soon as it is packed. Columns of A^T are
  // packed for many tiles at once, along the rows of A.
  const bool one_by_one = panel_blocks == 1 && g.a_form == Operand::kRowMajor;
  const Index room = std::max<Index>(1, g.scratch_size / block.packed_size(0));
  const Index at_once = one_by_one ? 1 : room;
  const Index row_blocks = (block.tiles.count + at_once - 1) / at_once;
  block.compact = block.packs_b && (row_blocks == 1 || panel_blocks == 1);
  Tile t = {};
  t.a = g.scratch;
  for (Index r = 0; r < row_blocks; ++r) {
    block.first_tile = block.tiles.count * r / row_blocks;
    block.last_tile = block.tiles.count * (r + 1) / row_blocks;
    pack_row_tiles(g, block);
    for (Index p = 0; p < panels; p += near) {
      block.first_panel = p;
      block.last_panel = std::min(panels, p + near);
      multiply_block<AForm::kPacked>(g, block, t);
    }
    block.packs_b = false;
  }
}

void gemm_impl(const GemmCall& g) noexcept {
  if (g.c.empty()) return;
  const bool in_place =
      g.c.rows <= kFewRows && g.a_form == Operand::kRowMajor && g.b_form == Operand::kPanels;
  const RowTiles tiles(g.c.rows, in_place ? kFewRows : kTileRows);
  const Index k_blocks = std::max<Index>(1, (g.k + kMaxBlockK - 1) / kMaxBlockK);
  for (Index i = 0; i < k_blocks; ++i) {
    const Index k0 = g.k * i / k_blocks, k = g.k * (i + 1) / k_blocks - k0;
    const Block block{
        tiles, 0, tiles.count, 0, (g.c.cols + 15) / 16, k0, k, g.b_form != Operand::kPanels, false};
    if (in_place) {
      Tile t = {};
      t.a = g.a.data + k0;
      t.a_stride = g.a.stride;
      multiply_block<AForm::kInPlace>(g, block, t);
    } else {
      multiply_rows_packed(g, block);
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

// Floats of A that are packed at once, on the stack or in an arena.
constexpr Index kStackScratch = 80 * 1024;
constexpr Index kArenaScratch = 512 * 1024;

// A product that packs B on the way.
void multiply_in(Arena& arena, GemmCall call) {
  const ArenaScope scope(arena);
  call.new_panels = arena.array<float>(packed_size(call.k, call.c.cols));
  call.panels = call.new_panels;
  call.scratch_size =
      std::max(kTileScratch, std::min(call.c.rows * (call.k + 16) + 16, kArenaScratch));
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
  GemmCall call;
  call.a = a;
  call.panels = b.data;
  call.k = b.k;
  call.start = start;
  call.bias = start == ChainStart::kBias ? bias.data : nullptr;
  call.c = c;
  call.scratch = scratch;
  call.scratch_size = kStackScratch;
  REGARD_DISPATCH(gemm_impl)(call);
}

void gemm_at_b(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena) {
  REGARD_ASSERT(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias);
  multiply_in(arena, {Operand::kTransposed, a, Operand::kRowMajor, b, nullptr, nullptr, b.rows,
                      start, nullptr, c, nullptr, 0});
}

void gemm_a_b(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena) {
  REGARD_ASSERT(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias);
  multiply_in(arena, {Operand::kRowMajor, a, Operand::kRowMajor, b, nullptr, nullptr, b.rows, start,
                      nullptr, c, nullptr, 0});
}

void gemm_a_bt(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena) {
  REGARD_ASSERT(a.rows == c.rows && a.cols == b.cols && b.rows == c.cols);
  REGARD_ASSERT(start != ChainStart::kBias);
  multiply_in(arena, {Operand::kRowMajor, a, Operand::kTransposed, b, nullptr, nullptr, b.cols,
                      start, nullptr, c, nullptr, 0});
}

}  // namespace regard
#endif  // HWY_ONCE
