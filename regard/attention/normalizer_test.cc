#include "regard/attention/normalizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "regard/attention/normalizer_case_test_util.h"
#include "regard/attention/softmax.h"
#include "regard/base/error.h"

namespace regard::attention::test {
namespace {

using regard::test::check_op;
using regard::test::convert;
using regard::test::expect_same_bits_on_each_isa;
using regard::test::kLengths;
using regard::test::random_floats;
using regard::test::same_bits;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The lengths of all kernels, and rows of several words of bits, beyond what is packed.
std::vector<Index> lengths() {
  std::vector<Index> all = kLengths;
  all.push_back(150);
  return all;
}

// What straight through gives back is no gradient of what it computes.
bool differentiable(const Normalizer& n) { return !n.straight_through; }

// Weights bend sharply where a key enters the support: the more keys, the sooner one of them is too
// near for central differences.
bool bent(const Normalizer& n) { return n.kind == NormalizerKind::kEntmax && n.alpha > 1.5f; }

// Steep kinds lose what scores near the edge of the support lost to rounding.
double tolerance(const Normalizer& n) {
  return n.kind == NormalizerKind::kEntmax && n.alpha > 2.0f ? 2e-4 : 6e-6;
}

std::vector<float> weights_of(const Normalizer& n, const std::vector<float>& scores) {
  const NormalizerCase one(n, 1, static_cast<Index>(scores.size()));
  Buffers<float> in = convert<float>(one.inputs(1));
  in[kScoresIn] = scores;
  return one.forward<float>(in)[kWeightsOut];
}

TEST(Normalizer, EveryKindAgreesWithTheReferenceForwardAndBackwardOnWholeRows) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!differentiable(n.normalizer)) continue;
    for (const Index keys : lengths()) {
      const NormalizerCase op(n.normalizer, 3, keys);
      EXPECT_EQ(check_op(op, op.inputs(11), tolerance(n.normalizer)), "") << n.name << " " << keys;
    }
  }
}

TEST(Normalizer, EveryKindAgreesWithTheReferenceForwardAndBackwardUnderMasks) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!differentiable(n.normalizer)) continue;
    for (const Index keys : lengths()) {
      const Index rows = bent(n.normalizer) ? 8 : 19;
      const NormalizerCase op(n.normalizer, rows, keys, mixed_rows(rows, keys, 5));
      EXPECT_EQ(check_op(op, op.inputs(51), tolerance(n.normalizer)), "") << n.name << " " << keys;
    }
  }
}

TEST(Normalizer, WithoutStateAndChunkScoresTheDefaultsAreDifferentiatedToo) {
  for (const Index width : {1, 4}) {
    for (const Index keys : lengths()) {
      const NormalizerCase op(make(NormalizerKind::kMocha, 1.0f, width), 9, keys,
                              mixed_rows(9, keys, 6));
      Buffers<double> in = op.inputs(13, 2.0, false);
      EXPECT_EQ(check_op(op, in), "") << keys;
      in[kStateIn].clear();
      EXPECT_EQ(check_op(op, in), "") << keys;
    }
  }
}

TEST(Normalizer, StraightThroughGoesBackAsSoftmaxAtItsTemperature) {
  for (const Index keys : lengths()) {
    const LiveRows live = mixed_rows(9, keys, 7);
    const NormalizerCase hard(make_straight_through(1.5f), 9, keys, live);
    const NormalizerCase soft(make(NormalizerKind::kSoftmax, 1.5f), 9, keys, live);
    const Buffers<float> in = convert<float>(hard.inputs(14));
    Buffers<float> d_out(kNormalizerOutputs), d_hard(kNormalizerInputs);
    d_out[kWeightsOut] = random_floats(9 * keys, 15);
    d_hard[kScoresIn].assign(static_cast<std::size_t>(9 * keys), 0.0f);
    Buffers<float> d_soft = d_hard;
    hard.backward<float>(in, d_out, d_hard);
    soft.backward<float>(in, d_out, d_soft);
    EXPECT_TRUE(same_bits(d_hard[kScoresIn], d_soft[kScoresIn])) << keys;
    EXPECT_EQ(regard::test::compare("hardmax", hard.forward<float>(in),
                                    hard.forward<double>(convert<double>(in)), 0.0),
              "");
  }
}

