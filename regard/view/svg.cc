#include "regard/view/svg.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "regard/view/cells.h"
#include "regard/view/format.h"
#include "regard/view/labels.h"
#include "regard/view/palette.h"
#include "regard/view/picture.h"
#include "regard/view/svg_writer.h"

namespace regard {
namespace {

constexpr double kMargin = 24;
constexpr double kLabelSize = 14;
constexpr double kNoteSize = 12;
constexpr double kGap = 10;          // between labels and cells
constexpr double kLongestRow = 200;  // labels are cut there
constexpr double kLongestColumn = 150;
constexpr double kWidestFlat = 760;   // columns stand under flat labels up to this width
constexpr double kLeastText = 372;    // width of the sentence below
constexpr double kDigitsFrom = 24;    // the smallest cell with per cent in it
constexpr double kDiagonal = 0.7071;  // sine and cosine of 45 degrees
constexpr int kFaintBelow = 5;        // per cent; digits of lighter cells stand back
constexpr std::size_t kMostDescribedRows = 60;

enum class Lean { kFlat, kDiagonal, kUpright };

struct Plan {
  std::vector<std::string> rows;
  std::vector<std::string> cols;
  Lean lean = Lean::kFlat;
  double cell_width = 0;
  double cell_height = 0;
  double label_size = kLabelSize;
  double left = 0;  // of the cells
  double top = 0;
  double width = 0;  // of the picture
  double height = 0;

  double right() const { return left + cell_width * static_cast<double>(cols.size()); }
  double bottom() const { return top + cell_height * static_cast<double>(rows.size()); }
  bool digits() const { return cell_width >= kDigitsFrom && cell_height >= kDigitsFrom; }
  double gap() const { return cell_height >= 24 ? 2 : cell_height >= 12 ? 1 : 0; }
};

double side_for(std::size_t count) {
  return count <= 14 ? 36 : count <= 48 ? 26 : count <= 120 ? 16 : 9;
}

double widest(const std::vector<std::string>& labels, double size) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, estimate_width(label, size));
  return width;
}

// Chooses sizes; leaves room for the legend.
Plan make_plan(const Record& record) {
  Plan plan;
  plan.rows = token_labels(record.target_tokens);
  plan.cols = token_labels(record.source_tokens);
  plan.cell_height = side_for(std::max(plan.rows.size(), plan.cols.size()));
  plan.cell_width = plan.cell_height;
  plan.label_size = std::min(kLabelSize, plan.cell_height - 2);
  for (std::string& label : plan.rows) label = clip_to_width(label, plan.label_size, kLongestRow);
  for (std::string& label : plan.cols)
    label = clip_to_width(label, plan.label_size, kLongestColumn);

  const double longest = widest(plan.cols, plan.label_size);
  const double flat = std::max(56.0, longest + 14);
  double header = plan.label_size;
  double overhang = 0;
  if (flat * static_cast<double>(plan.cols.size()) <= kWidestFlat) {
    plan.cell_width = flat;
  } else if (plan.cell_width >= kDigitsFrom) {
    plan.lean = Lean::kDiagonal;
    plan.cell_width = std::max(plan.cell_width, plan.cols.size() <= 14 ? 44.0 : 0.0);
    header = longest * kDiagonal + plan.label_size;
  } else {
    plan.lean = Lean::kUpright;
    header = longest;
  }
  plan.left = kMargin + std::max(widest(plan.rows, plan.label_size), 40.0) + kGap;
  plan.top = kMargin + std::max(header, kNoteSize + 18) + kGap;
  if (plan.lean == Lean::kDiagonal) {
    for (std::size_t c = 0; c < plan.cols.size(); ++c) {
      const double end = (static_cast<double>(c) + 0.5) * plan.cell_width +
                         estimate_width(plan.cols[c], plan.label_size) * kDiagonal;
      overhang = std::max(overhang, plan.left + end - plan.right());
    }
  }
  plan.width = std::max(plan.right() + overhang, plan.left + kLeastText) + kMargin;
  return plan;
}

