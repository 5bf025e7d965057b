// What attention does in the cases that users are hurt by, for every score: one test each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "regard/attention/attention.h"
#include "regard/attention/case_test_util.h"

namespace regard::attention {
namespace {

using regard::test::convert;
using test::Buffers;
using test::Case;
using test::kAllScores;
using test::Shape;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

class Semantics : public testing::TestWithParam<ScoreKind> {
 protected:
  static Shape shape(std::vector<Index> lengths, std::vector<Index> key_row) {
    Shape s;
    s.kind = GetParam();
    s.lengths = std::move(lengths);
    s.key_row = std::move(key_row);
    s.width = 20;
    s.query_width = 18;
    s.value_width = 21;
    return s;
  }
  // All gradients of the sum of the outputs times fixed weights, from `start`.
  static Buffers<float> gradients(const Case& c, const Buffers<float>& in, float start = 0.0f) {
    const Shape& s = c.shape();
    Buffers<float> d_in;
    for (const auto& b : in) d_in.emplace_back(b.size(), start);
    c.run_backward(in,
                   {regard::test::random_floats(s.rows() * s.value_width, 91),
                    regard::test::random_floats(s.rows() * (s.longest() + 1), 92)},
                   d_in);
    return d_in;
  }
  static bool all_finite(const Buffers<float>& buffers) {
    for (const auto& b : buffers) {
      for (const float x : b) {
        if (!std::isfinite(x)) return false;
      }
    }
    return true;
  }
};
INSTANTIATE_TEST_SUITE_P(Scores, Semantics, testing::ValuesIn(kAllScores),
                         [](const auto& info) { return test::name_of(info.param); });

TEST_P(Semantics, ASentenceWithoutKeysGivesZerosAndNoGradient) {
  const Case c(shape({0, 3}, {0, 0}));
  const Buffers<float> in = convert<float>(c.inputs());
  const Buffers<float> out = c.run_forward(in);
  for (int b : {test::kContext, test::kWeights, test::kRawScores}) {
    for (const float x : out[static_cast<std::size_t>(b)]) EXPECT_EQ(x, 0.0f);
  }
  for (const float x : out[test::kLogSumExp]) EXPECT_EQ(x, -kInfinity);
  for (const auto& b : gradients(c, in, 0.25f)) {
    for (const float x : b) EXPECT_EQ(x, 0.25f);
  }
}

TEST_P(Semantics, NoRowsOrNoSentencesIsANoOp) {
  const Case no_rows(shape({3, 1}, {}));
  const Buffers<float> in = convert<float>(no_rows.inputs());
  EXPECT_TRUE(no_rows.run_forward(in)[test::kContext].empty());
  for (const auto& b : gradients(no_rows, in, 0.25f)) {
    for (const float x : b) EXPECT_EQ(x, 0.25f);
  }
  const Case nothing(shape({}, {}));
  const Buffers<float> none = convert<float>(nothing.inputs());
  EXPECT_TRUE(nothing.run_forward(none)[test::kContext].empty());
  gradients(nothing, none);
}

TEST_P(Semantics, OneKeyHasWeightOneAndNoScoreGradient) {
  const Case c(shape({1, 2}, {0, 1, 0}));
  const Buffers<float> in = convert<float>(c.inputs());
  const Buffers<float> out = c.run_forward(in);
  EXPECT_EQ(out[test::kWeights][0], 1.0f);
  EXPECT_EQ(out[test::kWeights][2 * 3], 1.0f);
  for (std::size_t n = 0; n < 21; ++n) {
    EXPECT_EQ(out[test::kContext][n], in[test::kValues][n]);
  }
  const Case alone(shape({1}, {0, 0}));
  const Buffers<float> small = convert<float>(alone.inputs());
  const Buffers<float> d = gradients(alone, small, 0.25f);
  for (int b : {test::kQuery, test::kKeys, test::kV, test::kW}) {
    for (const float x : d[static_cast<std::size_t>(b)]) EXPECT_EQ(x, 0.25f);
  }
}

TEST_P(Semantics, WeightsSumToOneAndAreZeroBeyondALength) {
  const Case c(shape({40, 17, 16, 2}, {0, 1, 2, 3}));
  const Buffers<float> out = c.run_forward(convert<float>(c.inputs()));
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < 41; ++j) {
      const float w = out[test::kWeights][i * 41 + j];
      if (static_cast<Index>(j) >= c.shape().lengths[i]) {
        EXPECT_EQ(w, 0.0f);
        EXPECT_EQ(out[test::kRawScores][i * 41 + j], 0.0f);
      }
      sum += w;
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST_P(Semantics, RowsBeyondALengthAreNeitherReadNorWritten) {
  const Case c(shape({5, 17, 0}, {0, 1, 2, 1}));
  Buffers<float> clean = convert<float>(c.inputs());
  Buffers<float> dirty = clean;
  for (Index b = 0; b < 3; ++b) {
    for (Index j = c.shape().lengths[static_cast<std::size_t>(b)], row = c.start(b) + j;
         row < c.start(b) + c.shape().lengths[static_cast<std::size_t>(b)] + 2; ++row) {
      std::fill_n(dirty[test::kKeys].begin() + row * 20, 20, kNaN);
      std::fill_n(dirty[test::kValues].begin() + row * 21, 21, kInfinity);
    }
  }
  EXPECT_EQ(c.run_forward(clean), c.run_forward(dirty));
  const Buffers<float> d = gradients(c, dirty, 0.25f);
  EXPECT_EQ(gradients(c, clean, 0.25f), d);
  for (Index n = 0; n < 2 * 20; ++n) {
    EXPECT_EQ(d[test::kKeys][static_cast<std::size_t>((c.start(0) + 5) * 20 + n)], 0.25f);
  }
}

TEST_P(Semantics, NaNAndInfinityInLiveRowsPropagateToTheirOwnRowsAlone) {
  const Case c(shape({4, 4}, {0, 1, 1}));
  const Buffers<float> clean = convert<float>(c.inputs());
  const Buffers<float> want = c.run_forward(clean);
  for (const float bad : {kNaN, kInfinity}) {
    for (const int where : {test::kQuery, test::kKeys, test::kValues}) {
      Buffers<float> in = clean;
      // Row 1 of the queries, or a row of sentence 1, which rows 1 and 2 read.
      const Index width = where == test::kQuery  ? c.shape().query_cols()
                          : where == test::kKeys ? 20
                                                 : 21;
      const Index row = where == test::kQuery ? 1 : c.start(1) + 2;
      in[static_cast<std::size_t>(where)][static_cast<std::size_t>(row * width + 3)] = bad;
      const Buffers<float> got = c.run_forward(in);
      // As in plain arithmetic: tanh(inf) is 1, and a score of -inf has weight 0.
      const Buffers<double> plain = c.run_forward(convert<double>(in));
      for (std::size_t n = 0; n < got[test::kContext].size(); ++n) {
        EXPECT_EQ(std::isnan(got[test::kContext][n]), std::isnan(plain[test::kContext][n]));
        EXPECT_EQ(std::isinf(got[test::kContext][n]), std::isinf(plain[test::kContext][n]));
      }
      if (std::isnan(bad)) {
        EXPECT_TRUE(std::isnan(got[test::kContext][21 + 3]));
      }
      for (std::size_t n = 0; n < 21; ++n) {
        EXPECT_EQ(got[test::kContext][n], want[test::kContext][n]) << "a row of another sentence";
      }
    }
  }
  Buffers<float> in = clean;
  in[test::kKeys][static_cast<std::size_t>(c.start(1) * 20)] = kNaN;
  const Buffers<float> d = gradients(c, in);
  EXPECT_TRUE(std::isnan(d[test::kQuery][static_cast<std::size_t>(c.shape().query_cols())]));
  for (Index n = 0; n < c.shape().query_cols(); ++n) {
    EXPECT_TRUE(std::isfinite(d[test::kQuery][static_cast<std::size_t>(n)]));
  }
}

TEST_P(Semantics, HugeScoresStayFinite) {
  Shape s = shape({5}, {0, 0, 0});
  s.width = s.query_width = 1;
  const Case c(s);
  Buffers<float> in = convert<float>(c.inputs());
  // Scores of about +-1e37 and far apart.
  for (float& x : in[test::kQuery]) x *= 3e18f;
  for (float& x : in[test::kKeys]) x *= 3e18f;
  for (float& x : in[test::kV]) x *= 1e37f;
  const Buffers<float> out = c.run_forward(in);
  EXPECT_TRUE(all_finite(out));
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < 5; ++j) sum += out[test::kWeights][i * 6 + j];
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
  EXPECT_TRUE(all_finite(gradients(c, in)));
}

TEST_P(Semantics, ResultsDoNotDependOnStrides) {
  const Case c(shape({6}, {0, 0, 0}));
  const Buffers<float> in = convert<float>(c.inputs());
  const Buffers<float> strided = c.run_forward(in);
  Arena arena, workspace;
  const PreparedKeys keys =
      prepare_keys(c.score(in), {in[test::kKeys].data(), 8, 20}, c.rows(), arena);
  std::vector<float> context(3 * 21);
  attend_forward(keys, {in[test::kValues].data(), 8, 21},
                 {{in[test::kQuery].data(), 3, c.shape().query_cols()}, c.shape().key_row.data()},
                 {Matrix(context.data(), 3, 21), {}, {}, {}}, workspace);
  EXPECT_EQ(context, strided[test::kContext]);
}

TEST_P(Semantics, WhatIsAskedForChangesNoBitOfTheRest) {
  const Case c(shape({6, 19}, {0, 1, 1, 0}));
  const Buffers<float> in = convert<float>(c.inputs());
  const Buffers<float> all = c.run_forward(in);
  Arena arena, workspace;
  const PreparedKeys keys =
      prepare_keys(c.score(in), {in[test::kKeys].data(), 29, 20}, c.rows(), arena);
  const ConstMatrix values(in[test::kValues].data(), 29, 21);
  const QueryRows queries{{in[test::kQuery].data(), 4, c.shape().query_cols()},
                          c.shape().key_row.data()};
  std::vector<float> context(4 * 21), weights(4 * 20), lse(4), raw(4 * 20);
  const Matrix context_view(context.data(), 4, 21), weights_view(weights.data(), 4, 20);
  attend_forward(keys, values, queries, {context_view, {}, {}, {}}, workspace);
  EXPECT_EQ(context, all[test::kContext]);
  attend_forward(keys, values, queries, {{}, weights_view, {}, {}}, workspace);
  EXPECT_EQ(weights, all[test::kWeights]);
  attend_forward(keys, values, queries, {{}, {}, Vector(lse.data(), 4), {}}, workspace);
  EXPECT_EQ(lse, all[test::kLogSumExp]);
  attend_forward(keys, values, queries, {{}, {}, {}, Matrix(raw.data(), 4, 20)}, workspace);
  EXPECT_EQ(raw, all[test::kRawScores]);
}

// A row alone, and the same row among others, in another order, in another block.
TEST_P(Semantics, ARowNeverDependsOnItsNeighbours) {
  std::vector<Index> key_row;
  for (Index i = 0; i < 70; ++i) key_row.push_back(i * i % 3);
  const Case all(shape({9, 18, 3}, key_row));
  Buffers<float> in = convert<float>(all.inputs());
  const Index width = all.shape().query_cols();
  // Some additive rows need the clamp, some tanh itself.
  for (std::size_t n = 0; n < static_cast<std::size_t>(width); ++n) {
    in[test::kQuery][5 * static_cast<std::size_t>(width) + n] *= 25.0f;
    in[test::kQuery][9 * static_cast<std::size_t>(width) + n] *= 70.0f;
  }
  const Buffers<float> out = all.run_forward(in);
  const Buffers<float> d = gradients(all, in);
  for (const std::size_t i : {0u, 1u, 4u, 5u, 9u, 33u, 69u}) {
    Shape s = all.shape();
    s.key_row = {key_row[i]};
    const Case alone(s);
    Buffers<float> one = in;
    const auto part = [&](const std::vector<float>& x, Index cols) {
      const auto first = x.begin() + static_cast<Index>(i) * cols;
      return std::vector<float>(first, first + cols);
    };
    one[test::kQuery] = part(in[test::kQuery], width);
    const Buffers<float> got = alone.run_forward(one);
    EXPECT_EQ(got[test::kContext], part(out[test::kContext], 21)) << "row " << i;
    EXPECT_EQ(got[test::kWeights], part(out[test::kWeights], 19)) << "row " << i;
    EXPECT_EQ(got[test::kLogSumExp], part(out[test::kLogSumExp], 1)) << "row " << i;
    Buffers<float> d_one;
    for (const auto& b : one) d_one.emplace_back(b.size(), 0.0f);
    alone.run_backward(one,
                       {part(regard::test::random_floats(70 * 21, 91), 21),
                        part(regard::test::random_floats(70 * 19, 92), 19)},
                       d_one);
    EXPECT_EQ(d_one[test::kQuery], part(d[test::kQuery], width)) << "row " << i;
  }
}

TEST_P(Semantics, PermutedRowsGivePermutedResultsAndTheOrderWithinASentenceStays) {
  const Case c(shape({5, 3}, {0, 1, 0, 1}));
  const Buffers<float> in = convert<float>(c.inputs());
  const Buffers<float> out = c.run_forward(in);
  Shape s = c.shape();
  s.key_row = {1, 0, 1, 0};  // rows 1, 0, 3, 2
  const Case permuted(s);
  Buffers<float> moved = in;
  const auto width = static_cast<std::size_t>(c.shape().query_cols());
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t n = 0; n < width; ++n) {
      moved[test::kQuery][i * width + n] = in[test::kQuery][(i ^ 1u) * width + n];
    }
  }
  const Buffers<float> got = permuted.run_forward(moved);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t n = 0; n < 21; ++n) {
      EXPECT_EQ(got[test::kContext][i * 21 + n], out[test::kContext][(i ^ 1u) * 21 + n]);
    }
  }
}

