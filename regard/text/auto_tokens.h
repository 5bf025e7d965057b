// Which tokens a side is cut into: what the user asks for, and the rule for `auto`.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "regard/text/tokenizer.h"

namespace regard {

inline constexpr int kDefaultSubwordSize = 8000;
inline constexpr int kMaxSubwordSize = 1000000;

struct TokenSpec {
  std::optional<TokenKind> kind;           // nothing: auto
  int subword_size = kDefaultSubwordSize;  // characters and merges, at most; subword only
  bool operator==(const TokenSpec&) const = default;
};

// Reads "auto", "char", "word", "subword" or "subword:SIZE".
// Errors: ConfigError for anything else, and for a SIZE outside 1 to 1,000,000.
TokenSpec parse_token_spec(std::string_view text);
std::string to_string(const TokenSpec& spec);

// What the rule looks at. Blank lines do not count.
class SideStatistics {
 public:
  void add(std::string_view clean_line);

  std::uint64_t lines() const { return lines_; }
  std::uint64_t lines_with_blank() const { return lines_with_blank_; }
  // Distinct blank-separated tokens, counted up to one more than the rule asks about.
  std::uint64_t distinct_words() const { return words_.size(); }

 private:
  std::uint64_t lines_ = 0;
  std::uint64_t lines_with_blank_ = 0;
  std::set<std::string, std::less<>> words_;
};

// `auto` made definite: a side of which under 10 % of the lines hold a blank is char; one with at
// most 200 distinct words is word; anything else subword:8000. Other specs stay.
TokenSpec resolve(const TokenSpec& spec, const SideStatistics& side);

}  // namespace regard
