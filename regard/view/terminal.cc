#include "regard/view/terminal.h"

#include <algorithm>
#include <string_view>

#include "regard/view/cells.h"
#include "regard/view/labels.h"
#include "regard/view/palette.h"
#include "regard/view/picture.h"
#include "regard/view/terminal_layout.h"
#include "regard/view/terminal_style.h"

namespace regard {
namespace {

constexpr std::string_view kMargin = "  ";

std::string spaces(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

class HeatMap {
 public:
  HeatMap(const Record& record, const TerminalOptions& options)
      : record_(record),
        options_(options),
        style_(options.color, options.ascii),
        layout_(lay_out(token_labels(record.target_tokens, options.ascii),
                        token_labels(record.source_tokens, options.ascii), options.width,
                        options.ascii)) {}

  std::string draw() const {
    std::string out;
    for (const Band& band : layout_.bands) {
      if (layout_.bands.size() > 1) out += band_title(band);
      switch (band.header) {
        case HeaderStyle::kFlat:
          out += flat_header(band);
          break;
        case HeaderStyle::kStairs:
          out += stairs_header(band);
          break;
        case HeaderStyle::kUpright:
          out += upright_header(band);
          break;
      }
      for (std::size_t r = 0; r < layout_.rows.size(); ++r) out += row(band, r);
      if (&band != &layout_.bands.back()) out += '\n';
    }
    return out;
  }

 private:
  // What stands before the cells on every line.
  std::string indent() const {
    return std::string(kMargin) + (layout_.rows_right ? "" : spaces(layout_.row_width + 2));
  }

  std::string end_line(std::string line) const {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + '\n';
  }

  std::string band_title(const Band& band) const {
    return std::string(kMargin) +
           style_.faint("columns " + std::to_string(band.first + 1) + " to " +
                        std::to_string(band.first + band.widths.size()) + " of " +
                        std::to_string(layout_.cols.size())) +
           '\n';
  }

  std::string column_label(const std::string& text, std::size_t column) const {
    return is_end_marker(record_.source_tokens[column]) ? style_.faint(text) : text;
  }

  std::string flat_header(const Band& band) const {
    std::string line = indent();
    std::string pending;  // blanks are written before the next label, so that no line ends in them
    for (std::size_t c = 0; c < band.widths.size(); ++c) {
      const std::string& label = layout_.cols[band.first + c];
      const int free = band.widths[c] - display_width(label);
      line += pending + spaces(free / 2) + column_label(label, band.first + c);
      pending = spaces(free - free / 2);
    }
    return line + '\n';
  }

  std::string stairs_header(const Band& band) const {
    std::string out;
    std::string stems = indent();  // the vertical lines of the columns passed
    for (std::size_t c = 0; c < band.widths.size(); ++c) {
      const int before = (band.widths[c] - 1) / 2;
      stems += spaces(before);
      out += stems + style_.faint(style_.corner()) + ' ' +
             column_label(layout_.cols[band.first + c], band.first + c) + '\n';
      stems += style_.faint(style_.stem()) + spaces(band.widths[c] - before - 1);
    }
    return out;
  }

  std::string upright_header(const Band& band) const {
    std::vector<std::vector<Glyph>> letters;
    std::size_t height = 0;
    for (std::size_t c = 0; c < band.widths.size(); ++c) {
      letters.push_back(glyphs_of(layout_.cols[band.first + c]));
      height = std::max(height, letters.back().size());
    }
    std::string out;
    for (std::size_t line = 0; line < height; ++line) {
      std::string text = indent();
      for (std::size_t c = 0; c < band.widths.size(); ++c) {
        const std::size_t skipped = height - letters[c].size();
        const Glyph glyph = line < skipped ? Glyph{"", 0} : letters[c][line - skipped];
        const int free = band.widths[c] - glyph.width;
        text += spaces(free / 2) + glyph.text + spaces(free - free / 2);
      }
      out += end_line(text);
    }
    return out;
  }

  std::string row(const Band& band, std::size_t r) const {
    const std::string& text = layout_.rows[r];
    const int free = layout_.row_width - display_width(text);
    const std::string label = is_end_marker(record_.target_tokens[r]) ? style_.faint(text) : text;
    const std::int64_t peak = row_peak(record_.attention, static_cast<std::int64_t>(r));
    std::string cells;
    for (std::size_t c = 0; c < band.widths.size(); ++c) {
      const auto column = static_cast<std::int64_t>(band.first + c);
      const float weight = record_.attention(static_cast<std::int64_t>(r), column);
      cells += style_.cell(percent_of(weight), band.widths[c], column == peak, options_.digits);
    }
    cells += style_.reset();
    if (layout_.rows_right)
      return std::string(kMargin) + cells + style_.frame_right() + label + '\n';
    return end_line(std::string(kMargin) + spaces(free) + label + style_.frame_left() + cells);
  }

  const Record& record_;
  const TerminalOptions& options_;
  TerminalStyle style_;
  TerminalLayout layout_;
};

std::string paragraph(std::string_view label, const std::string& text, int width) {
  const int indent = 9;
  std::string out;
  for (const std::string& line : wrap_text(visible_text(text), width - indent)) {
    out += std::string(kMargin) + pad_right(label, indent - 2) + line + '\n';
    label = "";
  }
  return out;
}

}  // namespace

std::string render_terminal(const Record& record, const TerminalOptions& given) {
  TerminalOptions options = given;
  options.width = std::max(options.width, kLeastWidth);
  require_picture(record, "render_terminal");
  if (record.blank) return std::string(kMargin) + std::string(kBlankLine) + '\n';
  std::string out;
  if (options.heading) {
    out += paragraph("read", record.source, options.width);
    if (!record.self_attention()) out += paragraph("wrote", record.target, options.width);
    out += '\n';
  }
  if (!record.has_attention) {
    for (const std::string& line : wrap_text(kNoAttention, options.width - 2)) {
      out += std::string(kMargin) + line + '\n';
    }
    return out;
  }
  out += HeatMap(record, options).draw();
  if (options.legend) {
    const TerminalStyle style(options.color, options.ascii);
    out += '\n';
    for (const std::string& line : wrap_text(how_to_read(record), options.width - 2)) {
      out += std::string(kMargin) + style.faint(line) + '\n';
    }
    if (style.colored()) return out + std::string(kMargin) + style.legend() + '\n';
    for (const std::string& line : wrap_text(style.legend(), options.width - 2)) {
      out += std::string(kMargin) + line + '\n';
    }
  }
  return out;
}

}  // namespace regard
