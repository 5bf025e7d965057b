// Packed rows: the layout of everything that steps through sequences of different lengths.
#pragma once

#include "regard/tensor/view.h"

namespace regard {

// Sequences sorted by length, longest first; step t holds one row of each sequence that is still
// live, in that order, and follows step t-1 in memory. Row offsets[t] + b is position t of sequence
// b, so the live sequences of a step are always a prefix of those of the step before, and work
// follows real tokens. Borrowed: `offsets` holds steps + 1 numbers, the first 0.
struct Packing {
  const Index* offsets = nullptr;
  Index steps = 0;

  // The live sequences of step t.
  Index rows(Index t) const { return offsets[t + 1] - offsets[t]; }
  Index total() const { return steps > 0 ? offsets[steps] : 0; }
  // The number of sequences (those of length 0 not counted).
  Index max_rows() const { return steps > 0 ? rows(0) : 0; }
};

}  // namespace regard