TEST(Normalizer, RowsSumToOneWhereTheyShould) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!n.normalizer.sums_to_one()) continue;
    for (const double size : {0.01, 1.0, 30.0}) {
      for (const Index keys : {1, 17, 53, 1000}) {
        const NormalizerCase op(n.normalizer, 19, keys, mixed_rows(19, keys, 8));
        const std::vector<float> w =
            op.forward<float>(convert<float>(op.inputs(16, size)))[kWeightsOut];
        for (Index r = 0; r < 19; ++r) {
          double sum = 0.0;
          bool any = false;
          for (Index j = 0; j < keys; ++j) {
            sum += static_cast<double>(w[static_cast<std::size_t>(r * keys + j)]);
            any = any || op.is_live(r, j);
          }
          EXPECT_NEAR(sum, any ? 1.0 : 0.0, 1e-5) << n.name << " " << keys << " row " << r;
        }
      }
    }
  }
}

TEST(Normalizer, SoftmaxWithoutMaskHasTheBitsOfTheBlockKernel) {
  const Index rows = 5, keys = 53, stride = 64;
  const Normalizer n = make(NormalizerKind::kSoftmax);
  std::vector<float> own = random_floats(rows * stride, 17, -3.0, 3.0), kernel = own;
  std::vector<float> own_sums(rows), kernel_sums(rows);
  std::vector<float> scratch(static_cast<std::size_t>(normalizer_scratch(n, rows, keys)));
  NormalizerRows block;
  block.live = {nullptr, 0, rows, keys};
  block.stride = stride;
  normalize_forward(n, block, own.data(), own_sums.data(), nullptr, scratch.data());
  softmax_forward({kernel.data(), stride, rows, keys}, kernel_sums.data());
  EXPECT_TRUE(same_bits(own, kernel));
  EXPECT_TRUE(same_bits(own_sums, kernel_sums));
  std::vector<float> d = random_floats(rows * stride, 18), d_kernel = d, sums(rows);
  NormalizerGradients g;
  g.d_scores = d.data();
  g.weights = own.data();
  normalize_backward(n, block, g, scratch.data());
  softmax_backward({d_kernel.data(), stride, rows, keys}, kernel.data(), nullptr, sums.data());
  EXPECT_TRUE(same_bits(d, d_kernel));
}

TEST(Normalizer, LogSumExpIsThatOfLiveKeysAndOfTheWindow) {
  for (const Normalizer& n :
       {make(NormalizerKind::kSoftmax, 0.7f), make(NormalizerKind::kLocal, 0.7f, 4)}) {
    const NormalizerCase op(n, 9, 53, mixed_rows(9, 53, 9));
    const Buffers<double> in = op.inputs(19);
    const std::vector<float> got = op.log_sum_exp(convert<float>(in));
    for (Index r = 0; r < 9; ++r) {
      const auto i = static_cast<std::size_t>(r);
      double sum = 0.0;
      for (Index j = 0; j < 53; ++j) {
        const bool inside = n.kind == NormalizerKind::kSoftmax ||
                            std::fabs(static_cast<double>(j) - in[kCenterIn][i]) <= 4.0;
        const double e = in[kScoresIn][static_cast<std::size_t>(r * 53 + j)];
        if (inside && op.is_live(r, j)) sum += std::exp(e / static_cast<double>(0.7f));
      }
      if (sum == 0.0) {
        EXPECT_EQ(got[i], -kInfinity);
      } else {
        EXPECT_NEAR(got[i], std::log(sum), 1e-5);
      }
    }
  }
}