std::string theme_rules(Ground ground, const std::set<int>& levels) {
  const bool light = ground == Ground::kLight;
  const std::string page = light ? "#ffffff" : "#0f141c";
  const std::string ink = light ? "#1b2430" : "#e6edf5";
  const std::string note = light ? "#5b6878" : "#93a1b3";
  const std::string peak = light ? "#e8590c" : "#ffa94d";
  std::string rules = ".regard-map .page{fill:" + page + "}.regard-map .word{fill:" + ink +
                      "}.regard-map .note{fill:" + note + "}.regard-map .peak{stroke:" + peak + "}";
  for (const int level : levels) {
    const Rgb color = heat_color(ground, std::max(level, 0));
    const Rgb faint = light ? Rgb{0x8a, 0x9b, 0xb0} : Rgb{0x5f, 0x78, 0xa3};
    const Rgb strong = wants_dark_text(color) ? Rgb{0x0b, 0x12, 0x20} : Rgb{0xff, 0xff, 0xff};
    const bool stands_back = level >= 0 && level < kFaintBelow;
    const std::string name = level < 0 ? "none" : std::to_string(level);
    rules += ".regard-map .w" + name + " rect{fill:" + to_hex(color) + "}.regard-map .w" + name +
             " text{fill:" + to_hex(stands_back ? faint : strong) + "}";
  }
  return rules;
}

std::string style_rules(const std::set<int>& levels) {
  return ".regard-map{font-family:system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",\"DejaVu "
         "Sans\",sans-serif}.regard-map .peak{stroke-width:2;fill:none}" +
         theme_rules(Ground::kLight, levels) + "@media (prefers-color-scheme:dark){" +
         theme_rules(Ground::kDark, levels) + "}";
}

std::string title_of(const Record& record) {
  if (record.blank) return "Attention of a blank line";
  if (record.self_attention()) {
    return "Self-attention, layer " + std::to_string(record.layer) + ", head " +
           std::to_string(record.head) + ": " + visible_text(record.source);
  }
  return "Attention: " + visible_text(record.source) + " \u2192 " + visible_text(record.target);
}

std::string percent_text(float weight) { return fixed_number(weight * 100.0, 1) + " %"; }

std::string description_of(const Record& record, const Plan& plan) {
  std::string text = how_to_read(record);
  for (std::size_t r = 0; r < std::min(plan.rows.size(), kMostDescribedRows); ++r) {
    const auto row = static_cast<std::int64_t>(r);
    const std::int64_t peak = row_peak(record.attention, row);
    text += " " + plan.rows[r] + ": ";
    text += peak < 0 ? "nowhere."
                     : "mostly at " + plan.cols[static_cast<std::size_t>(peak)] + ", " +
                           percent_text(record.attention(row, peak)) + ".";
  }
  if (plan.rows.size() > kMostDescribedRows) {
    text += " And " + std::to_string(plan.rows.size() - kMostDescribedRows) + " more rows.";
  }
  return text;
}

void begin_picture(SvgWriter& svg, const Record& record, double width, double height,
                   const std::string& description) {
  const std::string id =
      "regard-" + std::to_string(record.line) + "-" + std::to_string(record.rank);
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"class", "regard-map"},
                   {"width", coordinate(width)},
                   {"height", coordinate(height)},
                   {"viewBox", "0 0 " + coordinate(width) + " " + coordinate(height)},
                   {"role", "img"},
                   {"aria-labelledby", id + "-title " + id + "-desc"}});
  svg.line_end();
  svg.text("title", title_of(record), {{"id", id + "-title"}});
  svg.line_end();
  svg.text("desc", description, {{"id", id + "-desc"}});
  svg.line_end();
}

void page(SvgWriter& svg, double width, double height) {
  svg.element("rect", {{"class", "page"},
                       {"width", coordinate(width)},
                       {"height", coordinate(height)},
                       {"rx", "10"}});
  svg.line_end();
}

