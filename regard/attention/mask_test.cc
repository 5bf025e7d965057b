// Every rule, alone and joined, against plain predicates of (place, key).
#include "regard/attention/mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "regard/base/error.h"
#include "regard/base/random.h"

namespace regard::attention {
namespace {

// Around the 64 keys of a word, and several words with a rest.
constexpr Index kKeys[] = {1, 63, 64, 65, 130};
constexpr Index kRows = 9;  // of the call
constexpr Index kFirstKey = 5;
constexpr Index kBitsStride = 131;
constexpr Index kUnlimited = std::numeric_limits<Index>::max();

using Predicate = std::function<bool(const RowPlace&, Index)>;

struct Case {
  std::string name;
  Mask mask;
  Predicate live;
};

// What segments and bits read, as a function of fixed keys.
struct Arrays {
  Arrays() {
    for (Index i = 0; i < kRows; ++i) query_segment.push_back(static_cast<int>(i % 3) - 1);
    for (Index j = 0; j < kFirstKey + kBitsStride; ++j) {
      key_segment.push_back(static_cast<int>(random_below(3, static_cast<std::uint64_t>(j), 3)) -
                            1);
    }
    for (Index k = 0; k < kRows * kBitsStride; ++k) {
      const std::uint64_t random = random_bits(4, static_cast<std::uint64_t>(k));
      // Any byte that is not 0 is live: one bit of it, or all.
      const int one = 1 << (random >> 8) % 8;
      live.push_back(static_cast<std::uint8_t>(random % 2 == 0 ? 0 : random % 4 == 1 ? 255 : one));
    }
  }
  std::vector<std::int32_t> query_segment, key_segment;
  std::vector<std::uint8_t> live;
};

const Arrays& arrays() {
  static const Arrays kArrays;
  return kArrays;
}

Case causal_case(const std::string& name, CausalAlignment alignment, bool bottom_right) {
  return {name, Mask::causal(alignment), [bottom_right](const RowPlace& p, Index j) {
            return j <= p.position + (bottom_right ? p.keys - p.queries : 0);
          }};
}

Case window_case(Index left, Index right) {
  return {"window(" + std::to_string(left) + ", " + std::to_string(right) + ")",
          Mask::window(left, right), [left, right](const RowPlace& p, Index j) {
            return (left < 0 || p.position - j <= left) && (right < 0 || j - p.position <= right);
          }};
}

Case segments_case() {
  const Arrays& a = arrays();
  return {"segments", Mask::segments(a.query_segment.data(), a.key_segment.data()),
          [&a](const RowPlace& p, Index j) {
            return a.query_segment[static_cast<std::size_t>(p.row)] ==
                   a.key_segment[static_cast<std::size_t>(p.first_key + j)];
          }};
}

Case bits_case() {
  const Arrays& a = arrays();
  return {"bits", Mask::bits(a.live.data(), kBitsStride), [&a](const RowPlace& p, Index j) {
            return a.live[static_cast<std::size_t>(p.row * kBitsStride + j)] != 0;
          }};
}

Case query_lengths_case() {
  return {"query_lengths", Mask::query_lengths(),
          [](const RowPlace& p, Index) { return p.position < p.queries; }};
}

// kSquare beside the others means T = S.
std::vector<Case> all_rules() {
  return {query_lengths_case(),
          causal_case("causal(kSquare)", CausalAlignment::kSquare, false),
          causal_case("causal(kTopLeft)", CausalAlignment::kTopLeft, false),
          causal_case("causal(kBottomRight)", CausalAlignment::kBottomRight, true),
          window_case(3, 2),
          window_case(0, 0),
          window_case(64, -1),
          window_case(-1, 1),
          window_case(-1, -1),
          segments_case(),
          bits_case()};
}

// Those of them that go with any number of queries, with fewer windows.
std::vector<Case> few_rules() {
  return {query_lengths_case(),
          causal_case("causal(kTopLeft)", CausalAlignment::kTopLeft, false),
          causal_case("causal(kBottomRight)", CausalAlignment::kBottomRight, true),
          window_case(3, 2),
          window_case(-1, 1),
          segments_case(),
          bits_case()};
}

Case both(const Case& a, const Case& b) {
  return {"(" + a.name + " & " + b.name + ")", a.mask & b.mask,
          [x = a.live, y = b.live](const RowPlace& p, Index j) { return x(p, j) && y(p, j); }};
}

Case either(const Case& a, const Case& b) {
  return {"(" + a.name + " | " + b.name + ")", a.mask | b.mask,
          [x = a.live, y = b.live](const RowPlace& p, Index j) { return x(p, j) || y(p, j); }};
}

// Positions at the beginning, around words and the end of the keys, and beyond it.
std::vector<RowPlace> places(Index keys, Index queries) {
  std::vector<RowPlace> out;
  for (const Index position :
       {Index{0}, Index{1}, Index{62}, Index{64}, keys - 1, keys, keys + 3, keys + 200}) {
    RowPlace p;
    p.row = static_cast<Index>(out.size());
    p.position = position;
    p.keys = keys;
    p.queries = queries;
    p.first_key = kFirstKey;
    out.push_back(p);
  }
  return out;
}

// The words of a row; one word more than asked for must keep its value.
std::vector<KeyBits> live_words(const Mask& mask, const RowPlace& p) {
  constexpr KeyBits kGuard = 0x5A5A5A5A5A5A5A5A;
  const std::size_t words = static_cast<std::size_t>(key_words(p.keys));
  std::vector<KeyBits> out(words + 1, kGuard);
  mask.live_keys(p, out.data());
  EXPECT_EQ(out[words], kGuard) << "wrote beyond the last word";
  out.resize(words);
  return out;
}

// "" or the first key that is wrong. Bits beyond the last key have to be 0.
std::string wrong_key(const Case& c, const RowPlace& p) {
  c.mask.check("test", p);
  const std::vector<KeyBits> words = live_words(c.mask, p);
  for (Index j = 0; j < static_cast<Index>(words.size()) * 64; ++j) {
    const bool got = (words[static_cast<std::size_t>(j / 64)] >> (j % 64) & 1) != 0;
    if (got == (j < p.keys && c.live(p, j))) continue;
    return c.name + ": key " + std::to_string(j) + " of " + std::to_string(p.keys) +
           " at position " + std::to_string(p.position) + " of " + std::to_string(p.queries) +
           " is " + (got ? "live" : "dead");
  }
  return "";
}

void expect_right(const Case& c, Index keys, Index queries) {
  for (const RowPlace& p : places(keys, queries)) EXPECT_EQ(wrong_key(c, p), "");
}

TEST(Mask, EachRuleIsItsPredicateAtLengthsAroundWords) {
  for (const Case& c : all_rules()) {
    for (const Index keys : kKeys) expect_right(c, keys, keys);
  }
}

TEST(Mask, TheDefaultOneMasksNothing) {
  EXPECT_TRUE(Mask().trivial());
  EXPECT_FALSE(Mask().needs_query_lengths());
  const Case c = {"Mask()", Mask(), [](const RowPlace&, Index) { return true; }};
  for (const Index keys : kKeys) expect_right(c, keys, -1);
}

TEST(Mask, CausalAlignmentsDifferWhereQueriesAreFewerOrMoreThanKeys) {
  for (const Index keys : kKeys) {
    for (const Index queries : {Index{1}, keys - 1, keys + 1, keys + 70, Index{3}}) {
      expect_right(causal_case("top left", CausalAlignment::kTopLeft, false), keys, queries);
      expect_right(causal_case("bottom right", CausalAlignment::kBottomRight, true), keys, queries);
    }
  }
}

TEST(Mask, BottomRightShowsTheLastQueryAllKeysAndEarlyOnesNone) {
  const Mask mask = Mask::causal(CausalAlignment::kBottomRight);
  RowPlace p;
  p.keys = 70;
  p.queries = 80;
  p.position = 79;
  EXPECT_EQ(live_words(mask, p), (std::vector<KeyBits>{~KeyBits{0}, 0x3F}));
  p.position = 9;
  EXPECT_EQ(live_words(mask, p), (std::vector<KeyBits>{0, 0}));
  p.position = 10;
  EXPECT_EQ(live_words(mask, p), (std::vector<KeyBits>{1, 0}));
}

TEST(Mask, WindowsAsWideAsAnIndexReachEverything) {
  for (const Index left : {Index{0}, Index{1}, kUnlimited}) {
    for (const Index right : {Index{0}, Index{1}, kUnlimited}) {
      expect_right(window_case(left, right), 130, 130);
    }
  }
}

TEST(Mask, WithoutKeysNothingIsWritten) {
  for (const Case& c : all_rules()) {
    RowPlace p;
    p.queries = 0;
    EXPECT_EQ(live_words(c.mask, p).size(), 0u);
  }
}

TEST(Mask, BitsWithoutStrideAreTheSameForAllRows) {
  const Arrays& a = arrays();
  const Case c = {"bits of stride 0", Mask::bits(a.live.data(), 0), [&a](const RowPlace&, Index j) {
                    return a.live[static_cast<std::size_t>(j)] != 0;
                  }};
  for (const Index keys : kKeys) expect_right(c, keys, keys);
}

TEST(Mask, EveryOrderedPairOfRulesJoinsByAndAndOr) {
  for (const Case& a : all_rules()) {
    for (const Case& b : all_rules()) {
      for (const Index keys : kKeys) {
        expect_right(both(a, b), keys, keys);
        expect_right(either(a, b), keys, keys);
      }
    }
  }
}

TEST(Mask, PairsOfRulesJoinWhereQueriesAreFewerOrMoreThanKeys) {
  for (const Case& a : few_rules()) {
    for (const Case& b : few_rules()) {
      for (const Index queries : {3, 64, 140}) {
        expect_right(both(a, b), 65, queries);
        expect_right(either(a, b), 65, queries);
      }
    }
  }
}

TEST(Mask, NestedExpressionsKeepTheirParentheses) {
  const std::vector<Case> rule = few_rules();
  const Case balanced = either(both(either(rule[0], rule[3]), either(rule[5], rule[6])),
                               both(either(rule[1], rule[5]), either(rule[4], rule[3])));
  const Case left = either(both(either(both(rule[6], rule[2]), rule[5]), rule[1]), rule[3]);
  const Case right = both(rule[6], either(rule[3], both(rule[5], either(rule[1], rule[4]))));
  for (const Case& c : {balanced, left, right}) {
    for (const Index keys : kKeys) {
      expect_right(c, keys, keys);
      expect_right(c, keys, keys + 9);
      expect_right(c, keys, 2);
    }
  }
}

// One that leans to the left needs two words at a time, one that leans to the right all eight.
TEST(Mask, ExpressionsOfEightRulesAreEvaluatedHoweverTheyLean) {
  const std::vector<Case> rule = few_rules();
  Case left = bits_case(), right = bits_case();
  for (int n = 1; n < Mask::kMostRules; ++n) {
    const Case& next = rule[static_cast<std::size_t>(n) % rule.size()];
    left = n % 2 == 0 ? both(left, next) : either(left, next);
    right = n % 2 == 0 ? both(next, right) : either(next, right);
  }
  expect_right(left, 130, 100);
  expect_right(right, 130, 100);
}

TEST(Mask, RandomExpressionsAreTheirPredicates) {
  const std::vector<Case> rule = few_rules();
  std::uint64_t counter = 0;
  const auto below = [&counter](std::uint64_t n) {
    return static_cast<std::size_t>(random_below(11, counter++, n));
  };
  for (int k = 0; k < 300; ++k) {
    // Joins two at random until one is left.
    std::vector<Case> parts;
    for (std::size_t n = 1 + below(8); n > 0; --n) parts.push_back(rule[below(rule.size())]);
    while (parts.size() > 1) {
      std::swap(parts[below(parts.size())], parts.back());
      const Case a = parts.back();
      parts.pop_back();
      Case& b = parts[below(parts.size())];
      b = below(2) == 0 ? both(a, b) : either(a, b);
    }
    expect_right(parts[0], 1 + static_cast<Index>(below(131)), static_cast<Index>(below(140)));
  }
}

TEST(Mask, JoinsWithTheDefaultOneAreWhatTheyMean) {
  RowPlace p;
  p.keys = 70;
  p.position = 20;
  const Mask window = Mask::window(2, 2);
  EXPECT_EQ(live_words(window & Mask(), p), live_words(window, p));
  EXPECT_EQ(live_words(Mask() & window, p), live_words(window, p));
  EXPECT_TRUE((window | Mask()).trivial());
  EXPECT_TRUE((Mask() | window).trivial());
  EXPECT_TRUE((Mask() & Mask()).trivial());
}

TEST(Mask, KnowsWhetherItNeedsTheNumberOfQueries) {
  EXPECT_TRUE(Mask::query_lengths().needs_query_lengths());
  EXPECT_TRUE(Mask::causal(CausalAlignment::kSquare).needs_query_lengths());
  EXPECT_TRUE(Mask::causal(CausalAlignment::kBottomRight).needs_query_lengths());
  EXPECT_FALSE(Mask::causal(CausalAlignment::kTopLeft).needs_query_lengths());
  EXPECT_FALSE(Mask::window(1, 1).needs_query_lengths());
  EXPECT_FALSE(segments_case().mask.needs_query_lengths());
  EXPECT_FALSE(bits_case().mask.needs_query_lengths());
  EXPECT_TRUE((Mask::window(1, 1) | Mask::query_lengths()).needs_query_lengths());
}

TEST(Mask, KnowsWhetherItDependsOnThePlaceAlone) {
  EXPECT_TRUE(Mask::query_lengths().positional());
  EXPECT_TRUE((Mask::causal(CausalAlignment::kTopLeft) & Mask::window(1, 1)).positional());
  EXPECT_FALSE(Mask().positional());
  EXPECT_FALSE((Mask::window(1, 1) & segments_case().mask).positional());
  EXPECT_FALSE((bits_case().mask | Mask::window(1, 1)).positional());
}

template <class Error, class Fn>
void expect_error(Fn fn, const std::string& message) {
  try {
    fn();
    ADD_FAILURE() << "nothing was thrown; wanted: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
  }
}

// Of sentence 2, with S = 7.
RowPlace seven_keys(Index queries) {
  RowPlace p;
  p.sentence = 2;
  p.keys = 7;
  p.queries = queries;
  return p;
}

TEST(Mask, SquareCausalWithOtherThanAsManyQueriesAsKeysIsAnError) {
  const Mask mask = Mask::window(1, 1) & Mask::causal(CausalAlignment::kSquare);
  EXPECT_NO_THROW(mask.check("attend_forward", seven_keys(7)));
  for (const Index queries : {0, 6, 8}) {
    expect_error<ShapeError>([&] { mask.check("attend_forward", seven_keys(queries)); },
                             "attend_forward: queries of sentence 2 for the square causal mask: "
                             "wanted 7, as many as keys, got " +
                                 std::to_string(queries));
  }
}

TEST(Mask, AnUnknownNumberOfQueriesIsAnErrorWhereItIsNeeded) {
  for (const Case& c : all_rules()) {
    const auto check = [&] { c.mask.check("attend_backward", seven_keys(-1)); };
    if (!c.mask.needs_query_lengths()) {
      EXPECT_NO_THROW(check()) << c.name;
      continue;
    }
    expect_error<ShapeError>(check,
                             "attend_backward: queries of sentence 2 for the mask: wanted their "
                             "number, got none");
  }
}

TEST(Mask, ArraysThatAreNullAreAnErrorWhereThereAreKeys) {
  const std::int32_t some = 0;
  const std::string segments =
      "f: segments of the mask: wanted one for each query row and key row, got null";
  const std::string bits = "f: bits of the mask: wanted a row for each query row, got null";
  const auto check = [](const Mask& mask, const RowPlace& p) {
    return [mask, p] { mask.check("f", p); };
  };
  expect_error<ShapeError>(check(Mask::segments(nullptr, &some), seven_keys(1)), segments);
  expect_error<ShapeError>(check(Mask::segments(&some, nullptr), seven_keys(1)), segments);
  expect_error<ShapeError>(check(Mask::bits(nullptr, 7), seven_keys(1)), bits);
  EXPECT_NO_THROW(check(Mask::segments(nullptr, nullptr), RowPlace())());
  EXPECT_NO_THROW(check(Mask::bits(nullptr, 0), RowPlace())());
}

TEST(Mask, RowsOfBitsThatOverlapAreAnError) {
  const std::uint8_t live[7] = {};
  expect_error<ShapeError>([&] { Mask::bits(live, 6).check("f", seven_keys(1)); },
                           "f: stride of the mask's bits: wanted 0 or at least the 7 keys of "
                           "sentence 2, got 6");
  EXPECT_NO_THROW(Mask::bits(live, 7).check("f", seven_keys(1)));
  EXPECT_NO_THROW(Mask::bits(live, 0).check("f", seven_keys(1)));
}

TEST(Mask, MoreThanEightRulesAreAnError) {
  const Mask four =
      Mask::window(1, 1) & Mask::window(2, 2) & Mask::window(3, 3) & Mask::window(4, 4);
  const Mask eight = four | four;
  const std::string message = "mask: rules in one expression: wanted at most 8, got ";
  expect_error<ConfigError>([&] { (void)(eight & Mask::window(1, 1)); }, message + "9");
  expect_error<ConfigError>([&] { (void)(four | eight); }, message + "12");
  EXPECT_NO_THROW((void)(eight & Mask()));
}

// Rows whose words hold all, none, or some keys.
class Tiles : public testing::Test {
 protected:
  void fill(Index rows, Index keys, std::uint64_t key) {
    words_per_row = key_words(keys) + 1;  // more than needed
    block = {nullptr, words_per_row, rows, keys};
    words.assign(static_cast<std::size_t>(rows * words_per_row), 0);
    for (Index k = 0; k < rows * keys; ++k) {
      const Index row = k / keys, j = k % keys;
      const std::uint64_t style = random_below(key, static_cast<std::uint64_t>(j / 8), 3);
      const bool live = style == 0 || (style == 1 && random_below(key + 1, k, 8) != 0);
      words[static_cast<std::size_t>(row * words_per_row + j / 64)] |= KeyBits{live} << (j % 64);
    }
    block.words = words.data();
  }
  TileClass by_counting(Index first, Index n) const {
    Index live = 0, all = 0;
    for (Index row = 0; row < block.rows; ++row) {
      for (Index j = first; j < std::min(first + n, block.keys); ++j, ++all) {
        live += block.live(row, j);
      }
    }
    if (live == 0) return TileClass::kEmpty;
    return live == all ? TileClass::kFull : TileClass::kPartial;
  }
  std::vector<KeyBits> words;
  Index words_per_row = 0;
  LiveBlock block;
};

TEST_F(Tiles, AreClassedAsCountingSays) {
  int seen[3] = {};
  for (const Index keys : kKeys) {
    for (const Index rows : {1, 2, 5}) {
      fill(rows, keys, static_cast<std::uint64_t>(100 + keys + rows));
      for (Index first = 0; first < keys + 2; ++first) {
        for (const Index n : {0, 1, 2, 7, 8, 16, 63, 64, 65, 128, 200}) {
          const TileClass got = block.tile(first, n);
          EXPECT_EQ(got, by_counting(first, n))
              << rows << " x " << keys << " " << first << " " << n;
          ++seen[static_cast<int>(got)];
        }
      }
    }
  }
  for (const int n : seen) EXPECT_GT(n, 100);
}

TEST_F(Tiles, OfAFullAndAnEmptyRowArePartial) {
  words = {~KeyBits{0}, 0};
  block = {words.data(), 1, 2, 64};
  EXPECT_EQ(block.tile(0, 64), TileClass::kPartial);
  std::swap(words[0], words[1]);
  EXPECT_EQ(block.tile(0, 64), TileClass::kPartial);
}

TEST_F(Tiles, WithoutWordsAreFull) {
  block = {nullptr, 0, 3, 100};
  EXPECT_EQ(block.tile(0, 64), TileClass::kFull);
  EXPECT_EQ(block.tile(64, 64), TileClass::kFull);
  EXPECT_EQ(block.tile(100, 64), TileClass::kEmpty);
  EXPECT_EQ(block.count(2), 100);
  EXPECT_TRUE(block.live(2, 99));
}

TEST_F(Tiles, WithoutRowsAreEmpty) {
  block = {nullptr, 0, 0, 100};
  EXPECT_EQ(block.tile(0, 64), TileClass::kEmpty);
}

TEST_F(Tiles, CountsAreThoseOfTheRow) {
  for (const Index keys : kKeys) {
    fill(4, keys, 7);
    for (Index row = 0; row < 4; ++row) {
      Index live = 0;
      for (Index j = 0; j < keys; ++j) live += block.live(row, j);
      EXPECT_EQ(block.count(row), live);
    }
  }
}

TEST_F(Tiles, OfACausalMaskFollowTheDiagonal) {
  const Mask mask = Mask::causal(CausalAlignment::kTopLeft);
  words.assign(32 * 2, 0);
  for (Index i = 0; i < 32; ++i) {
    RowPlace p;
    p.position = 32 + i;
    p.keys = 128;
    mask.live_keys(p, words.data() + 2 * i);
  }
  block = {words.data(), 2, 32, 128};
  EXPECT_EQ(block.tile(0, 33), TileClass::kFull);
  EXPECT_EQ(block.tile(0, 34), TileClass::kPartial);
  EXPECT_EQ(block.tile(63, 1), TileClass::kPartial);
  EXPECT_EQ(block.tile(64, 64), TileClass::kEmpty);
}

}  // namespace
}  // namespace regard::attention