TEST(Normalizer, AMaskedRowHasTheBitsOfItsLiveKeysAlone) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (n.normalizer.stateful() || n.normalizer.kind == NormalizerKind::kLocal) continue;
    const Index keys = 150;
    const LiveRows live = mixed_rows(8, keys, 21);
    const NormalizerCase masked(n.normalizer, 8, keys, live);
    const Buffers<float> in = convert<float>(masked.inputs(22));
    const std::vector<float> w = masked.forward<float>(in)[kWeightsOut];
    for (Index r = 0; r < 8; ++r) {
      std::vector<float> alone, got;
      for (Index j = 0; j < keys; ++j) {
        if (!masked.is_live(r, j)) continue;
        alone.push_back(in[kScoresIn][static_cast<std::size_t>(r * keys + j)]);
        got.push_back(w[static_cast<std::size_t>(r * keys + j)]);
      }
      if (!alone.empty()) {
        EXPECT_TRUE(same_bits(got, weights_of(n.normalizer, alone))) << n.name << " row " << r;
      }
    }
  }
}

TEST(Normalizer, NoRowDependsOnItsNeighbours) {
  for (const NamedNormalizer& n : all_normalizers()) {
    const Index keys = 150;
    const NormalizerCase all(n.normalizer, 16, keys), one(n.normalizer, 1, keys);
    Buffers<float> in = convert<float>(all.inputs(23));
    for (Index j = 0; j < keys; ++j) in[kScoresIn][static_cast<std::size_t>(j)] *= 0.01f;
    const std::vector<float> w = all.forward<float>(in)[kWeightsOut];
    for (Index r = 0; r < 16; ++r) {
      Buffers<float> own = in;
      for (const auto b : {kScoresIn, kStateIn, kChunksIn}) {
        if (in[b].empty()) continue;
        own[b].assign(in[b].begin() + r * keys, in[b].begin() + (r + 1) * keys);
      }
      if (!in[kCenterIn].empty()) own[kCenterIn] = {in[kCenterIn][static_cast<std::size_t>(r)]};
      const std::vector<float> alone = one.forward<float>(own)[kWeightsOut];
      const std::vector<float> row(w.begin() + r * keys, w.begin() + (r + 1) * keys);
      EXPECT_TRUE(same_bits(row, alone)) << n.name << " row " << r;
    }
  }
}

TEST(Normalizer, OneLiveKeyHasWeightOneAndNoGradient) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!n.normalizer.sums_to_one()) continue;
    for (const Index keys : {1, 40}) {
      for (const float score : {0.0f, -7.3f, 1e30f, -1e30f}) {
        LiveRows live(1, std::vector<bool>(static_cast<std::size_t>(keys), false));
        live[0].back() = true;
        const NormalizerCase op(n.normalizer, 1, keys, live);
        Buffers<float> in = convert<float>(op.inputs(24));
        in[kScoresIn].back() = score;
        EXPECT_EQ(op.forward<float>(in)[kWeightsOut].back(), 1.0f) << n.name;
        Buffers<float> d_out(kNormalizerOutputs), d_in(kNormalizerInputs);
        d_out[kWeightsOut] = random_floats(keys, 25);
        d_in[kScoresIn].assign(static_cast<std::size_t>(keys), 0.0f);
        if (!in[kAlphaIn].empty()) d_in[kAlphaIn] = {0.0f};
        op.backward<float>(in, d_out, d_in);
        EXPECT_EQ(d_in[kScoresIn].back(), 0.0f) << n.name;
        if (!in[kAlphaIn].empty()) {
          EXPECT_EQ(d_in[kAlphaIn][0], 0.0f) << n.name;
        }
      }
    }
  }
}

