#include "regard/eval/alignment_error.h"

#include <gtest/gtest.h>

#include <string>

#include "regard/base/error.h"

namespace regard::eval {
namespace {

TEST(ParseLinks, ReadsSureAndPossibleLinksInAnyOrder) {
  const std::vector<Link> links = parse_links(" 2-1\t0-0 1p3  1?2\r");
  const std::vector<Link> want = {{0, 0, true}, {1, 2, false}, {1, 3, false}, {2, 1, true}};
  EXPECT_EQ(links, want);
  EXPECT_TRUE(parse_links("").empty());
  EXPECT_TRUE(parse_links("  ").empty());
}

TEST(ParseLinks, KeepsEachPairOnceAndSureIfItIsEitherTime) {
  const std::vector<Link> want = {{0, 0, true}, {1, 1, false}};
  EXPECT_EQ(parse_links("0p0 0-0 0-0 1p1 1p1"), want);
}

TEST(ParseLinks, CountsFromTheGivenFirstWord) {
  const std::vector<Link> want = {{0, 1, true}};
  EXPECT_EQ(parse_links("1-2", 1), want);
  EXPECT_THROW(parse_links("0-2", 1), FormatError);
}

TEST(ParseLinks, RefusesEverythingElseAndNamesIt) {
  for (const char* bad : {"x", "1", "1-", "-1", "1-2x", "1_2", "-1-2", "1--2", "1-2-3",
                          "99999999999999999999-1", "1.5-2"}) {
    try {
      parse_links(std::string("0-0 ") + bad);
      ADD_FAILURE() << bad;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.kind(), FormatError::Kind::kData);
      EXPECT_NE(std::string(error.what()).find(std::string("'") + bad + "'"), std::string::npos);
    }
  }
}

TEST(AlignmentError, ByHand) {
  // S = {00, 11}, P adds {12}; A = {00, 12, 22}: A and S = 1, A and P = 2, |A| = 3, |S| = 2.
  AlignmentError errors;
  errors.add(parse_links("0-0 1-2 2-2"), parse_links("0-0 1-1 1p2"));
  EXPECT_DOUBLE_EQ(errors.score(), 40.0);
  EXPECT_DOUBLE_EQ(errors.precision(), 200.0 / 3.0);
  EXPECT_DOUBLE_EQ(errors.recall(), 50.0);
}

TEST(AlignmentError, IsZeroBetweenTheSureLinksAndAllLinks) {
  AlignmentError errors;
  errors.add(parse_links("0-0"), parse_links("0-0 1p1"));
  errors.add(parse_links("0-0 1-1"), parse_links("0-0 1p1"));
  EXPECT_EQ(errors.score(), 0.0);
  errors.add(parse_links("5-5"), parse_links("5-6"));
  EXPECT_GT(errors.score(), 0.0);
}

TEST(AlignmentError, OfNothingIsZero) {
  EXPECT_EQ(AlignmentError().score(), 0.0);
  EXPECT_EQ(AlignmentError().precision(), 0.0);
}

}  // namespace
}  // namespace regard::eval