void column_labels(SvgWriter& svg, const Record& record, const Plan& plan) {
  for (std::size_t c = 0; c < plan.cols.size(); ++c) {
    const double x = plan.left + (static_cast<double>(c) + 0.5) * plan.cell_width;
    const double y = plan.top - kGap;
    const std::string kind = is_end_marker(record.source_tokens[c]) ? "note" : "word";
    SvgWriter::Attributes attributes = {{"class", kind},
                                        {"font-size", coordinate(plan.label_size)}};
    if (plan.lean == Lean::kFlat) {
      svg.label(plan.cols[c], x, y, Anchor::kMiddle, attributes);
    } else {
      const double foot = x + (plan.lean == Lean::kUpright ? plan.label_size * 0.35 : 0.0);
      const std::string angle = plan.lean == Lean::kDiagonal ? "-45 " : "-90 ";
      attributes.emplace_back("transform",
                              "rotate(" + angle + coordinate(foot) + " " + coordinate(y) + ")");
      svg.label(plan.cols[c], foot, y, Anchor::kLeft, attributes);
    }
    svg.line_end();
  }
}

void row_labels(SvgWriter& svg, const Record& record, const Plan& plan) {
  for (std::size_t r = 0; r < plan.rows.size(); ++r) {
    const double middle = plan.top + (static_cast<double>(r) + 0.5) * plan.cell_height;
    const std::string kind = is_end_marker(record.target_tokens[r]) ? "note" : "word";
    svg.label(plan.rows[r], plan.left - kGap, middle + plan.label_size * 0.35, Anchor::kRight,
              {{"class", kind}, {"font-size", coordinate(plan.label_size)}});
    svg.line_end();
  }
}

struct Cell {
  std::size_t row = 0;
  std::size_t col = 0;
  float weight = 0;
  bool peak = false;
  bool named = true;  // with a tooltip
};

void draw_cell(SvgWriter& svg, const Plan& plan, const Cell& cell) {
  const int percent = percent_of(cell.weight);
  const double gap = plan.gap();
  const double x = plan.left + static_cast<double>(cell.col) * plan.cell_width;
  const double y = plan.top + static_cast<double>(cell.row) * plan.cell_height;
  const SvgWriter::Attributes box = {{"x", coordinate(x + gap / 2)},
                                     {"y", coordinate(y + gap / 2)},
                                     {"width", coordinate(plan.cell_width - gap)},
                                     {"height", coordinate(plan.cell_height - gap)},
                                     {"rx", gap >= 2  ? "4"
                                            : gap > 0 ? "2"
                                                      : "0"}};
  svg.open("g", {{"class", percent < 0 ? "wnone" : "w" + std::to_string(percent)}});
  if (cell.named) {
    svg.text("title", plan.rows[cell.row] + " \u2190 " + plan.cols[cell.col] + ": " +
                          percent_text(cell.weight));
  }
  svg.element("rect", box);
  if (plan.digits() && (percent != 0 || plan.cell_height >= 32)) {
    const double size = plan.cell_height >= 32 ? 13 : 10.5;
    SvgWriter::Attributes look = {{"font-size", coordinate(size)}};
    if (cell.peak) look.emplace_back("font-weight", "700");
    svg.label(percent < 0 ? "?" : std::to_string(percent), x + plan.cell_width / 2,
              y + plan.cell_height / 2 + size * 0.36, Anchor::kMiddle, look);
  }
  svg.close("g");
  if (cell.peak && gap > 0) {
    SvgWriter::Attributes ring = box;
    ring.emplace_back("class", "peak");
    svg.element("rect", ring);
  }
  svg.line_end();
}

void draw_cells(SvgWriter& svg, const Record& record, const Plan& plan) {
  const bool named = record.attention.rows * record.attention.cols <= kMostNamedCells;
  for (std::size_t r = 0; r < plan.rows.size(); ++r) {
    const std::int64_t peak = row_peak(record.attention, static_cast<std::int64_t>(r));
    for (std::size_t c = 0; c < plan.cols.size(); ++c) {
      const auto column = static_cast<std::int64_t>(c);
      const float weight = record.attention(static_cast<std::int64_t>(r), column);
      if (!named && percent_of(weight) == 0) continue;  // looks like the ground of a large map
      draw_cell(svg, plan, {r, c, weight, column == peak, named});
    }
  }
}

