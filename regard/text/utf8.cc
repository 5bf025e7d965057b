#include "regard/text/utf8.h"

#include "regard/base/assert.h"
#include "regard/base/error.h"

namespace regard {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

bool is_continuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

// How the byte after a lead is bounded (table 3-7), and what it means to be outside.
struct Lead {
  int continuations = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  Utf8Fault outside = Utf8Fault::kTruncated;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0xE0) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF, Utf8Fault::kOverlong};
  if (byte == 0xED) return {2, 0x80, 0x9F, Utf8Fault::kSurrogate};
  if (byte < 0xF0) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF, Utf8Fault::kOverlong};
  if (byte == 0xF4) return {3, 0x80, 0x8F, Utf8Fault::kTooLarge};
  return {3};
}

// The fault of the sequence at `i`, if any; otherwise `length` is the character's.
std::optional<Utf8Error> check_sequence(std::string_view text, std::size_t i, std::size_t& length) {
  const std::uint8_t first = byte_at(text, i);
  length = 1;
  if (first == 0) return Utf8Error{i, 1, Utf8Fault::kNul};
  if (first < 0x80) return std::nullopt;
  if (first < 0xC0) return Utf8Error{i, 1, Utf8Fault::kUnexpectedContinuation};
  if (first < 0xC2) return Utf8Error{i, 1, Utf8Fault::kOverlong};
  if (first > 0xF7) return Utf8Error{i, 1, Utf8Fault::kInvalidByte};
  if (first > 0xF4) return Utf8Error{i, 1, Utf8Fault::kTooLarge};
  const Lead lead = lead_of(first);
  for (int k = 1; k <= lead.continuations; ++k) {
    const std::size_t at = i + static_cast<std::size_t>(k);
    if (at >= text.size() || !is_continuation(byte_at(text, at))) {
      return Utf8Error{i, length, Utf8Fault::kTruncated};
    }
    const std::uint8_t byte = byte_at(text, at);
    if (k == 1 && (byte < lead.low || byte > lead.high)) return Utf8Error{i, 1, lead.outside};
    ++length;
  }
  return std::nullopt;
}

std::string hex(std::uint8_t byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

std::optional<Utf8Error> find_utf8_error(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size();) {
    std::size_t length = 1;
    if (auto error = check_sequence(text, i, length)) return error;
    i += length;
  }
  return std::nullopt;
}

std::string describe(const Utf8Error& error, std::string_view text) {
  const std::string byte = hex(byte_at(text, error.offset));
  switch (error.fault) {
    case Utf8Fault::kInvalidByte:
      return "byte " + byte + " can not occur in UTF-8";
    case Utf8Fault::kUnexpectedContinuation:
      return "byte " + byte + " can not start a UTF-8 character";
    case Utf8Fault::kTruncated:
      return "the UTF-8 character that starts with byte " + byte + " is cut short";
    case Utf8Fault::kOverlong:
      return "byte " + byte + " starts an overlong UTF-8 form";
    case Utf8Fault::kSurrogate:
      return "byte " + byte + " starts a UTF-16 surrogate, which is no character";
    case Utf8Fault::kTooLarge:
      return "byte " + byte + " starts a character above U+10FFFF";
    case Utf8Fault::kNul:
      return "a NUL byte (is this UTF-16, or no text at all?)";
  }
  return {};
}

void require_utf8(std::string_view text, std::string_view where) {
  if (const auto error = find_utf8_error(text)) {
    throw FormatError(FormatError::Kind::kData,
                      std::string(where) + ": byte offset " + std::to_string(error->offset) + ": " +
                          describe(*error, text) + "; the text must be UTF-8");
  }
}

std::size_t repair_utf8(std::string& text) {
  auto error = find_utf8_error(text);
  if (!error) return 0;
  std::size_t count = 0;
  std::size_t done = 0;
  std::string repaired;
  repaired.reserve(text.size() + 16);
  while (error) {
    repaired.append(text, done, error->offset - done);
    repaired.append(kReplacementCharacter);
    ++count;
    done = error->offset + error->length;
    error = find_utf8_error(text, done);
  }
  repaired.append(text, done, std::string::npos);
  text = std::move(repaired);
  return count;
}

char32_t next_code_point(std::string_view text, std::size_t& position) {
  REGARD_ASSERT(position < text.size());
  const char32_t first = byte_at(text, position++);
  if (first < 0x80) return first;
  const int continuations = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  char32_t code_point = first & (0x3FU >> continuations);
  for (int k = 0; k < continuations; ++k) {
    REGARD_ASSERT(position < text.size());
    code_point = (code_point << 6) | (byte_at(text, position++) & 0x3FU);
  }
  return code_point;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto tail = [&](int shift) {
    text.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3F)));
  };
  if (code_point < 0x80) {
    text.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    text.push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    tail(0);
  } else if (code_point < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | (code_point >> 12)));
    tail(6);
    tail(0);
  } else {
    text.push_back(static_cast<char>(0xF0 | (code_point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += !is_continuation(static_cast<std::uint8_t>(c));
  return count;
}

}  // namespace regard
