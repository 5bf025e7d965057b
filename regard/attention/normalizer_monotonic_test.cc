// Monotonic attention and MoChA: what the recurrence promises.
#include <gtest/gtest.h>

#include <cmath>

#include "regard/attention/normalizer_case_test_util.h"

namespace regard::attention::test {
namespace {

using regard::test::convert;
using regard::test::same_bits;

constexpr float kSure = 100.0f;  // sigma of it is 1

Buffers<float> one_row(const std::vector<float>& scores, const std::vector<float>& state) {
  Buffers<float> in(kNormalizerInputs);
  in[kScoresIn] = scores;
  in[kStateIn] = state;
  return in;
}

TEST(Monotonic, TheFirstStepStopsWhereChanceLetsIt) {
  const NormalizerCase op(make(NormalizerKind::kMonotonic), 1, 4);
  const Buffers<float> out = op.forward<float>(one_row({0.0f, 0.0f, 0.0f, 0.0f}, {}));
  EXPECT_EQ(out[kWeightsOut], (std::vector<float>{0.5f, 0.25f, 0.125f, 0.0625f}));
  EXPECT_EQ(out[kNextOut], out[kWeightsOut]);
}

TEST(Monotonic, ASureStepNeverGoesBack) {
  const NormalizerCase op(make(NormalizerKind::kMonotonic), 1, 5);
  const Buffers<float> out =
      op.forward<float>(one_row({kSure, kSure, -kSure, kSure, kSure}, {0, 0, 0.75f, 0.25f, 0}));
  EXPECT_EQ(out[kWeightsOut][0], 0.0f);
  EXPECT_EQ(out[kWeightsOut][1], 0.0f);
  EXPECT_NEAR(out[kWeightsOut][2], 0.0f, 1e-30f);
  EXPECT_EQ(out[kWeightsOut][3], 1.0f);  // what stood at 2 was not held there
  EXPECT_EQ(out[kWeightsOut][4], 0.0f);
}

TEST(Monotonic, MassPassesMaskedKeysUntouched) {
  const NormalizerCase op(make(NormalizerKind::kMonotonic), 1, 6,
                          {{false, true, false, false, true, true}});
  const Buffers<float> out =
      op.forward<float>(one_row({0, 0, kSure, kSure, 0, 0}, {0.5f, 0.0f, 0.25f, 0.25f, 0, 0}));
  EXPECT_EQ(out[kWeightsOut], (std::vector<float>{0, 0.25f, 0, 0, 0.375f, 0.1875f}));
}

TEST(Monotonic, NoWeightIsNegativeAndNoMassIsMade) {
  const NormalizerCase op(make(NormalizerKind::kMonotonic), 19, 53, mixed_rows(19, 53, 3));
  const Buffers<float> in = convert<float>(op.inputs(4, 6.0));
  const std::vector<float> w = op.forward<float>(in)[kWeightsOut];
  for (std::size_t r = 0; r < 19; ++r) {
    double before = 0.0, after = 0.0;
    for (std::size_t j = 0; j < 53; ++j) {
      EXPECT_GE(w[r * 53 + j], 0.0f);
      before += static_cast<double>(in[kStateIn][r * 53 + j]);
      after += static_cast<double>(w[r * 53 + j]);
      EXPECT_LE(after, before + 1e-6) << "mass runs ahead of where it was";
    }
  }
}

TEST(Mocha, ChunksOfOneKeyAreMonotonic) {
  const LiveRows live = mixed_rows(9, 53, 5);
  const NormalizerCase mocha(make(NormalizerKind::kMocha, 1.0f, 1), 9, 53, live);
  const NormalizerCase monotonic(make(NormalizerKind::kMonotonic), 9, 53, live);
  const Buffers<float> in = convert<float>(mocha.inputs(6));
  const Buffers<float> got = mocha.forward<float>(in), want = monotonic.forward<float>(in);
  EXPECT_TRUE(same_bits(got[kWeightsOut], want[kWeightsOut]));
  EXPECT_TRUE(same_bits(got[kNextOut], want[kNextOut]));
}

TEST(Mocha, ASureStepIsSoftmaxOfItsChunk) {
  // All mass stops at key 9; its chunk of 4 keys has a masked one.
  std::vector<float> scores(20, -kSure);
  scores[9] = kSure;
  LiveRows live(1, std::vector<bool>(20, true));
  live[0][7] = false;
  const NormalizerCase op(make(NormalizerKind::kMocha, 1.0f, 4), 1, 20, live);
  Buffers<float> in = one_row(scores, {});
  in[kChunksIn].assign(20, 0.0f);
  in[kChunksIn][6] = 1.0f;
  const std::vector<float> w = op.forward<float>(in)[kWeightsOut];
  const float e = std::exp(1.0f), sum = e + 2.0f;
  for (std::size_t j = 0; j < 20; ++j) {
    const float want = j == 6 ? e / sum : j == 8 || j == 9 ? 1.0f / sum : 0.0f;
    EXPECT_NEAR(w[j], want, 1e-6f) << j;
  }
}

TEST(Mocha, WeightsOfAChunkFarBelowOthersAreNotLost) {
  // A shift by the largest score of the row would leave 0 / 0 at the first keys.
  const NormalizerCase op(make(NormalizerKind::kMocha, 1.0f, 2), 1, 6);
  Buffers<float> in = one_row({kSure, 0, 0, 0, 0, 0}, {});
  in[kChunksIn] = {-1e30f, -1e30f, 0, 0, 1e30f, 1e30f};
  EXPECT_EQ(op.forward<float>(in)[kWeightsOut][0], 1.0f);
}

TEST(Mocha, AChunkWiderThanTheSentenceIsTheSentence) {
  const NormalizerCase wide(make(NormalizerKind::kMocha, 1.0f, Index{1} << 40), 3, 17);
  const NormalizerCase all(make(NormalizerKind::kMocha, 1.0f, 17), 3, 17);
  const Buffers<float> in = convert<float>(all.inputs(7));
  EXPECT_TRUE(same_bits(wide.forward<float>(in)[kWeightsOut], all.forward<float>(in)[kWeightsOut]));
}

}  // namespace
}  // namespace regard::attention::test
