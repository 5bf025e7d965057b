// Query rows grouped by the sentence that they read, so that a block of rows meets its keys once.
#pragma once

#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard::attention {

// Rows of one sentence that are worked on together.
constexpr Index kRowBlock = 32;

struct RowBlock {
  Index sentence = 0;
  const Index* rows = nullptr;  // row numbers of the call, ascending
  Index count = 0;              // 1 to kRowBlock
  Index first_ordinal = 0;      // of the first row among the sentence's rows of this call
  Index sentence_rows = 0;      // of this call
};

struct RowBlocks {
  const RowBlock* data = nullptr;
  Index count = 0;
  const RowBlock* begin() const { return data; }
  const RowBlock* end() const { return data + count; }
};

// Blocks by ascending sentence. `key_row` null: all rows read sentence 0. Throws ShapeError where a
// row names no sentence.
RowBlocks make_row_blocks(const char* function, const Index* key_row, Index rows, Index sentences,
                          Arena& arena);

}  // namespace regard::attention