TEST(Normalizer, ARowWithoutLiveKeysIsZeroForwardAndBackward) {
  for (const NamedNormalizer& n : all_normalizers()) {
    for (const Index keys : {1, 53}) {
      const LiveRows live(2, std::vector<bool>(static_cast<std::size_t>(keys), false));
      const NormalizerCase op(n.normalizer, 2, keys, live);
      const Buffers<float> in = convert<float>(op.inputs(26));
      const auto zeros = std::vector<float>(static_cast<std::size_t>(2 * keys), 0.0f);
      const Buffers<float> out = op.forward<float>(in);
      EXPECT_EQ(out[kWeightsOut], zeros) << n.name;
      if (n.normalizer.stateful()) {
        EXPECT_EQ(out[kNextOut], zeros) << n.name;
      }
      Buffers<float> d_in;
      for (const auto& b : in) d_in.emplace_back(b.size(), 0.0f);
      Buffers<float> d_out = out;
      d_out[kWeightsOut] = random_floats(2 * keys, 27);
      op.backward<float>(in, d_out, d_in);
      for (const auto& b : d_in) EXPECT_EQ(b, std::vector<float>(b.size(), 0.0f)) << n.name;
      const bool has_sum = n.normalizer.kind == NormalizerKind::kSoftmax || !in[kCenterIn].empty();
      if (has_sum) {
        EXPECT_EQ(op.log_sum_exp(in), std::vector<float>(2, -kInfinity)) << n.name;
      }
    }
  }
}

TEST(Normalizer, NoKeysAtAllAreNoWork) {
  for (const NamedNormalizer& n : all_normalizers()) {
    NormalizerRows block;
    block.live = {nullptr, 0, 2, 0};
    std::vector<float> sums = {1.0f, 1.0f}, d_alpha = {kNan, kNan};
    const Index scratch = normalizer_scratch(n.normalizer, 2, 0);
    std::vector<float> memory(static_cast<std::size_t>(scratch));
    normalize_forward(n.normalizer, block, nullptr, sums.data(), nullptr, memory.data());
    EXPECT_EQ(sums, std::vector<float>(2, -kInfinity)) << n.name;
    NormalizerGradients g;
    g.d_alpha = d_alpha.data();
    normalize_backward(n.normalizer, block, g, memory.data());
    EXPECT_EQ(d_alpha, std::vector<float>(2, 0.0f)) << n.name;
  }
}

TEST(Normalizer, NanInALiveScoreMakesTheRowNan) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!n.normalizer.sums_to_one()) continue;
    for (const Index keys : {1, 17, 53, 150}) {
      for (Index at = 0; at < keys; at += keys / 3 + 1) {
        std::vector<float> scores = random_floats(keys, 28, -3.0, 3.0);
        scores[static_cast<std::size_t>(at)] = kNan;
        for (const float w : weights_of(n.normalizer, scores)) {
          EXPECT_TRUE(std::isnan(w)) << n.name << " " << keys << " NaN at " << at;
        }
      }
    }
  }
}

TEST(Normalizer, InfiniteLiveScoresAreThoseOfSoftmax) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!n.normalizer.sums_to_one()) continue;
    for (const Index keys : {3, 17, 150}) {
      std::vector<float> scores = random_floats(keys, 29);
      scores[1] = -kInfinity;
      const std::vector<float> w = weights_of(n.normalizer, scores);
      EXPECT_EQ(w[1], 0.0f) << n.name;
      double sum = 0.0;
      for (const float x : w) sum += static_cast<double>(x);
      EXPECT_NEAR(sum, 1.0, 1e-5) << n.name;
      for (const float x : weights_of(n.normalizer, std::vector<float>(scores.size(), -kInfinity)))
        EXPECT_TRUE(std::isnan(x)) << n.name;
      scores[1] = kInfinity;
      EXPECT_TRUE(std::isnan(weights_of(n.normalizer, scores)[1])) << n.name;
    }
  }
}

TEST(Normalizer, NanInStatefulKindsReachesWhatComesAfterIt) {
  for (const Normalizer& n :
       {make(NormalizerKind::kMonotonic), make(NormalizerKind::kMocha, 1, 3)}) {
    const NormalizerCase op(n, 1, 40);
    Buffers<float> in = convert<float>(op.inputs(30));
    in[kScoresIn][20] = kNan;
    const std::vector<float> w = op.forward<float>(in)[kWeightsOut];
    EXPECT_FALSE(std::isnan(w[10]));
    for (std::size_t j = 20; j < 40; ++j) EXPECT_TRUE(std::isnan(w[j])) << j;
  }
  std::vector<float> scores = random_floats(40, 31);
  scores[20] = kNan;
  const std::vector<float> w = weights_of(make(NormalizerKind::kSigmoid), scores);
  for (std::size_t j = 0; j < 40; ++j) EXPECT_EQ(std::isnan(w[j]), j == 20) << j;
}

