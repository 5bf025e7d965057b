// Text on a grid: what may be shown of a string, and how many columns of a terminal it takes.
//
// A glyph is a grapheme cluster (Unicode UAX 29): a letter with its marks, an emoji with its
// modifiers, a pair of regional indicators. Terminals place whole glyphs, so text is measured, cut
// and stacked by glyph.
//
// Threads  pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct Glyph {
  std::string text;  // UTF-8
  int width = 1;     // columns: 0, 1 or 2
};

// Makes text safe to show, on one line, inside other text. Control characters become visible signs
// (U+2400 and on), line and paragraph separators U+2424, direction controls and invisible
// characters go (they would reorder or unbalance what stands around them), joiners stay, a mark
// without a letter gets U+25CC to stand on. What is invisible altogether, or empty, is named:
// "U+200B", "(empty)". Bytes that are not UTF-8, and characters that XML forbids, become U+FFFD.
std::string visible_text(std::string_view text);

// Splits visible text into glyphs.
std::vector<Glyph> glyphs_of(std::string_view text);

// Columns that visible text takes.
int display_width(std::string_view text);

// At most `width` columns of visible text; `ellipsis` (one column) stands for what is cut.
// REQUIRES: width >= 1.
std::string clip(std::string_view text, int width, std::string_view ellipsis);

// Text with blanks after (pad_right) or before it (pad_left) or both, up to `width` columns.
std::string pad_right(std::string_view text, int width);
std::string pad_left(std::string_view text, int width);
std::string pad_center(std::string_view text, int width);

// Breaks text at blanks into lines of at most `width` columns; a longer word is cut by glyph.
// REQUIRES: width >= 2.
std::vector<std::string> wrap_text(std::string_view text, int width);

// Is the first character with a direction a right-to-left one (Hebrew, Arabic, ...)?
bool starts_right_to_left(std::string_view text);
// Is there any right-to-left character?
bool has_right_to_left(std::string_view text);

}  // namespace regard
