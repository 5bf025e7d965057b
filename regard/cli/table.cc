#include "regard/cli/table.h"

#include <algorithm>
#include <limits>

namespace regard::cli {
namespace {

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
};

Range range_of(const std::vector<Row>& rows, std::size_t c) {
  Range range;
  for (const Row& row : rows) {
    if (c >= row.cells.size() || !row.cells[c].counts) continue;
    range.least = std::min(range.least, row.cells[c].value);
    range.most = std::max(range.most, row.cells[c].value);
  }
  return range;
}

// Columns of the terminal: code points, of text without wide or combining ones.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool left) {
  const std::size_t have = columns_of(text);
  const std::string blanks(width > have ? width - have : 0, ' ');
  return left ? text + blanks : blanks + text;
}

}  // namespace

std::string format_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                         bool mark) {
  std::vector<std::string> lines(rows.size() + 1);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = columns[c];
    const bool markable = mark && column.best != Best::kNone;
    const Range range = range_of(rows, c);
    const double best = column.best == Best::kLeast ? range.least : range.most;
    std::vector<std::string> texts = {column.title};
    for (const Row& row : rows) {
      texts.push_back(c < row.cells.size() ? row.cells[c].text : "");
      if (!markable || c >= row.cells.size()) continue;
      const Cell& cell = row.cells[c];
      texts.back() += cell.counts && cell.value == best && range.least < range.most ? "*" : " ";
    }
    if (markable) texts[0] += " ";
    std::size_t width = 0;
    for (const std::string& text : texts) width = std::max(width, columns_of(text));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0 && c >= rows[i - 1].cells.size()) continue;
      lines[i] += (c > 0 ? "  " : "") + padded(texts[i], width, column.left);
    }
  }
  std::string all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && !rows[i - 1].note.empty()) lines[i] += "  " + rows[i - 1].note;
    lines[i].erase(lines[i].find_last_not_of(' ') + 1);
    all += lines[i] + "\n";
  }
  return all;
}

}  // namespace regard::cli