// The scale of colours and the sentence below the cells. Returns the lower edge.
double draw_legend(SvgWriter& svg, const std::string& sentence, const Plan& plan) {
  const double y = plan.bottom() + 24;
  const double step = 14;
  svg.label("0", plan.left, y + 10, Anchor::kLeft,
            {{"class", "note"}, {"font-size", coordinate(kNoteSize)}});
  double x = plan.left + 14;
  for (int percent = 0; percent <= 100; percent += 10, x += step) {
    svg.open("g", {{"class", "w" + std::to_string(percent)}});
    svg.element("rect", {{"x", coordinate(x)},
                         {"y", coordinate(y)},
                         {"width", coordinate(step)},
                         {"height", "12"}});
    svg.close("g");
  }
  svg.label("100 %", x + 6, y + 10, Anchor::kLeft,
            {{"class", "note"}, {"font-size", coordinate(kNoteSize)}});
  if (plan.gap() > 0) {  // else the cells are too small for frames
    svg.element("rect", {{"class", "peak"},
                         {"x", coordinate(x + 60)},
                         {"y", coordinate(y)},
                         {"width", "16"},
                         {"height", "12"},
                         {"rx", "3"}});
    svg.label("largest of its row", x + 82, y + 10, Anchor::kLeft,
              {{"class", "note"}, {"font-size", coordinate(kNoteSize)}});
  }
  svg.line_end();
  double line = y + 36;
  for (const std::string& part :
       wrap_to_width(sentence, kNoteSize, plan.width - plan.left - kMargin)) {
    svg.label(part, plan.left, line, Anchor::kLeft,
              {{"class", "note"}, {"font-size", coordinate(kNoteSize)}});
    svg.line_end();
    line += 17;
  }
  return line - 17 + kMargin;
}

std::string draw_map(const Record& record) {
  Plan plan = make_plan(record);
  SvgWriter legend;
  plan.height = draw_legend(legend, how_to_read(record), plan);
  std::set<int> levels;
  for (int percent = 0; percent <= 100; percent += 10) levels.insert(percent);
  for (const float weight : record.attention.weights) levels.insert(percent_of(weight));

  SvgWriter svg;
  begin_picture(svg, record, plan.width, plan.height, description_of(record, plan));
  svg.style(style_rules(levels));
  svg.line_end();
  page(svg, plan.width, plan.height);
  const SvgWriter::Attributes note = {{"class", "note"}, {"font-size", coordinate(kNoteSize)}};
  const bool self = record.self_attention();
  svg.label(self ? "keys \u2192" : "read \u2192", plan.left - kGap, plan.top - kGap - 18,
            Anchor::kRight, note);
  svg.label(self ? "queries \u2193" : "wrote \u2193", plan.left - kGap, plan.top - kGap,
            Anchor::kRight, note);
  svg.line_end();
  column_labels(svg, record, plan);
  row_labels(svg, record, plan);
  if (record.attention.rows * record.attention.cols > kMostNamedCells) {
    svg.open("g", {{"class", "w0"}});
    svg.element("rect", {{"x", coordinate(plan.left)},
                         {"y", coordinate(plan.top)},
                         {"width", coordinate(plan.right() - plan.left)},
                         {"height", coordinate(plan.bottom() - plan.top)}});
    svg.close("g");
    svg.line_end();
  }
  draw_cells(svg, record, plan);
  std::string out = svg.take() + legend.take();
  return out + "</svg>\n";
}

std::string draw_sentence(const Record& record, std::string_view sentence) {
  const double width = 560;
  const auto lines = wrap_to_width(sentence, kLabelSize, width - 2 * kMargin);
  const double height = 2 * kMargin + 21 * static_cast<double>(lines.size());
  SvgWriter svg;
  begin_picture(svg, record, width, height, std::string(sentence));
  svg.style(style_rules({}));
  svg.line_end();
  page(svg, width, height);
  double y = kMargin + 15;
  for (const std::string& line : lines) {
    svg.label(line, kMargin, y, Anchor::kLeft,
              {{"class", "word"}, {"font-size", coordinate(kLabelSize)}});
    svg.line_end();
    y += 21;
  }
  return svg.take() + "</svg>\n";
}

}  // namespace

std::string render_svg(const Record& record) {
  require_picture(record, "render_svg");
  if (record.blank) return draw_sentence(record, kBlankLine);
  if (!record.has_attention) return draw_sentence(record, kNoAttention);
  return draw_map(record);
}

}  // namespace regard
