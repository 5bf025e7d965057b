// Vocabulary: tokens and their numbers.
//
// Ids 0, 1 and 2 are the control tokens begin, end and unknown. They have no text form here, so no
// text, "</s>" and "<unk>" included, ever maps to one. Text tokens follow from id 3 on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

inline constexpr int kBeginId = 0;
inline constexpr int kEndId = 1;
inline constexpr int kUnknownId = 2;
inline constexpr int kFirstTextId = 3;

// What the training text is cut down to.
struct VocabularyLimits {
  std::uint64_t min_count = 1;  // rarer tokens become unknown
  std::uint64_t max_size = 0;   // text tokens at most; 0 is no limit
};

// Tokens with their counts, in the order of their bytes.
using TokenCounts = std::map<std::string, std::uint64_t, std::less<>>;

// A value: copies are independent; safe to read from many threads.
class Vocabulary {
 public:
  // The control tokens alone.
  Vocabulary();

  // Ids follow the order given. Errors: ConfigError if a token is empty or occurs twice.
  static Vocabulary from_tokens(std::span<const std::string> tokens);

  // The most frequent tokens first, equal counts in the order of their bytes.
  static Vocabulary from_counts(const TokenCounts& counts, VocabularyLimits limits = {});

  // All ids, the three control tokens included.
  int size() const { return kFirstTextId + text_size(); }
  int text_size() const { return static_cast<int>(ends_.size()); }

  // The id of a text token; nothing if it is not in the vocabulary. Never a control id.
  std::optional<int> find(std::string_view token) const;

  // The bytes of a text token, valid as long as this vocabulary.
  // Errors: ShapeError if `id` is a control token or out of range.
  std::string_view token(int id) const;

  // Bytes for the model file: the number of tokens, then each token's length and bytes; numbers
  // are 32-bit little-endian. Any content comes back byte for byte, TAB and LF included.
  std::vector<std::uint8_t> serialize() const;

  // Errors: FormatError (model) for anything that serialize() can not have written, or a token that
  // is not UTF-8. Allocates no more than a small multiple of `bytes`.
  static Vocabulary deserialize(std::span<const std::uint8_t> bytes);

  bool operator==(const Vocabulary& other) const {
    return bytes_ == other.bytes_ && ends_ == other.ends_;
  }

 private:
  std::string_view text_token(std::size_t index) const;
  bool add(std::string_view token);
  void rehash(std::size_t slots);
  std::size_t find_slot(std::string_view token) const;

  std::string bytes_;                // all tokens, one after another
  std::vector<std::uint32_t> ends_;  // where each ends in bytes_
  std::vector<std::int32_t> slots_;  // open addressing: index of a token, or -1; a power of two
};

}  // namespace regard
