// UTF-8: strict checking, decoding, and repair.
//
// Well-formed means Unicode's table 3-7: no overlong form, no surrogate, nothing above U+10FFFF, no
// cut sequence. Text lines of ours hold no NUL either: a NUL byte is a fault like the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regard {

enum class Utf8Fault {
  kInvalidByte,             // F8..FF: no character holds such a byte
  kUnexpectedContinuation,  // 80..BF where a character should start
  kTruncated,               // the sequence ends, or another character starts, too early
  kOverlong,                // a longer form than the character needs
  kSurrogate,               // U+D800..U+DFFF, which are halves of UTF-16, not characters
  kTooLarge,                // above U+10FFFF
  kNul,                     // a zero byte
};

struct Utf8Error {
  std::size_t offset = 0;  // of the first bad byte
  std::size_t length = 0;  // bytes that one replacement character stands for (at least 1)
  Utf8Fault fault = Utf8Fault::kInvalidByte;
};

// The first fault at or after `from`; nothing if the rest is well-formed.
std::optional<Utf8Error> find_utf8_error(std::string_view text, std::size_t from = 0);

// What is wrong, for a message: "byte FF can not occur in UTF-8".
std::string describe(const Utf8Error& error, std::string_view text);

// Throws FormatError (data) if `text` is not well-formed. `where` starts the message ("file:line").
void require_utf8(std::string_view text, std::string_view where);

// Puts U+FFFD in place of each faulty piece (as long as it may be and still begin a character, so a
// character cut short is one piece). Returns how many were put.
std::size_t repair_utf8(std::string& text);

// Decodes the character at `position` and moves on to the next.
// REQUIRES: well-formed text, position < text.size().
char32_t next_code_point(std::string_view text, std::size_t& position);

// Appends the UTF-8 form of a Unicode scalar value.
void append_utf8(std::string& text, char32_t code_point);

// The number of characters. REQUIRES: well-formed text.
std::size_t count_code_points(std::string_view text);

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";         // U+FEFF

}  // namespace regard
