#include "regard/attention/row_blocks.h"

#include <algorithm>
#include <string>

#include "regard/base/error.h"

namespace regard::attention {

RowBlocks make_row_blocks(const char* function, const Index* key_row, Index rows, Index sentences,
                          Arena& arena) {
  if (rows == 0) return {};
  if (sentences == 0 || (key_row == nullptr && sentences != 1)) {
    throw ShapeError(std::string(function) + ": key_row: wanted the sentence of each row, one of " +
                     std::to_string(sentences) + ", got none");
  }
  // A counting sort: end[b] is first the number of rows of sentences up to b, then where the rows
  // of sentence b go.
  Index* end = arena.array<Index>(sentences + 1);
  std::fill(end, end + sentences + 1, 0);
  for (Index i = 0; i < rows; ++i) {
    const Index b = key_row == nullptr ? 0 : key_row[i];
    if (b < 0 || b >= sentences) {
      throw ShapeError(std::string(function) + ": key_row[" + std::to_string(i) +
                       "]: wanted a sentence below " + std::to_string(sentences) + ", got " +
                       std::to_string(b));
    }
    ++end[b + 1];
  }
  Index blocks = 0;
  for (Index b = 0; b < sentences; ++b) {
    blocks += (end[b + 1] + kRowBlock - 1) / kRowBlock;
    end[b + 1] += end[b];
  }
  Index* order = arena.array<Index>(rows);
  for (Index i = 0; i < rows; ++i) order[end[key_row == nullptr ? 0 : key_row[i]]++] = i;
  RowBlock* block = arena.array<RowBlock>(blocks);
  Index at = 0;
  Index n = 0;
  for (Index b = 0; b < sentences; ++b) {
    const Index begin = at;
    for (; at < end[b]; ++n) {
      const Index count = std::min(kRowBlock, end[b] - at);
      block[n] = {b, order + at, count, at - begin, end[b] - begin};
      at += count;
    }
  }
  return {block, blocks};
}

}  // namespace regard::attention
