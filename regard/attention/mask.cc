// A mask is evaluated a word of 64 keys at a time: each rule gives its word, the postfix expression
// joins them on a stack of words. Causal masks and windows are ranges of keys, whose words need no
// loop over keys.
#include "regard/attention/mask.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "regard/base/error.h"

namespace regard::attention {
namespace {

// Keys first to end - 1; none where end <= first.
struct Range {
  Index first;
  Index end;
};

KeyBits range_word(Range range, Index w) noexcept {
  const Index low = std::max<Index>(range.first - 64 * w, 0);
  const Index high = std::min<Index>(range.end - 64 * w, 64);
  if (high <= low) return 0;
  return ~KeyBits{0} >> (64 - high) & ~KeyBits{0} << low;
}

Range window_range(Index left, Index right, const RowPlace& p) noexcept {
  // An extent that reaches the edge is never added, so none overflows.
  const bool all_left = left < 0 || left >= p.position;
  const bool all_right = right < 0 || right >= p.keys;
  return {all_left ? 0 : p.position - left,
          all_right ? p.keys : std::min(p.keys, p.position + right + 1)};
}

// Bit j of the result: live[j] != 0, j < n <= 64. Eight bytes at a time: the bits of each are
// folded into its lowest, and a product moves the lowest bit of byte b to bit 56 + b.
KeyBits pack_bytes(const std::uint8_t* live, Index n) noexcept {
  static_assert(std::endian::native == std::endian::little, "byte b is bits 8 b and up");
  KeyBits bits = 0;
  Index j = 0;
  for (; j + 8 <= n; j += 8) {
    std::uint64_t x;
    std::memcpy(&x, live + j, 8);
    x |= x >> 4;
    x |= x >> 2;
    x |= x >> 1;
    bits |= ((x & 0x0101010101010101) * 0x0102040810204080) >> 56 << j;
  }
  for (; j < n; ++j) bits |= KeyBits{live[j] != 0} << j;
  return bits;
}

[[noreturn]] void fail(const char* function, const std::string& what, const std::string& wanted,
                       const std::string& got) {
  throw ShapeError(std::string(function) + ": " + what + ": wanted " + wanted + ", got " + got);
}

}  // namespace

Mask Mask::of(const Node& node) noexcept {
  Mask m;
  m.nodes_[0] = node;
  m.count_ = 1;
  return m;
}

Mask Mask::query_lengths() { return of({.rule = Rule::kQueryLengths}); }

Mask Mask::causal(CausalAlignment alignment) {
  return of({.rule = Rule::kCausal, .alignment = alignment});
}

Mask Mask::window(Index left, Index right) {
  return of({.rule = Rule::kWindow, .left = left, .right = right});
}

Mask Mask::segments(const std::int32_t* query_segment, const std::int32_t* key_segment) {
  return of({.rule = Rule::kSegments, .query_segment = query_segment, .key_segment = key_segment});
}

Mask Mask::bits(const std::uint8_t* live, Index stride) {
  return of({.rule = Rule::kBits, .left = stride, .live = live});
}

Mask Mask::join(Rule rule, const Mask& a, const Mask& b) {
  // n rules have n - 1 joins.
  const int rules = (a.count_ + b.count_ + 2) / 2;
  if (rules > kMostRules) {
    throw ConfigError("mask: rules in one expression: wanted at most " +
                      std::to_string(kMostRules) + ", got " + std::to_string(rules));
  }
  Mask m = a;
  std::copy(b.begin(), b.end(), m.nodes_.begin() + a.count_);
  m.count_ = a.count_ + b.count_ + 1;
  m.nodes_[static_cast<std::size_t>(m.count_ - 1)] = {.rule = rule};
  return m;
}

Mask operator&(const Mask& a, const Mask& b) {
  if (a.trivial()) return b;
  return b.trivial() ? a : Mask::join(Mask::Rule::kAnd, a, b);
}

Mask operator|(const Mask& a, const Mask& b) {
  if (a.trivial() || b.trivial()) return {};
  return Mask::join(Mask::Rule::kOr, a, b);
}

bool Mask::Node::needs_query_lengths() const noexcept {
  return rule == Rule::kQueryLengths ||
         (rule == Rule::kCausal && alignment != CausalAlignment::kTopLeft);
}

bool Mask::needs_query_lengths() const noexcept {
  return std::any_of(begin(), end(), [](const Node& node) { return node.needs_query_lengths(); });
}

bool Mask::positional() const noexcept {
  return !trivial() && std::none_of(begin(), end(), [](const Node& node) {
    return node.rule == Rule::kSegments || node.rule == Rule::kBits;
  });
}

void Mask::Node::check(const char* function, const RowPlace& place) const {
  const auto queries = [&] { return "queries of sentence " + std::to_string(place.sentence); };
  if (needs_query_lengths() && place.queries < 0) {
    fail(function, queries() + " for the mask", "their number", "none");
  }
  if (rule == Rule::kCausal && alignment == CausalAlignment::kSquare &&
      place.queries != place.keys) {
    fail(function, queries() + " for the square causal mask",
         std::to_string(place.keys) + ", as many as keys", std::to_string(place.queries));
  }
  if (place.keys == 0) return;
  if (rule == Rule::kSegments && (query_segment == nullptr || key_segment == nullptr)) {
    fail(function, "segments of the mask", "one for each query row and key row", "null");
  }
  if (rule != Rule::kBits) return;
  if (live == nullptr) fail(function, "bits of the mask", "a row for each query row", "null");
  if (left != 0 && left < place.keys) {
    fail(function, "stride of the mask's bits",
         "0 or at least the " + std::to_string(place.keys) + " keys of sentence " +
             std::to_string(place.sentence),
         std::to_string(left));
  }
}

void Mask::check(const char* function, const RowPlace& place) const {
  for (const Node& node : *this) node.check(function, place);
}

KeyBits Mask::Node::word(const RowPlace& p, Index w) const noexcept {
  const Index n = std::min<Index>(p.keys - 64 * w, 64);
  switch (rule) {
    case Rule::kQueryLengths:
      return range_word({0, p.position < p.queries ? p.keys : 0}, w);
    case Rule::kCausal: {
      const Index shift = alignment == CausalAlignment::kBottomRight ? p.keys - p.queries : 0;
      return range_word({0, std::min(p.keys, p.position + shift + 1)}, w);
    }
    case Rule::kWindow:
      return range_word(window_range(left, right, p), w);
    case Rule::kSegments: {
      const std::int32_t own = query_segment[p.row];
      const std::int32_t* others = key_segment + p.first_key + 64 * w;
      std::uint8_t same[64];
      for (Index j = 0; j < n; ++j) same[j] = others[j] == own;
      return pack_bytes(same, n);
    }
    case Rule::kBits:
      return pack_bytes(live + p.row * left + 64 * w, n);
    case Rule::kAnd:
    case Rule::kOr:
      break;
  }
  return 0;
}

void Mask::live_keys(const RowPlace& place, KeyBits* words) const noexcept {
  for (Index w = 0; w < key_words(place.keys); ++w) {
    KeyBits stack[kMostRules] = {range_word({0, place.keys}, w)};
    int height = 0;
    for (const Node& node : *this) {
      if (!node.joins()) {
        stack[height++] = node.word(place, w);
        continue;
      }
      --height;
      KeyBits& joined = stack[height - 1];
      joined = node.rule == Rule::kAnd ? joined & stack[height] : joined | stack[height];
    }
    words[w] = stack[0];
  }
}

Index LiveBlock::count(Index row) const noexcept {
  if (words == nullptr) return keys;
  Index n = 0;
  for (Index w = 0; w < key_words(keys); ++w) n += std::popcount(words[row * words_per_row + w]);
  return n;
}

TileClass LiveBlock::tile(Index first, Index n) const noexcept {
  const Range range{first, std::min(keys, first + n)};
  if (range.end <= range.first || rows == 0) return TileClass::kEmpty;
  if (words == nullptr) return TileClass::kFull;
  bool any = false, all = true;
  for (Index row = 0; row < rows; ++row) {
    for (Index w = range.first / 64; w < key_words(range.end); ++w) {
      const KeyBits wanted = range_word(range, w);
      const KeyBits found = words[row * words_per_row + w] & wanted;
      any = any || found != 0;
      all = all && found == wanted;
    }
    if (any && !all) return TileClass::kPartial;
  }
  return all ? TileClass::kFull : TileClass::kEmpty;
}

}  // namespace regard::attention
