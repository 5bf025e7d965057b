#include "regard/text/corpus_check.h"

#include <gtest/gtest.h>

namespace regard {
namespace {

TEST(CorpusCheck, CountsDuplicatesConflictsAndOverlap) {
  std::vector<Pair> train;
  for (int repeat = 0; repeat < 50; ++repeat) {
    for (int i = 0; i < 60; ++i) {
      train.push_back({"s" + std::to_string(i), "t" + std::to_string(i)});
    }
  }
  for (int i = 0; i < 10; ++i) {
    train.push_back({"c" + std::to_string(i), "x"});
    train.push_back({"c" + std::to_string(i), "y"});
    train.push_back({"c" + std::to_string(i), "z"});
  }
  const std::vector<Pair> dev = {{"s0", "t0"}, {"s1", "t1"}, {"s1", "other"}, {"new", "t0"}};
  const CorpusCheck check = check_pairs(train, dev);
  EXPECT_EQ(check.pairs, 3030u);
  EXPECT_EQ(check.duplicates, 2940u);
  EXPECT_EQ(check.conflicting_sources, 10u);
  EXPECT_EQ(check.dev_pairs, 4u);
  EXPECT_EQ(check.dev_pairs_in_train, 2u);
  EXPECT_EQ(check.dev_sources_in_train, 3u);
  EXPECT_EQ(check_pairs({}).pairs, 0u);
}

TEST(CorpusCheck, TheFirstOccurrenceOfEachPairStays) {
  const std::vector<Pair> pairs = {{"b", "1"}, {"a", "1"}, {"b", "1"}, {"b", "2"}, {"a", "1"}};
  EXPECT_EQ(without_duplicates(pairs), (std::vector<Pair>{{"b", "1"}, {"a", "1"}, {"b", "2"}}));
}

TEST(CorpusCheck, SidesAreNotRunTogether) {
  const std::vector<Pair> pairs = {{"a b", "c"}, {"a", "b c"}, {"a\tb", "c"}, {"a", "b\tc"}};
  EXPECT_EQ(check_pairs(pairs).duplicates, 0u);
}

}  // namespace
}  // namespace regard
