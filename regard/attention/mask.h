// Masks: which keys a query row may attend to, beyond the length of its sentence.
//
//   Mask mask = Mask::causal(CausalAlignment::kBottomRight) & Mask::window(16, 0);
//
// A mask is an expression over a few rules. The driver asks for the live keys of one row as bits,
// so every rule composes with every other, and classes tiles of a block of rows as full, partial or
// empty from those bits: work follows what is live, and what is dead is never used.
#pragma once

#include <array>
#include <cstdint>

#include "regard/tensor/view.h"

namespace regard::attention {

// Where a query row stands.
struct RowPlace {
  Index row = 0;       // number of the row in the call
  Index sentence = 0;  // key_row[row]
  Index position = 0;  // i, its place among the queries of its sentence
  Index head = 0;
  Index keys = 0;       // S, length of the sentence
  Index queries = -1;   // T, number of queries of the sentence; -1: the caller did not say
  Index first_key = 0;  // row of the sentence's first key in the matrix of keys
};

// Which corner of the T x S rectangle the diagonal starts from. They agree where T = S.
enum class CausalAlignment {
  kSquare,       // T must be S: a sentence where it is not is a ShapeError
  kTopLeft,      // i may attend to j <= i
  kBottomRight,  // i may attend to j <= i + S - T: the last query sees all keys
};

// Live keys of a row: key j is bit j % 64 of word j / 64; bits beyond the last key are 0.
using KeyBits = std::uint64_t;
constexpr Index key_words(Index keys) { return (keys + 63) / 64; }

class Mask {
 public:
  // Everything within the length may be attended to.
  Mask() = default;

  // A query at position i is live when i < T of its sentence (RowPlace::queries).
  static Mask query_lengths();
  static Mask causal(CausalAlignment alignment);
  // Keys i - left to i + right; a negative extent: no limit on that side.
  static Mask window(Index left, Index right);
  // Query and key must be of one segment: query_segment by row of the call, key_segment by row of
  // the matrix of keys. Borrowed: they have to outlive the mask and its copies.
  static Mask segments(const std::int32_t* query_segment, const std::int32_t* key_segment);
  // live[row * stride + j] != 0, by row of the call; stride 0: the same for all rows. Borrowed.
  static Mask bits(const std::uint8_t* live, Index stride);

  // Live in both, or in at least one. The default mask joins as what it means: a & Mask() is a,
  // a | Mask() is Mask(). Throw ConfigError where an expression has more than kMostRules rules.
  static constexpr int kMostRules = 8;
  friend Mask operator&(const Mask& a, const Mask& b);
  friend Mask operator|(const Mask& a, const Mask& b);

  // Nothing is masked: the default one.
  bool trivial() const noexcept { return count_ == 0; }
  // T has to be known.
  bool needs_query_lengths() const noexcept;
  // At least one rule depends on the place alone, none on arrays by row (so that a caller with
  // other rows may use it too).
  bool positional() const noexcept;

  // Throws ShapeError where the mask has no meaning at this place (kSquare with T != S, T unknown
  // where it is needed, arrays that are null or whose rows overlap), naming `function`.
  void check(const char* function, const RowPlace& place) const;
  // Writes key_words(place.keys) words.
  void live_keys(const RowPlace& place, KeyBits* words) const noexcept;

 private:
  enum class Rule : std::uint8_t { kQueryLengths, kCausal, kWindow, kSegments, kBits, kAnd, kOr };
  struct Node {
    Rule rule = Rule::kAnd;
    CausalAlignment alignment = CausalAlignment::kSquare;
    Index left = 0;  // or the stride of bits
    Index right = 0;
    const std::int32_t* query_segment = nullptr;
    const std::int32_t* key_segment = nullptr;
    const std::uint8_t* live = nullptr;

    bool joins() const noexcept { return rule == Rule::kAnd || rule == Rule::kOr; }
    bool needs_query_lengths() const noexcept;
    void check(const char* function, const RowPlace& place) const;
    KeyBits word(const RowPlace& place, Index w) const noexcept;  // of a rule that is no join
  };
  static Mask of(const Node& node) noexcept;
  static Mask join(Rule rule, const Mask& a, const Mask& b);
  const Node* begin() const noexcept { return nodes_.data(); }
  const Node* end() const noexcept { return nodes_.data() + count_; }

  // The expression in postfix order; in place, so that a mask is plain data.
  std::array<Node, 2 * kMostRules - 1> nodes_ = {};
  int count_ = 0;
};

enum class TileClass { kFull, kPartial, kEmpty };

// The live keys of the rows of a block, [rows][words_per_row], with what the driver asks of them.
struct LiveBlock {
  const KeyBits* words = nullptr;  // null: all keys of all rows are live
  Index words_per_row = 0;
  Index rows = 0;
  Index keys = 0;

  bool live(Index row, Index key) const noexcept {
    return words == nullptr || (words[row * words_per_row + key / 64] >> (key % 64) & 1) != 0;
  }
  // How many keys of the row are live.
  Index count(Index row) const noexcept;
  // Of keys first to first + n - 1 (cut at the end of the sentence) and all rows; empty where there
  // are none. Costs rows x words of the tile at most.
  TileClass tile(Index first, Index n) const noexcept;
};

}  // namespace regard::attention
