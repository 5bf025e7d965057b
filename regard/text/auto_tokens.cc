#include "regard/text/auto_tokens.h"

#include <charconv>

#include "regard/base/error.h"

namespace regard {
namespace {

constexpr std::size_t kMostWords = 200;

int parse_size(std::string_view text, std::string_view whole) {
  int size = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, size);
  if (result.ec != std::errc() || result.ptr != end || size < 1 || size > kMaxSubwordSize) {
    throw ConfigError("tokens \"" + std::string(whole) +
                      "\": the size of subword:SIZE is a number from 1 to " +
                      std::to_string(kMaxSubwordSize));
  }
  return size;
}

}  // namespace

TokenSpec parse_token_spec(std::string_view text) {
  constexpr std::string_view kSized = "subword:";
  if (text == "auto") return {};
  if (text == "char") return {TokenKind::kChar};
  if (text == "word") return {TokenKind::kWord};
  if (text == "subword") return {TokenKind::kSubword};
  if (text.starts_with(kSized)) {
    return {TokenKind::kSubword, parse_size(text.substr(kSized.size()), text)};
  }
  throw ConfigError("tokens \"" + std::string(text) +
                    "\" are unknown: they are auto, char, word, subword or subword:SIZE");
}

std::string to_string(const TokenSpec& spec) {
  if (!spec.kind) return "auto";
  if (*spec.kind != TokenKind::kSubword) return std::string(to_string(*spec.kind));
  return "subword:" + std::to_string(spec.subword_size);
}

void SideStatistics::add(std::string_view clean_line) {
  const auto words = split_words(clean_line);
  if (words.empty()) return;
  ++lines_;
  lines_with_blank_ += clean_line.find(' ') != std::string_view::npos ? 1 : 0;
  for (const std::string_view word : words) {
    if (words_.size() > kMostWords) return;
    if (!words_.contains(word)) words_.emplace(word);
  }
}

TokenSpec resolve(const TokenSpec& spec, const SideStatistics& side) {
  if (spec.kind) return spec;
  TokenSpec definite = spec;
  if (side.lines_with_blank() * 10 < side.lines()) {
    definite.kind = TokenKind::kChar;
  } else if (side.distinct_words() <= kMostWords) {
    definite.kind = TokenKind::kWord;
  } else {
    definite.kind = TokenKind::kSubword;
  }
  return definite;
}

}  // namespace regard
