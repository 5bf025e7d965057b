#include "regard/view/svg_writer.h"

#include <algorithm>

#include "regard/view/cells.h"
#include "regard/view/format.h"

namespace regard {
namespace {

double glyph_width(const Glyph& glyph) {
  constexpr std::string_view kNarrow = "fijlrtI.,:;!|'`()[]{}-/ ";
  constexpr std::string_view kWide = "mwMW@%";
  if (glyph.width == 0) return 0.0;
  if (glyph.width == 2) return glyph.text.size() > 3 ? 1.35 : 1.05;
  const char first = glyph.text[0];
  if (glyph.text.size() == 1) {
    if (kNarrow.find(first) != kNarrow.npos) return 0.38;
    if (kWide.find(first) != kWide.npos) return 0.92;
    if (first >= 'A' && first <= 'Z') return 0.70;
  }
  return 0.60;
}

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

double estimate_width(std::string_view text, double size) {
  double width = 0.0;
  for (const Glyph& glyph : glyphs_of(text)) width += glyph_width(glyph);
  return width * size;
}

std::string clip_to_width(const std::string& text, double size, double width) {
  if (estimate_width(text, size) <= width) return text;
  std::string result;
  double used = size;  // the ellipsis
  for (const Glyph& glyph : glyphs_of(text)) {
    used += glyph_width(glyph) * size;
    if (used > width) break;
    result += glyph.text;
  }
  return result + "\u2026";
}

std::vector<std::string> wrap_to_width(std::string_view text, double size, double width) {
  std::vector<std::string> lines(1);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    begin = end + 1;
    const std::string longer = lines.back().empty() ? word : lines.back() + ' ' + word;
    if (lines.back().empty() || estimate_width(longer, size) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string coordinate(double value) {
  std::string text = fixed_number(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

void SvgWriter::tag(std::string_view name, const Attributes& attributes) {
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    out_ += ' ';
    out_ += key;
    out_ += "=\"";
    out_ += escape_xml(value);
    out_ += '"';
  }
}

void SvgWriter::open(std::string_view name, const Attributes& attributes) {
  tag(name, attributes);
  out_ += '>';
}

void SvgWriter::close(std::string_view name) {
  out_ += "</";
  out_ += name;
  out_ += '>';
}

void SvgWriter::element(std::string_view name, const Attributes& attributes) {
  tag(name, attributes);
  out_ += "/>";
}

void SvgWriter::text(std::string_view name, std::string_view text, const Attributes& attributes) {
  open(name, attributes);
  out_ += escape_xml(text);
  close(name);
}

void SvgWriter::label(std::string_view content, double x, double y, Anchor anchor,
                      Attributes attributes) {
  const bool rtl = starts_right_to_left(content);
  attributes.emplace_back("x", coordinate(x));
  attributes.emplace_back("y", coordinate(y));
  if (anchor == Anchor::kMiddle) {
    attributes.emplace_back("text-anchor", "middle");
  } else if ((anchor == Anchor::kRight) != rtl) {  // "start" is the right end of right-to-left text
    attributes.emplace_back("text-anchor", "end");
  }
  if (has_right_to_left(content)) {
    attributes.emplace_back("direction", rtl ? "rtl" : "ltr");
    attributes.emplace_back("unicode-bidi", "isolate");
  }
  text("text", content, attributes);
}

void SvgWriter::style(std::string_view rules) {
  out_ += "<style>";
  out_ += rules;
  out_ += "</style>";
}

}  // namespace regard
