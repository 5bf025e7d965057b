// What the data decides where an option says 0.
#include "regard/train/options.h"

#include <gtest/gtest.h>

#include "regard/base/error.h"

namespace regard {
namespace {

// `n` pairs of `tokens` tokens a side.
std::vector<PairLength> lengths(size_t n, std::uint32_t tokens) { return {n, {tokens, tokens}}; }

TrainOptions resolved(size_t n, std::uint32_t tokens, TrainOptions options = {}) {
  resolve_defaults(options, lengths(n, tokens));
  return options;
}

TEST(TrainDefaults, BatchesLeave150UpdatesAnEpoch) {
  // 100 pairs of 10 tokens fit 1,000 tokens.
  EXPECT_EQ(resolved(100, 10).batch_tokens, 500);
  EXPECT_EQ(resolved(14900, 10).batch_tokens, 500);
  EXPECT_EQ(resolved(15000, 10).batch_tokens, 1000);
  EXPECT_EQ(resolved(29800, 10).batch_tokens, 1000);
  EXPECT_EQ(resolved(30000, 10).batch_tokens, 2000);
  EXPECT_EQ(resolved(300000, 10).batch_tokens, 2000);
}

TEST(TrainDefaults, EpochsAreForAbout6000UpdatesWithinBounds) {
  EXPECT_EQ(resolved(5, 10).epochs, 300);
  EXPECT_EQ(resolved(5000, 10).epochs, 60);  // 100 batches
  EXPECT_EQ(resolved(300000, 10).epochs, 10);
}

TEST(TrainDefaults, IntervalsAreWholeEpochsOfTenUpdatesAtLeast) {
  EXPECT_EQ(resolved(5, 10).validate_every, 10);      // ten epochs of one batch
  EXPECT_EQ(resolved(200, 10).validate_every, 12);    // three of four
  EXPECT_EQ(resolved(5000, 10).validate_every, 100);  // one
  EXPECT_EQ(resolved(5000, 10).save_every, 100);
  TrainOptions o;
  o.validate_every = 7;
  EXPECT_EQ(resolved(5000, 10, o).validate_every, 7);
  EXPECT_EQ(resolved(5000, 10, o).save_every, 7);
}

TEST(TrainDefaults, ShardsGrowWithTheBatch) {
  TrainOptions o;
  o.batch_tokens = 1000;
  for (const auto& [tokens, shards] : {std::pair<std::uint32_t, Index>{100, 1},
                                       {32, 1},
                                       {31, 2},
                                       {10, 2},
                                       {7, 4},
                                       {4, 4},
                                       {3, 8}}) {
    EXPECT_EQ(resolved(2000, tokens, o).shards, shards) << 1000 / tokens << " pairs in a batch";
  }
  o.shards = 8;
  EXPECT_EQ(resolved(2000, 100, o).shards, 8);
}

TEST(TrainDefaults, WhatIsGivenStaysAndPairsThatDontFitAreTold) {
  TrainOptions o;
  o.batch_tokens = 30;
  o.epochs = 3;
  std::vector<PairLength> data = lengths(20, 10);
  data.push_back({31, 1});
  data.push_back({1, 31});
  data.push_back({30, 30});
  const std::vector<std::string> notes = resolve_defaults(o, data);
  EXPECT_EQ(o.batch_tokens, 30);
  EXPECT_EQ(o.epochs, 3);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].find("2 pairs are longer than --batch-tokens 30"), 0u);
  o.batch_tokens = 5;
  EXPECT_THROW(resolve_defaults(o, data), ConfigError);
}

TEST(TrainDefaults, ThreadsAndLimitsAreNoPartOfARun) {
  TrainOptions a, b;
  b.threads = 7;
  b.epochs = 9;
  b.updates = 8;
  b.patience = 3;
  b.save_every = 5;
  EXPECT_EQ(bit_changing_options(a), bit_changing_options(b));
  b.seed = 2;
  EXPECT_NE(bit_changing_options(a), bit_changing_options(b));
}

}  // namespace
}  // namespace regard
