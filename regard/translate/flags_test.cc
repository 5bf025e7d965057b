#include "regard/translate/flags.h"

#include <gtest/gtest.h>

#include <vector>

namespace regard::flag {
namespace {

using Ids = std::vector<std::int32_t>;

Ids repeat(const Ids& block, int times) {
  Ids ids;
  for (int i = 0; i < times; ++i) ids.insert(ids.end(), block.begin(), block.end());
  return ids;
}

TEST(Repetition, IsFourTimesTheSameOverTwelveTokensOrMore) {
  EXPECT_TRUE(is_repetitive(repeat({3}, 12)));
  EXPECT_FALSE(is_repetitive(repeat({3}, 11)));
  EXPECT_TRUE(is_repetitive(repeat({3, 4, 5}, 4)));
  EXPECT_FALSE(is_repetitive(repeat({3, 4, 5}, 3)));
  EXPECT_TRUE(is_repetitive(repeat({3, 4, 5, 6, 7, 8, 9, 10}, 4)));
  EXPECT_FALSE(is_repetitive(repeat({3, 4, 5, 6, 7, 8, 9, 10, 11}, 4)));  // longer than looked for
}

TEST(Repetition, IsFoundInTheMiddle) {
  Ids ids = {9, 8, 7};
  const Ids block = repeat({4, 4, 5}, 4);
  ids.insert(ids.end(), block.begin(), block.end());
  ids.insert(ids.end(), {6, 6, 1});
  EXPECT_TRUE(is_repetitive(ids));
  ids[8] = 10;
  EXPECT_FALSE(is_repetitive(ids));
}

TEST(Repetition, IsNoneInShortAndVariedText) {
  EXPECT_FALSE(is_repetitive({}));
  EXPECT_FALSE(is_repetitive(Ids{3, 3, 3}));
  EXPECT_FALSE(is_repetitive(Ids{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 1}));
}

}  // namespace
}  // namespace regard::flag
