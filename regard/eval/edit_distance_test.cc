#include "regard/eval/edit_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace regard::eval {
namespace {

// The definition itself.
std::size_t plain_distance(std::u32string_view a, std::u32string_view b) {
  if (a.empty()) return b.size();
  if (b.empty()) return a.size();
  const std::size_t kept = plain_distance(a.substr(1), b.substr(1)) + (a[0] == b[0] ? 0 : 1);
  return std::min({kept, plain_distance(a.substr(1), b) + 1, plain_distance(a, b.substr(1)) + 1});
}

TEST(EditDistance, KnownPairs) {
  EXPECT_EQ(edit_distance(U"kitten", U"sitting"), 3u);
  EXPECT_EQ(edit_distance(U"", U"abc"), 3u);
  EXPECT_EQ(edit_distance(U"abc", U""), 3u);
  EXPECT_EQ(edit_distance(U"abcd", U"abcd"), 0u);
  EXPECT_EQ(edit_distance(U"aba", U"aa"), 1u);
}

TEST(EditDistance, EqualsItsDefinitionOnAllSmallStrings) {
  // Two strings of up to 5 letters out of 3, from the digits of a counter.
  std::uint64_t state = 1;
  for (int trial = 0; trial < 2000; ++trial) {
    std::u32string texts[2];
    for (std::u32string& text : texts) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::uint64_t digits = state >> 33;
      for (auto left = digits % 6; left > 0; --left) text += U'a' + (digits /= 3) % 3;
    }
    ASSERT_EQ(edit_distance(texts[0], texts[1]), plain_distance(texts[0], texts[1]));
    ASSERT_EQ(edit_distance(texts[0], texts[1]), edit_distance(texts[1], texts[0]));
  }
}

TEST(ErrorRate, SumsEditsAndLengthsOfTheNearestReferences) {
  ErrorRate rate;
  rate.add(U"abc", {U"abd", U"xyzw"});
  rate.add(U"a", {U"a"});
  EXPECT_EQ(rate.edits(), 1);
  EXPECT_EQ(rate.length(), 4);
  EXPECT_DOUBLE_EQ(rate.score(), 25.0);
}

TEST(ErrorRate, OfEquallyNearReferencesTheLongestCountsInAnyOrder) {
  ErrorRate there;
  there.add(U"abc", {U"ab", U"abcd"});
  ErrorRate back;
  back.add(U"abc", {U"abcd", U"ab"});
  EXPECT_EQ(there.length(), 4);
  EXPECT_EQ(back.length(), 4);
}

TEST(ErrorRate, TokensAreSymbols) {
  ErrorRate rate;
  rate.add_tokens({U"HH", U"AH", U"L"}, {{U"HH", U"EH", U"L", U"OW"}});
  EXPECT_EQ(rate.edits(), 2);
  EXPECT_DOUBLE_EQ(rate.score(), 50.0);
}

TEST(ErrorRate, OfEmptyReferencesIsAllOrNothing) {
  ErrorRate rate;
  rate.add(U"", {U""});
  EXPECT_EQ(rate.score(), 0.0);
  rate.add(U"ab", {U""});
  EXPECT_EQ(rate.score(), 100.0);
}

TEST(ErrorRate, CanPassAHundred) {
  ErrorRate rate;
  rate.add(U"abc", {U"x"});
  EXPECT_EQ(rate.score(), 300.0);
}

}  // namespace
}  // namespace regard::eval
