// The live keys of one row, and rows of theirs that lie together: what the normalisers work on.
//
// Internal: nothing checked.
#pragma once

#include "regard/attention/mask.h"
#include "regard/tensor/view.h"

namespace regard::attention {

constexpr Index padded(Index n) { return (n + 15) / 16 * 16; }

struct LiveRow {
  const KeyBits* words = nullptr;  // of the row; null: all keys from first to end
  Index keys = 0;                  // of the sentence
  Index first = 0;                 // the first live key
  Index end = 0;                   // behind the last one
  Index count = 0;

  // The live keys are neighbours, so they can be worked on where they lie: whole blocks of sixteen
  // from the first one on end before the row does.
  bool in_place() const noexcept {
    return count == end - first && first + padded(count) <= padded(keys);
  }
};

// Of the keys `from` to `to` - 1.
LiveRow live_row(const LiveBlock& block, Index row, Index from, Index to) noexcept;
inline LiveRow live_row(const LiveBlock& block, Index row) noexcept {
  return live_row(block, row, 0, block.keys);
}

// out = the live elements in order, then zeros up to a multiple of 16.
void gather_live(const float* row, const LiveRow& live, float* out) noexcept;
// The other way round: row [padded(keys)] becomes `compact` at the live keys and 0 elsewhere.
// Where compact is row + first, as it is for rows that are worked on in place, nothing moves.
void scatter_live(const float* compact, const LiveRow& live, float* row) noexcept;
// Where the row is not live, up to padded(keys).
void fill_dead(float* row, const LiveRow& live, float value) noexcept;
// out[n] = position of the n-th live key - center.
void live_offsets(const LiveRow& live, float center, float* out) noexcept;

// Up to sixteen rows of live keys, key 0 of each the first live one. count >= 1; memory of a row
// goes on to a multiple of 16 and holds anything there; kernels write zeros.
constexpr Index kGroupRows = 16;
struct RowGroup {
  Index rows = 0;
  float* row[kGroupRows] = {};
  Index count[kGroupRows] = {};
};

}  // namespace regard::attention
