#include "regard/eval/alignment_error.h"

#include <gtest/gtest.h>

#include <string>

#include "regard/base/error.h"

namespace regard::eval {
namespace {

using Gold = std::vector<GoldLink>;

std::vector<Link> said(std::string_view line) { return parse_links(line, "said"); }
Gold gold(std::string_view line) { return parse_gold_links(line, "gold"); }

TEST(ParseGoldLinks, ReadsSureAndPossibleLinksInAnyOrder) {
  const Gold want = {{{0, 0}, true}, {{1, 2}, false}, {{1, 3}, false}, {{2, 1}, true}};
  EXPECT_EQ(gold(" 2-1\t0-0 1p3  1?2 "), want);
  EXPECT_TRUE(gold("").empty());
  EXPECT_TRUE(gold("  ").empty());
}

TEST(ParseGoldLinks, KeepsEachPairOnceAndSureIfItIsEitherTime) {
  const Gold want = {{{0, 0}, true}, {{1, 1}, false}};
  EXPECT_EQ(gold("0p0 0-0 0-0 1p1 1p1"), want);
}

TEST(ParseGoldLinks, CountsFromTheGivenFirstWord) {
  const Gold want = {{{0, 1}, true}};
  EXPECT_EQ(parse_gold_links("1-2", "gold", 1), want);
  EXPECT_THROW(parse_gold_links("0-2", "gold", 1), FormatError);
  EXPECT_THROW(parse_gold_links("2-0", "gold", 1), FormatError);
}

TEST(ParseGoldLinks, RefusesEverythingElseAndNamesIt) {
  for (const char* bad : {"x", "1", "1-", "-1", "1-2x", "1_2", "-1-2", "1--2", "1-2-3",
                          "99999999999999999999-1", "1.5-2"}) {
    try {
      parse_gold_links(std::string("0-0 ") + bad, "links.txt:7");
      ADD_FAILURE() << bad;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.kind(), FormatError::Kind::kData);
      const std::string start = std::string("links.txt:7: '") + bad + "'";
      EXPECT_TRUE(std::string(error.what()).starts_with(start)) << error.what();
    }
  }
}

TEST(AlignmentError, ByHand) {
  // S = {00, 11}, P adds {12}; A = {00, 12, 22}: A and S = 1, A and P = 2, |A| = 3, |S| = 2.
  AlignmentError errors;
  errors.add(said("0-0 1-2 2-2"), gold("0-0 1-1 1p2"));
  EXPECT_DOUBLE_EQ(errors.score(), 40.0);
  EXPECT_DOUBLE_EQ(errors.precision(), 200.0 / 3.0);
  EXPECT_DOUBLE_EQ(errors.recall(), 50.0);
}

TEST(AlignmentError, IsZeroBetweenTheSureLinksAndAllLinks) {
  AlignmentError errors;
  errors.add(said("0-0"), gold("0-0 1p1"));
  errors.add(said("0-0 1-1"), gold("0-0 1p1"));
  EXPECT_EQ(errors.score(), 0.0);
  errors.add(said("5-5"), gold("5-6"));
  EXPECT_GT(errors.score(), 0.0);
}

TEST(AlignmentError, ALinkSaidTwiceCountsOnce) {
  AlignmentError errors;
  errors.add(said("1-1 0-0 1-1"), gold("0-0"));
  EXPECT_DOUBLE_EQ(errors.precision(), 50.0);
}

TEST(AlignmentError, OfNothingIsZero) {
  EXPECT_EQ(AlignmentError().score(), 0.0);
  EXPECT_EQ(AlignmentError().precision(), 0.0);
}

}  // namespace
}  // namespace regard::eval
