// The first of these that fits is taken: flat labels over equal cells, flat labels over cells as
// wide as each needs, stairs (few columns, or a script whose letters can not be stacked), upright
// labels, bands.
#include "regard/view/terminal_layout.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "regard/view/cells.h"

namespace regard {
namespace {

constexpr int kMargin = 2;
constexpr int kFrame = 2;
constexpr int kWidestEqualCell = 14;
constexpr int kTallestUpright = 12;
constexpr std::size_t kMostStairs = 16;
constexpr int kStairsLabel = 8;  // columns that a label on stairs has at least, if it needs them
constexpr int kNarrowCell = 2;

int sum(const std::vector<int>& widths) { return std::accumulate(widths.begin(), widths.end(), 0); }

std::vector<int> widths_of(const std::vector<std::string>& labels) {
  std::vector<int> widths;
  widths.reserve(labels.size());
  for (const std::string& label : labels) widths.push_back(display_width(label));
  return widths;
}

std::optional<Band> flat(const std::vector<int>& labels, int room) {
  const int widest = *std::max_element(labels.begin(), labels.end());
  const int equal = std::max(kCellWithDigits, widest + 2);
  Band band{0, HeaderStyle::kFlat, std::vector<int>(labels.size(), equal)};
  if (equal <= kWidestEqualCell && sum(band.widths) <= room) return band;
  for (std::size_t c = 0; c < labels.size(); ++c) {
    band.widths[c] = std::max(kCellWithDigits, labels[c] + 2);
  }
  if (sum(band.widths) <= room) return band;
  return std::nullopt;
}

// Does each label, cut to kStairsLabel if need be, fit to the right of its column's middle?
bool stairs_fit(const std::vector<int>& labels, int cell, int room) {
  for (std::size_t c = 0; c < labels.size(); ++c) {
    const int at = static_cast<int>(c) * cell + (cell - 1) / 2 + 2;
    if (at + std::min(labels[c], kStairsLabel) > room) return false;
  }
  return static_cast<int>(labels.size()) * cell <= room;
}

std::optional<Band> stairs(const std::vector<int>& labels, int least, int room) {
  for (int cell = kCellWithDigits; cell >= least; --cell) {
    if (stairs_fit(labels, cell, room)) {
      return Band{0, HeaderStyle::kStairs, std::vector<int>(labels.size(), cell)};
    }
  }
  return std::nullopt;
}

std::optional<Band> upright(std::size_t columns, int room) {
  for (int cell = 4; cell >= kNarrowCell; --cell) {
    if (static_cast<int>(columns) * cell <= room) {
      return Band{0, HeaderStyle::kUpright, std::vector<int>(columns, cell)};
    }
  }
  return std::nullopt;
}

std::vector<Band> bands_for(const std::vector<int>& labels, bool stackable, int room) {
  if (labels.empty()) return {};
  if (stackable || labels.size() == 1) {
    if (const auto band = flat(labels, room)) return {*band};
  }
  if (labels.size() <= kMostStairs || !stackable) {
    if (const auto band = stairs(labels, stackable ? 4 : kNarrowCell, room)) return {*band};
  }
  if (stackable) {
    if (const auto band = upright(labels.size(), room)) return {*band};
  }
  // Cut into equal bands, as few as fit.
  constexpr int kCell = 3;
  const int usable = stackable ? room : room - kStairsLabel - 2;
  const auto most = static_cast<std::size_t>(std::max(usable / kCell, 1));
  const std::size_t count = (labels.size() + most - 1) / most;
  const HeaderStyle header = stackable ? HeaderStyle::kUpright : HeaderStyle::kStairs;
  std::vector<Band> bands;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t begin = labels.size() * b / count;
    const std::size_t end = labels.size() * (b + 1) / count;
    bands.push_back({begin, header, std::vector<int>(end - begin, kCell)});
  }
  return bands;
}

void clip_headers(TerminalLayout& layout, int room, std::string_view ellipsis) {
  for (const Band& band : layout.bands) {
    int at = 0;
    for (std::size_t c = 0; c < band.widths.size(); ++c) {
      std::string& label = layout.cols[band.first + c];
      const int cell = band.widths[c];
      if (band.header == HeaderStyle::kStairs) {
        label = clip(label, std::max(room - at - (cell - 1) / 2 - 2, 1), ellipsis);
      } else if (band.header == HeaderStyle::kUpright) {
        const auto glyphs = glyphs_of(label);
        if (glyphs.size() > kTallestUpright) {
          label.clear();
          for (std::size_t g = 0; g + 1 < kTallestUpright; ++g) label += glyphs[g].text;
          label += ellipsis;
        }
      }
      at += cell;
    }
  }
}

}  // namespace

TerminalLayout lay_out(std::vector<std::string> row_labels, std::vector<std::string> col_labels,
                       int width, bool ascii) {
  const std::string_view ellipsis = ascii ? "~" : "\u2026";
  width = std::max(width, kLeastWidth);
  TerminalLayout layout;
  layout.rows = std::move(row_labels);
  layout.cols = std::move(col_labels);
  const int widest_row = std::min(24, width / 4);
  for (std::string& label : layout.rows) {
    label = clip(label, widest_row, ellipsis);
    layout.row_width = std::max(layout.row_width, display_width(label));
    layout.rows_right = layout.rows_right || has_right_to_left(label);
  }
  const bool stackable = std::none_of(layout.cols.begin(), layout.cols.end(), has_right_to_left);
  const int room = width - kMargin - layout.row_width - kFrame;
  layout.bands = bands_for(widths_of(layout.cols), stackable, room);
  clip_headers(layout, room, ellipsis);
  return layout;
}

}  // namespace regard
