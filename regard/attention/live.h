// A block of query rows of one sentence and the keys that each of them may attend to; and the two
// products with right-hand rows, of which what is masked is no part, be it NaN.
//
// Internal.
#pragma once

#include "regard/attention/attention.h"
#include "regard/attention/combine.h"
#include "regard/attention/row_blocks.h"

namespace regard::attention {

// Keys are taken up in tiles of one word of bits.
constexpr Index kKeyTile = 64;

// Keys first to first + count - 1.
struct KeyRange {
  Index first = 0;
  Index count = 0;
};

struct BlockLive {
  LiveBlock live;             // words null: every key of every row
  KeyRange range;             // from the first tile with a live key to the last, or none
  KeyBits* memory = nullptr;  // [kRowBlock, key_words(longest)]
};

// The place of row i of a block.
RowPlace place_of(const PreparedKeys& keys, const QueryRows& queries, const RowBlock& block,
                  Index i, Index head) noexcept;

// Throws where the mask or the bias has no meaning at a row.
void check_places(const char* function, const PreparedKeys& keys, const QueryRows& queries,
                  const RowBlocks& blocks);

// Finds out what is live; `out.memory` holds the bits.
void find_live(const PreparedKeys& keys, const QueryRows& queries, const RowBlock& block,
               Index head, BlockLive& out) noexcept;

// to[j] += factor * from[j] for the keys of `tile` that are live to row i; from is 0 elsewhere.
void add_live(const BlockLive& live, Index i, KeyRange tile, float factor, const float* from,
              float* to) noexcept;

// out[i] = sum over live j of weight(i, j) rows[j], i < block rows, j in order.
void combine_live(const BlockLive& live, const float* weights, Index stride, const Rows& rows,
                  const OutputRows& out) noexcept;
// The same for the keys of `tile`, which begins at a multiple of kKeyTile, added to `out`: weights
// and rows are those of the tile.
void combine_tile(const BlockLive& live, KeyRange tile, const float* weights, Index stride,
                  const Rows& rows, const OutputRows& out) noexcept;

// out[j] += sum over the block's rows i, in order, for which j is live, of weight(i, j) rows[i].
void spread_live(const BlockLive& live, const float* weights, Index stride, const Rows& rows,
                 const OutputRows& out) noexcept;
// The same for the keys of `tile`: weights and out are those of the tile.
void spread_tile(const BlockLive& live, KeyRange tile, const float* weights, Index stride,
                 const Rows& rows, const OutputRows& out) noexcept;

}  // namespace regard::attention
