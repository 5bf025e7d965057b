// Against the published test vectors of Philox4x32-10, and against the distributions' first facts.
#include "regard/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

namespace regard {
namespace {

// From kat_vectors of the Random123 library, version 1.14.0.
TEST(Philox, GivesThePublishedValues) {
  EXPECT_EQ(philox(0, 0, 0),
            (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~0ull, ~0ull, ~0ull),
            (std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsKnownWhileCompiling) {
  static_assert(random_bits(1, 2) != random_bits(1, 3));
  static_assert(mix(1, 2) != mix(2, 1));
}

TEST(RandomBits, NeighbouringKeysAndCountersShareNothing) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t key = 0; key < 100; ++key) {
    for (std::uint64_t counter = 0; counter < 100; ++counter)
      seen.insert(random_bits(key, counter));
  }
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(RandomBits, EveryBitIsSetHalfOfTheTime) {
  constexpr int kDraws = 20000;
  std::array<int, 64> ones{};
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = random_bits(42, static_cast<std::uint64_t>(i));
    for (int b = 0; b < 64; ++b) ones[static_cast<std::size_t>(b)] += bits >> b & 1;
  }
  // Five standard deviations: sqrt(20000) / 2 = 70.7.
  for (const int count : ones) EXPECT_NEAR(count, kDraws / 2, 354);
}

TEST(UniformFloat, CoversZeroToBelowOne) {
  EXPECT_EQ(uniform_float(0), 0.0f);
  EXPECT_EQ(uniform_float(0xFF), 0.0f);
  EXPECT_EQ(uniform_float(0x80000000u), 0.5f);
  EXPECT_LT(uniform_float(0xFFFFFFFFu), 1.0f);
  EXPECT_EQ(uniform_float(0xFFFFFFFFu), 1.0f - 0x1p-24f);
}

TEST(RandomBelow, IsEvenlySpreadAndNeverReachesItsBound) {
  for (const std::uint64_t n : {1u, 2u, 3u, 10u, 1000u}) {
    constexpr std::uint64_t kDraws = 50000;
    std::vector<int> counts(n, 0);
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const std::uint64_t value = random_below(9, i, n);
      ASSERT_LT(value, n);
      ++counts[value];
    }
    const double mean = static_cast<double>(kDraws) / static_cast<double>(n);
    // Six standard deviations of a count; the variance is below its mean.
    for (const int count : counts) EXPECT_LT((count - mean) * (count - mean), 36 * mean + 1);
  }
}

TEST(Mix, DependsOnEveryPartAndItsOrder) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 50; ++a) {
    for (std::uint64_t b = 0; b < 50; ++b) seen.insert(mix(mix(0, a), b));
  }
  EXPECT_EQ(seen.size(), 2500u);
  EXPECT_NE(mix(1, "encoder"), mix(1, "decoder"));
  EXPECT_NE(mix(1, "encoder"), mix(2, "encoder"));
  EXPECT_NE(mix(1, "ab"), mix(1, "ba"));
}

TEST(Mix, OneFlippedBitFlipsAboutHalf) {
  int flipped = 0;
  for (int bit = 0; bit < 64; ++bit) {
    flipped += std::popcount(mix(5, 1ull << bit) ^ mix(5, 0));
  }
  EXPECT_NEAR(flipped / 64.0, 32, 3);
}

}  // namespace
}  // namespace regard
