#include "regard/text/batching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "regard/base/error.h"

namespace regard {
namespace {

std::vector<PairLength> random_lengths(std::size_t count) {
  std::mt19937 random(1);
  std::vector<PairLength> lengths(count);
  for (auto& length : lengths) {
    length.source = 1 + random() % 40;
    length.target = std::max<std::uint32_t>(4, length.source + random() % 7) - 3;
  }
  return lengths;
}

TEST(Batching, EveryPairThatFitsIsInExactlyOneBatchWithinTheBudget) {
  auto lengths = random_lengths(5000);
  lengths[17] = {501, 3};
  lengths[18] = {3, 501};
  lengths[19] = {500, 500};
  const BatchPlan plan = plan_epoch(lengths, {500, 3, 0});
  EXPECT_EQ(plan.left_out, 2u);
  std::vector<int> seen(lengths.size());
  for (const Batch& batch : plan.batches) {
    ASSERT_FALSE(batch.empty());
    std::uint32_t longest = 0;
    for (const auto i : batch) {
      ++seen[i];
      longest = std::max({longest, lengths[i].source, lengths[i].target});
    }
    ASSERT_LE(batch.size() * longest, 500u);
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], i == 17 || i == 18 ? 0 : 1) << i;
  }
}

TEST(Batching, ThePlanDependsOnSeedAndEpochAlone) {
  const auto lengths = random_lengths(2000);
  const auto plan = [&](std::uint64_t seed, std::uint64_t epoch) {
    return plan_epoch(lengths, {1000, seed, epoch}).batches;
  };
  EXPECT_EQ(plan(1, 2), plan(1, 2));
  EXPECT_NE(plan(1, 2), plan(1, 3));
  EXPECT_NE(plan(1, 2), plan(2, 2));
  // Not only the order of the batches changes, but also who is with whom.
  auto a = plan(1, 2);
  auto b = plan(1, 3);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_NE(a, b);
}

TEST(Batching, ThePlanIsTheSameOnEveryMachine) {
  std::vector<PairLength> lengths;
  for (std::uint32_t i = 0; i < 8; ++i) lengths.push_back({1 + i % 3, 1 + i % 2});
  const BatchPlan plan = plan_epoch(lengths, {6, 42, 1});
  // Pinned: a change of these numbers is a change of every training run.
  EXPECT_EQ(plan.batches, (std::vector<Batch>{{0, 6, 4}, {3, 7, 1}, {2, 5}}));
}

TEST(Batching, BatchesAreFullAndHoldLittlePadding) {
  const auto lengths = random_lengths(20000);
  const BatchPlan plan = plan_epoch(lengths, {2000, 1, 0});
  std::uint64_t real = 0;
  std::uint64_t padded = 0;
  for (const Batch& batch : plan.batches) {
    std::uint64_t longest = 0;
    for (const auto i : batch) {
      real += lengths[i].source + lengths[i].target;
      longest = std::max<std::uint64_t>({longest, lengths[i].source, lengths[i].target});
    }
    padded += 2 * longest * batch.size();
  }
  EXPECT_GT(static_cast<double>(real), 0.9 * static_cast<double>(padded));
  EXPECT_GT(static_cast<double>(padded), 0.9 * 4000.0 * static_cast<double>(plan.batches.size()));
}

TEST(Batching, LongAndShortBatchesAreMixed) {
  const auto lengths = random_lengths(20000);
  const BatchPlan plan = plan_epoch(lengths, {2000, 1, 0});
  const std::size_t half = plan.batches.size() / 2;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (std::size_t b = 0; b < 2 * half; ++b) {
    (b < half ? first : second) += plan.batches[b].size();
  }
  EXPECT_LT(first, 2 * second);
  EXPECT_LT(second, 2 * first);
}

TEST(Batching, SmallDataWorks) {
  EXPECT_TRUE(plan_epoch({}, {}).batches.empty());
  const std::vector<PairLength> one = {{3, 4}};
  EXPECT_EQ(plan_epoch(one, {2000, 0, 5}).batches, (std::vector<Batch>{{0}}));
  EXPECT_EQ(plan_epoch(one, {3, 0, 5}).left_out, 1u);
}

TEST(Batching, DecodingTakesTheLongestFirstAndLeavesNothingOut) {
  const std::vector<std::uint32_t> lengths = {2, 9, 0, 3, 2, 3};
  EXPECT_EQ(plan_decoding(lengths, 6), (std::vector<Batch>{{1}, {3, 5}, {0, 4, 2}}));
  EXPECT_TRUE(plan_decoding({}, 6).empty());
}

TEST(Batching, ABudgetOfNothingIsRefused) {
  EXPECT_THROW(plan_epoch({}, {0, 0, 0}), ConfigError);
  EXPECT_THROW(plan_decoding({}, 0), ConfigError);
}

}  // namespace
}  // namespace regard
