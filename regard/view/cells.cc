#include "regard/view/cells.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr char32_t kJoiner = 0x200D;
constexpr char32_t kEmojiForm = 0xFE0F;
constexpr std::string_view kDottedCircle = "\u25CC";

const utf8proc_property_t& property(char32_t c) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
}

bool in(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

// Direction controls, and format characters that show nothing and join nothing.
bool is_hidden(char32_t c) {
  return c == 0x00AD || c == 0x061C || c == 0x180E || c == 0x200B || in(c, 0x200E, 0x200F) ||
         in(c, 0x202A, 0x202E) || in(c, 0x2060, 0x206F) || c == 0xFEFF || in(c, 0xFFF9, 0xFFFB);
}

bool is_mark(char32_t c) {
  const auto category = property(c).category;
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

char32_t visible_form(char32_t c) {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  if (in(c, 0x80, 0x9F) || in(c, 0xFFFE, 0xFFFF)) return 0xFFFD;
  if (c == 0x2028 || c == 0x2029) return 0x2424;
  return c;
}

std::string code_point_name(char32_t c) {
  std::array<char, 16> digits;
  auto* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::uint32_t>(c), 16)
          .ptr;
  std::string hex(digits.data(), end);
  for (char& digit : hex) {
    if (digit >= 'a') digit = static_cast<char>(digit - 'a' + 'A');
  }
  return "U+" + std::string(hex.size() < 4 ? 4 - hex.size() : 0, '0') + hex;
}

// The width of one glyph, character by character.
class GlyphWidth {
 public:
  void add(char32_t c) {
    const auto& about = property(c);
    const bool modifier = in(c, 0x1F3FB, 0x1F3FF);
    const bool syllable_tail =
        about.boundclass == UTF8PROC_BOUNDCLASS_V || about.boundclass == UTF8PROC_BOUNDCLASS_T;
    if (c == kEmojiForm && width_ == 1) {
      width_ = 2;
    } else if (width_ == 0 || !(modifier || syllable_tail || after_joiner_)) {
      width_ += static_cast<int>(about.charwidth);
    }
    after_joiner_ = c == kJoiner;
  }
  int take() {
    const int width = std::min(width_, 2);
    *this = GlyphWidth();
    return width;
  }

 private:
  int width_ = 0;
  bool after_joiner_ = false;
};

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

std::optional<bool> direction(char32_t c) {
  switch (property(c).bidi_class) {
    case UTF8PROC_BIDI_CLASS_R:
    case UTF8PROC_BIDI_CLASS_AL:
      return true;
    case UTF8PROC_BIDI_CLASS_L:
      return false;
    default:
      return std::nullopt;
  }
}

std::string well_formed(std::string_view text) {
  std::string result(text);
  if (find_utf8_error(result)) {
    // A NUL counts as a fault, but has a visible sign of its own.
    std::string repaired;
    std::size_t begin = 0;
    while (begin <= result.size()) {
      const std::size_t nul = std::min(result.find('\0', begin), result.size());
      std::string part = result.substr(begin, nul - begin);
      repair_utf8(part);
      repaired += part;
      if (nul < result.size()) repaired += "\u2400";
      begin = nul + 1;
    }
    result = repaired;
  }
  return result;
}

}  // namespace

std::string visible_text(std::string_view raw) {
  if (raw.empty()) return "(empty)";
  const std::string text = well_formed(raw);
  std::string result;
  std::size_t position = 0;
  while (position < text.size()) {
    const char32_t c = next_code_point(text, position);
    if (is_hidden(c)) continue;
    if (result.empty() && is_mark(c)) result += kDottedCircle;
    append_utf8(result, visible_form(c));
  }
  if (display_width(result) > 0) return result;
  position = 0;
  return code_point_name(next_code_point(text, position));
}

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  GlyphWidth width;
  std::string current;
  utf8proc_int32_t state = 0;
  utf8proc_int32_t previous = 0;
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t begin = position;
    const char32_t c = next_code_point(text, position);
    const auto point = static_cast<utf8proc_int32_t>(c);
    if (!current.empty() && utf8proc_grapheme_break_stateful(previous, point, &state)) {
      glyphs.push_back({current, width.take()});
      current.clear();
    }
    current.append(text, begin, position - begin);
    width.add(c);
    previous = point;
  }
  if (!current.empty()) glyphs.push_back({current, width.take()});
  return glyphs;
}

int display_width(std::string_view text) {
  int width = 0;
  for (const Glyph& glyph : glyphs_of(text)) width += glyph.width;
  return width;
}

std::string clip(std::string_view text, int width, std::string_view ellipsis) {
  if (display_width(text) <= width) return std::string(text);
  const int room = width - display_width(ellipsis);
  std::string result;
  int used = 0;
  for (const Glyph& glyph : glyphs_of(text)) {
    if (used + glyph.width > room) break;
    used += glyph.width;
    result += glyph.text;
  }
  return result + std::string(ellipsis);
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text) + blanks(width - display_width(text));
}

std::string pad_left(std::string_view text, int width) {
  return blanks(width - display_width(text)) + std::string(text);
}

std::string pad_center(std::string_view text, int width) {
  const int left = std::max(width - display_width(text), 0) / 2;
  return pad_right(blanks(left) + std::string(text), width);
}

std::vector<std::string> wrap_text(std::string_view text, int width) {
  std::vector<std::string> lines;
  std::string line;
  int used = 0;
  const auto flush = [&lines, &line, &used] {
    lines.push_back(line);
    line.clear();
    used = 0;
  };
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    const int word_width = display_width(word);
    if (used > 0 && used + 1 + word_width > width) flush();
    if (used > 0) {
      line += ' ';
      ++used;
    }
    for (const Glyph& glyph : glyphs_of(word)) {
      if (used + glyph.width > width) flush();
      line += glyph.text;
      used += glyph.width;
    }
  }
  if (!line.empty() || lines.empty()) flush();
  return lines;
}

bool starts_right_to_left(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    if (const auto known = direction(next_code_point(text, position))) return *known;
  }
  return false;
}

bool has_right_to_left(std::string_view text) {
  std::size_t position = 0;
  while (position < text.size()) {
    if (direction(next_code_point(text, position)).value_or(false)) return true;
  }
  return false;
}

}  // namespace regard
