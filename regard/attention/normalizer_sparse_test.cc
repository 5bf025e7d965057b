// Sparsemax and the entmaxes: supports against sorting, alpha near and beyond where it has a name.
#include "regard/attention/normalizer_sparse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "regard/attention/normalizer_case_test_util.h"

namespace regard::attention::test {
namespace {

using regard::test::convert;
using regard::test::random_floats;
using regard::test::random_values;

std::vector<float> weights_of(const Normalizer& n, const std::vector<float>& scores) {
  const NormalizerCase one(n, 1, static_cast<Index>(scores.size()));
  Buffers<float> in = convert<float>(one.inputs(1));
  in[kScoresIn] = scores;
  return one.forward<float>(in)[kWeightsOut];
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return worst;
}

// Rows of many sizes and spreads; every other one in steps of 1/32, so that scores repeat and some
// lie exactly on the threshold.
std::vector<float> row_with_duplicates(Index n, std::uint64_t key) {
  const double spread = std::pow(2.0, static_cast<double>(key % 9) - 6.0) * 4.0;
  std::vector<float> scores = random_floats(n, 1000 + key, -spread, spread);
  if (key % 2 == 0) {
    for (float& x : scores) x = std::round(x * 32.0f) / 32.0f;
  }
  return scores;
}

TEST(SparseNormalizer, SupportsAreThoseOfSortingOnAThousandRows) {
  for (const NormalizerKind kind : {NormalizerKind::kSparsemax, NormalizerKind::kEntmax15}) {
    int wide = 0, single = 0, on_edge = 0;
    for (std::uint64_t key = 0; key < 1000; ++key) {
      const Index n = 1 + static_cast<Index>(random_bits(77, key) % (key % 3 == 0 ? 300 : 60));
      const std::vector<float> scores = row_with_duplicates(n, key);
      const std::vector<float> w = weights_of(make(kind), scores);
      const std::vector<double> exact(scores.begin(), scores.end());
      const std::vector<double> want = kind == NormalizerKind::kSparsemax
                                           ? reference::sparsemax(exact)
                                           : reference::entmax15(exact);
      int support = 0;
      for (std::size_t j = 0; j < w.size(); ++j) {
        // Where a score is the threshold but for its rounding, it may fall on either side.
        const bool close = std::max(static_cast<double>(w[j]), want[j]) <
                           (kind == NormalizerKind::kSparsemax ? 4e-9 : 1e-14);
        on_edge += close && (w[j] > 0.0f) != (want[j] > 0.0);
        EXPECT_TRUE(close || (w[j] > 0.0f) == (want[j] > 0.0))
            << "row " << key << " key " << j << ": " << w[j] << ", wanted " << want[j];
        EXPECT_NEAR(w[j], want[j], 1e-6) << "row " << key << " key " << j;
        support += w[j] > 0.0f;
      }
      wide += support > 20;
      single += support == 1;
    }
    EXPECT_GT(wide, 50);
    EXPECT_GT(single, 50);
    EXPECT_LT(on_edge, 10);
  }
}

TEST(SparseNormalizer, AScoreExactlyOnTheThresholdGetsNothing) {
  EXPECT_EQ(weights_of(make(NormalizerKind::kSparsemax), {0.0f, -1.0f}),
            (std::vector<float>{1.0f, 0.0f}));
  EXPECT_EQ(weights_of(make(NormalizerKind::kSparsemax), {0.0f, -0.5f, 0.0f, -0.5f}),
            (std::vector<float>{0.5f, 0.0f, 0.5f, 0.0f}));
  EXPECT_EQ(weights_of(make(NormalizerKind::kEntmax15), {3.0f, 1.0f}),
            (std::vector<float>{1.0f, 0.0f}));
  EXPECT_EQ(weights_of(make(NormalizerKind::kEntmax15), {0.0f, 0.0f, -1.0f, 0.0f, 0.0f}),
            (std::vector<float>{0.25f, 0.25f, 0.0f, 0.25f, 0.25f}));
}

TEST(SparseNormalizer, StaircasesThatLoseOneKeyAStepComeToTheirEnd) {
  // Each of Newton's steps drops few keys of a geometric row.
  for (const float ratio : {0.5f, 0.9f, 0.99f}) {
    std::vector<float> scores;
    float x = 1.0f;
    for (int j = 0; j < 900; ++j) scores.push_back(-(x *= ratio));
    for (const NormalizerKind kind : {NormalizerKind::kSparsemax, NormalizerKind::kEntmax15}) {
      const std::vector<float> w = weights_of(make(kind), scores);
      const std::vector<double> exact(scores.begin(), scores.end());
      const std::vector<double> want = kind == NormalizerKind::kSparsemax
                                           ? reference::sparsemax(exact)
                                           : reference::entmax15(exact);
      for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(w[j], want[j], 1e-6) << ratio;
    }
  }
}

TEST(SparseNormalizer, EntmaxAtNamedAlphasIsThatKind) {
  for (const double size : {0.05, 1.0, 10.0}) {
    for (const Index keys : {2, 17, 53, 400}) {
      const std::vector<float> scores = random_floats(keys, 40, -size, size);
      EXPECT_LT(largest_difference(weights_of(make_entmax(1.5f), scores),
                                   weights_of(make(NormalizerKind::kEntmax15), scores)),
                2e-6)
          << size << " " << keys;
      EXPECT_LT(largest_difference(weights_of(make_entmax(2.0f), scores),
                                   weights_of(make(NormalizerKind::kSparsemax), scores)),
                2e-6)
          << size << " " << keys;
    }
  }
}

TEST(SparseNormalizer, EntmaxNearOneIsSoftmax) {
  for (const Index keys : {2, 17, 53, 400}) {
    const std::vector<float> scores = random_floats(keys, 41, -3.0, 3.0);
    const std::vector<float> soft = weights_of(make(NormalizerKind::kSoftmax), scores);
    for (const float a : {1e-3f, 1e-4f, 1.2e-7f}) {
      const double difference = largest_difference(weights_of(make_entmax(1.0f + a), scores), soft);
      EXPECT_LT(difference, 5.0 * static_cast<double>(a) + 2e-6) << keys << " " << a;
    }
  }
}

TEST(SparseNormalizer, TheGradientOfAlphaNearSoftmaxKeepsItsDigits) {
  for (const float alpha : {1.001f, 1.01f, 1.1f, 1.24f, 1.26f}) {
    const NormalizerCase op(make_entmax(alpha), 1, 53);
    const Buffers<double> in = op.inputs(42);
    Buffers<double> d_out(kNormalizerOutputs);
    d_out[kWeightsOut] = random_values(53, 43);
    Buffers<float> d_in(kNormalizerInputs);
    d_in[kScoresIn].assign(53, 0.0f);
    d_in[kAlphaIn].assign(1, 0.0f);
    op.backward<float>(convert<float>(in), convert<float>(d_out), d_in);
    const double h = 1e-4;
    Buffers<double> above = in, below = in;
    above[kAlphaIn][0] += h;
    below[kAlphaIn][0] -= h;
    const double numeric = (regard::test::weighted_sum(op.forward<double>(above), d_out) -
                            regard::test::weighted_sum(op.forward<double>(below), d_out)) /
                           (2.0 * h);
    EXPECT_NEAR(d_in[kAlphaIn][0], numeric, 2e-5 * (1.0 + std::fabs(numeric))) << alpha;
  }
}

TEST(SparseNormalizer, SteepAlphasSumToOneAndStayFinite) {
  for (const float alpha : {2.5f, 4.0f, 8.0f, 16.0f}) {
    for (const double size : {1e-3, 0.05, 1.0, 1e30}) {
      for (const Index keys : {1, 2, 17, 400, 2000}) {
        const NormalizerCase op(make_entmax(alpha), 1, keys);
        const Buffers<float> in = convert<float>(op.inputs(44, size));
        const std::vector<float> w = op.forward<float>(in)[kWeightsOut];
        double sum = 0.0;
        for (const float x : w) sum += static_cast<double>(x);
        EXPECT_NEAR(sum, 1.0, 1e-5) << alpha << " " << size << " " << keys;
        // Larger scores never weigh less.
        std::vector<std::size_t> order(w.size());
        for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return in[kScoresIn][a] < in[kScoresIn][b];
        });
        for (std::size_t n = 1; n < order.size(); ++n) {
          EXPECT_LE(w[order[n - 1]], w[order[n]] * 1.0001f) << alpha << " " << size;
        }
        Buffers<float> d_out(kNormalizerOutputs), d_in(kNormalizerInputs);
        d_out[kWeightsOut] = random_floats(keys, 45);
        d_in[kScoresIn].assign(w.size(), 0.0f);
        d_in[kAlphaIn].assign(1, 0.0f);
        op.backward<float>(in, d_out, d_in);
        for (const float x : d_in[kScoresIn]) EXPECT_TRUE(std::isfinite(x)) << alpha;
        EXPECT_TRUE(std::isfinite(d_in[kAlphaIn][0])) << alpha << " " << size << " " << keys;
      }
    }
  }
}

TEST(SparseNormalizer, ASteepKeyThatEntersWhereTheRestLeavesLittleGetsIt) {
  // 15 (e_0 - e_1) = 1/2: the largest weight m has m^15 just above 1/2, and 1 - m goes to the
  // other.
  const std::vector<float> w = weights_of(make_entmax(16.0f), {0.0f, -1.0f / 30.0f});
  const double m = std::pow(0.5, 1.0 / 15.0);
  EXPECT_NEAR(w[0], m, 1e-4);
  EXPECT_NEAR(w[1], 1.0 - m, 1e-4);
}

TEST(SparseNormalizer, AThousandTiesUnderTheSteepestAlphaShareAlike) {
  const std::vector<float> w = weights_of(make_entmax(16.0f), std::vector<float>(1024, 3.0f));
  for (const float x : w) EXPECT_NEAR(x, 1.0f / 1024.0f, 1e-8f);
}

}  // namespace
}  // namespace regard::attention::test