TEST(Normalizer, NanBackwardStaysInItsRow) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!n.normalizer.sums_to_one()) continue;
    const NormalizerCase op(n.normalizer, 3, 40);
    Buffers<float> in = convert<float>(op.inputs(32)), d_out(kNormalizerOutputs);
    Buffers<float> d_in(kNormalizerInputs), clean(kNormalizerInputs);
    d_out[kWeightsOut] = random_floats(120, 33);
    for (Buffers<float>* d : {&d_in, &clean}) {
      (*d)[kScoresIn].assign(120, 0.0f);
      (*d)[kAlphaIn].assign(in[kAlphaIn].size(), 0.0f);
    }
    op.backward<float>(in, d_out, clean);
    in[kScoresIn][50] = kNan;
    op.backward<float>(in, d_out, d_in);
    const bool no_gradient =
        n.normalizer.kind == NormalizerKind::kHardmax && !n.normalizer.straight_through;
    for (std::size_t i = 0; i < 120; ++i) {
      if (i / 40 != 1) {
        EXPECT_EQ(d_in[kScoresIn][i], clean[kScoresIn][i]) << n.name;
      }
      if (i / 40 == 1 && !no_gradient) {
        EXPECT_TRUE(std::isnan(d_in[kScoresIn][i])) << n.name;
      }
    }
  }
}

TEST(Normalizer, HugeScoresStayFinite) {
  for (const NamedNormalizer& n : all_normalizers()) {
    for (const double size : {1e30, 3e38}) {
      if (size > 1e37 && n.normalizer.temperature < 1.0f) continue;
      const NormalizerCase op(n.normalizer, 4, 53);
      const Buffers<double> in = op.inputs(34, size);
      const Buffers<float> floats = convert<float>(in);
      const Buffers<float> out = op.forward<float>(floats);
      EXPECT_EQ(regard::test::compare(n.name, out, op.forward<double>(in), 1e-5), "");
      Buffers<float> d_in, d_out;
      for (const auto& b : floats) d_in.emplace_back(b.size(), 0.0f);
      for (const auto& b : out) {
        d_out.push_back(random_floats(static_cast<Index>(b.size()), 35 + d_out.size()));
      }
      op.backward<float>(floats, d_out, d_in);
      for (const auto& b : d_in) {
        for (const float x : b) EXPECT_TRUE(std::isfinite(x)) << n.name << " " << size;
      }
    }
  }
}

TEST(Normalizer, TiesShareAlikeAndHardmaxTakesTheFirst) {
  for (const NamedNormalizer& n : all_normalizers()) {
    if (!n.normalizer.sums_to_one()) continue;
    for (const Index ties : {2, 3, 100}) {
      std::vector<float> scores(static_cast<std::size_t>(ties + 7), -1e4f);
      for (Index j = 3; j < ties + 3; ++j) scores[static_cast<std::size_t>(j)] = 0.25f;
      const std::vector<float> w = weights_of(n.normalizer, scores);
      const bool hard = n.normalizer.kind == NormalizerKind::kHardmax;
      for (Index j = 0; j < ties + 7; ++j) {
        const bool tied = j >= 3 && j < ties + 3;
        const float want =
            hard ? (j == 3 ? 1.0f : 0.0f) : (tied ? 1.0f / static_cast<float>(ties) : 0.0f);
        EXPECT_NEAR(w[static_cast<std::size_t>(j)], want, 4e-6f * want) << n.name << " " << ties;
        EXPECT_EQ(w[static_cast<std::size_t>(j)], tied && !hard ? w[3] : want) << n.name;
      }
    }
  }
}

