// Where labels and cells of a terminal heat map go. Used by terminal.cc.
#pragma once

#include <string>
#include <vector>

namespace regard {

enum class HeaderStyle {
  kFlat,     // labels on one line, centred over their cells
  kStairs,   // one line a label, joined to its column by a vertical line
  kUpright,  // letters stacked
};

// Some neighbouring columns that are drawn below one header.
struct Band {
  std::size_t first = 0;
  HeaderStyle header = HeaderStyle::kFlat;
  std::vector<int> widths;  // of each column's cells
};

struct TerminalLayout {
  std::vector<std::string> rows;  // labels, cut to row_width
  std::vector<std::string> cols;  // labels, cut to what their header has room for
  int row_width = 0;
  bool rows_right = false;  // row labels to the right of the cells
  std::vector<Band> bands;  // together all columns
};

inline constexpr int kLeastWidth = 40;
inline constexpr int kCellWithDigits = 6;  // the narrowest cell that holds a shade and per cent

// REQUIRES: labels as token_labels() gives them. Every line that follows the layout (margin 2, row
// label, two columns of frame, cells) fits into `width`.
TerminalLayout lay_out(std::vector<std::string> row_labels, std::vector<std::string> col_labels,
                       int width, bool ascii);

}  // namespace regard
