// The parts that SVG pictures are made of. Used by svg.cc.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regard {

// Text with the five characters that XML reserves escaped. REQUIRES: visible text (cells.h).
std::string escape_xml(std::string_view text);

// About how wide visible text is in a common sans-serif font of `size` pixels. There is no font at
// hand to ask: classes of letters, on the generous side.
double estimate_width(std::string_view text, double size);

// Cuts visible text to an estimated width, with an ellipsis.
std::string clip_to_width(const std::string& text, double size, double width);

// Breaks visible text at blanks into lines of an estimated width.
std::vector<std::string> wrap_to_width(std::string_view text, double size, double width);

// Which end of the text is tied to the point: as the eye sees it, whatever the text's direction.
enum class Anchor { kLeft, kMiddle, kRight };

// Builds elements. Numbers have at most one decimal.
class SvgWriter {
 public:
  using Attributes = std::vector<std::pair<std::string_view, std::string>>;

  // <name a="1">, and later </name>.
  void open(std::string_view name, const Attributes& attributes = {});
  void close(std::string_view name);
  // <name a="1"/>
  void element(std::string_view name, const Attributes& attributes);
  // <name a="1">text</name>
  void text(std::string_view name, std::string_view text, const Attributes& attributes = {});
  // A <text> element whose direction is that of its content.
  void label(std::string_view text, double x, double y, Anchor anchor, Attributes attributes = {});
  // Style sheets hold no reserved characters.
  void style(std::string_view rules);
  void line_end() { out_ += '\n'; }

  std::string take() { return std::move(out_); }

 private:
  void tag(std::string_view name, const Attributes& attributes);

  std::string out_;
};

// A coordinate: "12.5", "12".
std::string coordinate(double value);

}  // namespace regard