TEST(Normalizer, LocalOutsideTheSentenceOrWithoutLiveKeysInTheWindowIsZero) {
  const Normalizer n = make(NormalizerKind::kLocal, 1.0f, 2);
  LiveRows live(5, std::vector<bool>(20, true));
  for (std::size_t j = 8; j <= 12; ++j) live[1][j] = false;
  const NormalizerCase op(n, 5, 20, live);
  Buffers<float> in = convert<float>(op.inputs(36));
  in[kCenterIn] = {-2.5f, 10.0f, 1e30f, kNan, 21.0f};
  const std::vector<float> w = op.forward<float>(in)[kWeightsOut];
  for (std::size_t i = 0; i < 100; ++i) {
    if (i / 20 == 3) {
      EXPECT_TRUE(std::isnan(w[i]));
    } else if (i != 99) {  // 19 is within 2 of 21
      EXPECT_EQ(w[i], 0.0f) << i;
    }
  }
  EXPECT_NEAR(w[99], std::exp(-2.0f), 1e-6f);
}

TEST(Normalizer, BitsAreTheSameOnEachInstructionSetForHugeFlatAndTiedRows) {
  for (const NamedNormalizer& n : all_normalizers()) {
    for (const double size : {1e-3, 0.3, 8.0, 1e30}) {
      const NormalizerCase op(n.normalizer, 19, 150, mixed_rows(19, 150, 10));
      Buffers<float> in = convert<float>(op.inputs(37, size));
      for (std::size_t i = 0; i < in[kScoresIn].size(); i += 3) in[kScoresIn][i] = in[kScoresIn][0];
      expect_same_bits_on_each_isa([&] {
        Buffers<float> all = op.forward<float>(in), d_in;
        Buffers<float> d_out;
        for (const auto& b : all) {
          d_out.push_back(random_floats(static_cast<Index>(b.size()), 38 + d_out.size()));
        }
        for (const auto& b : in) d_in.emplace_back(b.size(), 0.5f);
        op.backward<float>(in, d_out, d_in);
        std::vector<float> flat;
        all.insert(all.end(), d_in.begin(), d_in.end());
        for (const auto& b : all) flat.insert(flat.end(), b.begin(), b.end());
        return flat;
      });
    }
  }
}

void expect_refused(const Normalizer& n, const std::string& part) {
  try {
    check_normalizer("caller", n);
    FAIL() << "nothing was thrown for " << part;
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("caller: " + part), std::string::npos) << what;
  }
}

TEST(Normalizer, NumbersOutOfRangeAreNamed) {
  for (const float temperature : {0.0f, -1.0f, kNan, kInfinity, 1e-45f}) {
    expect_refused(make(NormalizerKind::kSoftmax, temperature), "temperature: wanted");
  }
  for (const float alpha : {1.0f, 0.5f, 16.5f, kNan}) {
    expect_refused(make_entmax(alpha), "alpha: wanted more than 1");
  }
  expect_refused(make(NormalizerKind::kMocha), "window: wanted 1 or more, got 0");
  expect_refused(make(NormalizerKind::kLocal, 1.0f, -3), "window: wanted 1 or more, got -3");
  for (const NamedNormalizer& n : all_normalizers()) {
    EXPECT_NO_THROW(check_normalizer("caller", n.normalizer)) << n.name;
  }
}

// Forward of one case, backward of another.
struct Broken {
  const NormalizerCase& forwards;
  const NormalizerCase& backwards;
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    return forwards.forward<T>(in);
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    backwards.backward<T>(in, d_out, d_in);
  }
};

TEST(Normalizer, AWrongGradientIsFound) {
  // The gradient of softmax for a case of another temperature: the check has to see it.
  const NormalizerCase right(make(NormalizerKind::kSoftmax, 1.0f), 2, 17);
  const NormalizerCase wrong(make(NormalizerKind::kSoftmax, 1.01f), 2, 17);
  const Broken broken = {right, wrong};
  EXPECT_NE(check_op(broken, right.inputs(39)), "");
}

}  // namespace
}  // namespace regard::attention::test
