// The clean-up rule: what happens to a line before it is cut into tokens.
//
// `nfc+spaces` (default): canonical composition (NFC); every space separator (category Zs: the
// blank, U+00A0, U+3000, ...) and TAB becomes one blank; runs of blanks collapse; blanks at both
// ends go. Everything else is an ordinary character and stays: zero-width characters (U+200B to
// U+200D, U+2060, a byte order mark inside a line), other control characters, U+2581.
// `none`: the line as it is.
//
// The rule is stored in the model, so training, translation and evaluation agree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

enum class CleanupRule : std::uint8_t { kNone = 0, kNfcSpaces = 1 };

// "none" or "nfc+spaces".
std::string_view to_string(CleanupRule rule);
// Errors: ConfigError for any other name.
CleanupRule parse_cleanup_rule(std::string_view name);

// Bytes [begin, end) of a raw line.
struct ByteRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const ByteRange&) const = default;
};

// A cleaned line that knows where it came from.
struct CleanLine {
  std::string text;
  // For each byte of text, the raw bytes of its character. A character that composition made or
  // moved has the range of the whole combining sequence; a blank has that of its whole run.
  std::vector<ByteRange> raw;

  // The raw bytes behind text[begin, end). REQUIRES: begin < end <= text.size().
  ByteRange raw_range(std::size_t begin, std::size_t end) const;
};

// Cleans one line. Cleaning twice changes nothing.
// Errors: FormatError (data) if the line is not well-formed UTF-8, or above 4 GB.
// Cost: linear, but for sorting the marks of one combining sequence.
CleanLine clean_line(std::string_view raw, CleanupRule rule);

// The text alone. Errors as above.
std::string clean_text(std::string_view raw, CleanupRule rule);

// Is nothing left of the line after clean-up? Errors as above.
bool is_blank_line(std::string_view raw, CleanupRule rule);

// True for TAB and category Zs: what `nfc+spaces` makes a blank.
bool is_blank(char32_t code_point);

// The words of a cleaned line: maximal runs without U+0020. The views point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace regard