// The sums over rows of a sentence do not see the other sentences of the batch either.
TEST_P(Semantics, KeyAndValueGradientsDoNotDependOnOtherSentences) {
  const Case both(shape({5, 7}, {0, 1, 0, 1, 1}));
  const Buffers<float> in = convert<float>(both.inputs());
  Buffers<float> d_both, d_one;
  for (const auto& b : in) d_both.emplace_back(b.size(), 0.0f);
  const std::vector<float> d_context = regard::test::random_floats(5 * 21, 1);
  both.run_backward(in, {d_context, std::vector<float>(5 * 8, 0.0f)}, d_both);
  Shape s = both.shape();
  s.lengths = {5};
  s.key_row = {0, 0};
  Buffers<float> one = in;
  const auto width = both.shape().query_cols();
  one[test::kKeys].resize(7 * 20);
  one[test::kValues].resize(7 * 21);
  std::copy_n(in[test::kQuery].begin() + 2 * width, width, one[test::kQuery].begin() + width);
  one[test::kQuery].resize(static_cast<std::size_t>(2 * width));
  std::vector<float> d_context_one(d_context.begin(), d_context.begin() + 21);
  d_context_one.insert(d_context_one.end(), d_context.begin() + 42, d_context.begin() + 63);
  for (const auto& b : one) d_one.emplace_back(b.size(), 0.0f);
  Case(s).run_backward(one, {d_context_one, std::vector<float>(2 * 6, 0.0f)}, d_one);
  d_both[test::kKeys].resize(7 * 20);
  d_both[test::kValues].resize(7 * 21);
  EXPECT_EQ(d_one[test::kKeys], d_both[test::kKeys]);
  EXPECT_EQ(d_one[test::kValues], d_both[test::kValues]);
}

TEST_P(Semantics, EveryInstructionSetGivesTheSameBits) {
  Shape s = shape({9, 33, 1}, {0, 1, 2, 1, 0, 1});
  s.width = 70;
  const Case c(s);
  for (const double size : {1.0, 8.0, 50.0}) {
    const Buffers<float> in = convert<float>(c.inputs(5, size));
    regard::test::expect_same_bits_on_each_isa([&] {
      std::vector<float> all;
      for (const auto& b : c.run_forward(in)) all.insert(all.end(), b.begin(), b.end());
      for (const auto& b : gradients(c, in)) all.insert(all.end(), b.begin(), b.end());
      return all;
    });
  }
}

}  // namespace
}  // namespace regard::attention
