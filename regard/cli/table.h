// A table of text: names left, numbers right, the best of each column marked.
#pragma once

#include <string>
#include <vector>

namespace regard::cli {

enum class Best { kNone, kLeast, kMost };

struct Column {
  std::string title;
  Best best = Best::kNone;
  bool left = false;
};

struct Cell {
  std::string text;
  double value = 0.0;
  bool counts = false;  // whether `value` may be the best of the column
};

// A row with fewer cells than columns ends with `note`.
struct Row {
  std::vector<Cell> cells;
  std::string note;
};

// Lines with ends. `mark` puts a * behind the best, ties included, but not where all are alike.
std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                         bool mark);

}  // namespace regard::cli
