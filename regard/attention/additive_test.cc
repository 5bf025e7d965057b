// The additive kernel's own promises: accuracy, the choice between its forms, saturation.
#include "regard/attention/additive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "regard/attention/attention.h"
#include "regard/attention/case_test_util.h"

namespace regard::attention {
namespace {

using regard::test::convert;
using regard::test::random_floats;
using test::Buffers;
using test::Case;
using test::Shape;

Shape shape(Index length, Index rows, Index width) {
  Shape s;
  s.lengths = {length};
  s.key_row.assign(static_cast<std::size_t>(rows), 0);
  s.width = width;
  s.value_width = 4;
  s.gap = 0;
  return s;
}

// Standard normal, by the sum of twelve.
std::vector<float> normal(Index n, std::uint64_t key, float deviation) {
  std::vector<float> x(static_cast<std::size_t>(n), -6.0f * deviation);
  for (std::uint64_t k = 0; k < 12; ++k) {
    const std::vector<float> u = random_floats(n, 100 * key + k, 0.0, 1.0);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += deviation * u[i];
  }
  return x;
}

struct ScoreErrors {
  double ours = 0.0;   // largest error of a score
  double plain = 0.0;  // the same of a float loop with the exact tanh
};

ScoreErrors score_errors(Index width, float deviation) {
  const Case c(shape(40, 25, width));
  const Buffers<float> in = {normal(25 * width, 1, deviation),
                             normal(40 * width, 2, deviation),
                             random_floats(40 * 4, 3),
                             normal(width, 4, 1.0f),
                             {}};
  const std::vector<float> got = c.run_forward(in)[test::kRawScores];
  const std::vector<double> want = c.run_forward(convert<double>(in))[test::kRawScores];
  ScoreErrors errors;
  const auto w = static_cast<std::size_t>(width);
  for (std::size_t i = 0; i < 25; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      float plain = 0.0f;
      for (std::size_t a = 0; a < w; ++a) {
        plain +=
            in[test::kV][a] * std::tanh(in[test::kQuery][i * w + a] + in[test::kKeys][j * w + a]);
      }
      const double exact = want[i * 41 + j];
      errors.ours = std::max(errors.ours, std::fabs(got[i * 41 + j] - exact));
      errors.plain = std::max(errors.plain, std::fabs(plain - exact));
    }
  }
  return errors;
}

TEST(AdditiveScore, IsNoLessAccurateThanAPlainLoopWithTheExactTanh) {
  for (const Index width : {256, 512}) {
    for (const float deviation : {0.5f, 1.0f, 3.0f}) {
      const ScoreErrors errors = score_errors(width, deviation);
      EXPECT_LE(errors.ours, errors.plain) << "A = " << width << ", deviation " << deviation;
      EXPECT_GT(errors.ours, 0.0);
    }
  }
}

RowExtrema extrema_of(const std::vector<float>& x) {
  std::vector<float> y(static_cast<std::size_t>(padded_dims(static_cast<Index>(x.size()))));
  return exponentiate_row(x.data(), static_cast<Index>(x.size()), static_cast<Index>(y.size()),
                          y.data(), 16);
}

TEST(ExponentiateRow, GivesTheSquaredExponentialsZerosBeyondAndTheExtrema) {
  regard::test::on_each_isa([] {
    for (const Index width : {1, 16, 37, 64, 70}) {
      const std::vector<float> x = random_floats(width, 5, -43.0, 43.0);
      const Index padded = padded_dims(width);
      std::vector<float> y(static_cast<std::size_t>(padded / 16 * 24), 7.0f);
      const RowExtrema got = exponentiate_row(x.data(), width, padded, y.data(), 24);
      float magnitude = 0.0f;
      for (Index a = 0; a < padded; ++a) {
        const float e = y[static_cast<std::size_t>(a / 16 * 24 + a % 16)];
        if (a >= width) {
          EXPECT_EQ(e, 0.0f);
          continue;
        }
        const float value = x[static_cast<std::size_t>(a)];
        const double want = std::exp(2.0 * value);
        EXPECT_NEAR(e / want, 1.0, 2.5e-7) << value;
        EXPECT_LE(value, got.largest);
        magnitude = std::max(magnitude, std::fabs(value));
      }
      EXPECT_EQ(got.magnitude, magnitude);
      EXPECT_TRUE(got.in_range);
      EXPECT_EQ(y[16], 7.0f) << "between the chunks";
    }
  });
}

TEST(ExponentiateRow, FindsEveryValueOutOfRange) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::size_t at : {0u, 15u, 16u, 36u}) {
    for (const float bad : {43.01f, -43.01f, infinity, -infinity, std::nanf("")}) {
      std::vector<float> x(37, 1.0f);
      x[at] = bad;
      EXPECT_FALSE(extrema_of(x).in_range) << bad << " at " << at;
    }
  }
  EXPECT_TRUE(extrema_of({43.0f, -43.0f}).in_range);
}

AdditiveForm forward_of(float query, float key, bool v_in_range = true) {
  AdditiveKeys keys;
  keys.v_in_range = v_in_range;
  keys.extrema = extrema_of({key, 0.0f});
  return forward_form(keys, extrema_of({query, 0.0f}));
}

TEST(AdditiveForm, IsChosenFromTheRowAndItsSentenceAlone) {
  EXPECT_EQ(forward_of(1.0f, 2.0f), AdditiveForm::kFactored);
  EXPECT_EQ(forward_of(-42.9f, 10.0f), AdditiveForm::kFactored);
  EXPECT_EQ(forward_of(8.0f, 3.0f), AdditiveForm::kClamped);
  EXPECT_EQ(forward_of(42.9f, 42.9f), AdditiveForm::kClamped);
  EXPECT_EQ(forward_of(43.1f, 0.0f), AdditiveForm::kDirect);
  EXPECT_EQ(forward_of(0.0f, -43.1f), AdditiveForm::kDirect);
  EXPECT_EQ(forward_of(1.0f, 2.0f, false), AdditiveForm::kDirect);
}

// Scores on both sides of each switch agree with the reference equally well.
TEST(AdditiveForm, SwitchesWithoutAStep) {
  const Case c(shape(6, 1, 48));
  const Buffers<float> base = convert<float>(c.inputs(3));
  for (const float edge : {5.2f, 9.4f, 12.0f, 42.98f, 43.02f, 60.0f}) {
    for (const float sign : {1.0f, -1.0f}) {
      Buffers<float> in = base;
      in[test::kQuery][7] = sign * edge;
      in[test::kKeys][2 * 48 + 7] = -sign * edge + 0.3f;
      in[test::kKeys][3 * 48 + 9] = edge;
      const Buffers<float> got = c.run_forward(in);
      const Buffers<double> want = c.run_forward(convert<double>(in));
      for (std::size_t j = 0; j < 6; ++j) {
        EXPECT_NEAR(got[test::kRawScores][j], want[test::kRawScores][j], 3e-6) << edge;
      }
    }
  }
}

// Where the clamp changes nothing, code with and without it gives the same bits: another key of the
// sentence may ask for it.
TEST(AdditiveForm, ClampedAndUnclampedCodeAgreeToTheBit) {
  const Case c(shape(6, 3, 80));
  Buffers<float> in = convert<float>(c.inputs(4));
  const std::vector<float> plain = c.run_forward(in)[test::kRawScores];
  std::fill_n(in[test::kKeys].begin() + 5 * 80, 80, 10.3f);
  const std::vector<float> clamped = c.run_forward(in)[test::kRawScores];
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(plain[i * 7 + j], clamped[i * 7 + j]);
    EXPECT_NE(plain[i * 7 + 5], clamped[i * 7 + 5]);
  }
}

// The derivative keeps its relative accuracy where tanh is -1 and stops at 2^-28 where it is 1.
TEST(AdditiveGradient, AtSaturation) {
  const Case c(shape(2, 1, 1));
  for (const float z : {-40.0f, -20.0f, -11.0f, -5.0f, 5.0f, 9.0f, 11.0f, 20.0f, 40.0f}) {
    for (const float query : {0.5f, 15.0f, -30.0f, 50.0f}) {
      const Buffers<float> in = {{query}, {z - query, -query}, random_floats(8, 3), {1.0f}, {}};
      Buffers<float> d = {{0.0f}, {0.0f, 0.0f}, std::vector<float>(8), {0.0f}, {}};
      c.run_backward(in, {{0.0f, 0.0f, 0.0f, 0.0f}, {4.0f, 0.0f, 0.0f}}, d);
      const double w = c.run_forward(convert<double>(in))[test::kWeights][0];
      const double sum = static_cast<double>(in[test::kQuery][0]) + in[test::kKeys][0];
      const double slope = 1.0 / std::pow(std::cosh(sum), 2.0);
      const double want = 4.0 * w * (1.0 - w) * slope;
      const bool factored = query != 50.0f && std::fabs(z - query) <= 43.0f;
      const double floor = factored && z > 0.0f ? 4e-9 : 1e-37;
      EXPECT_NEAR(d[test::kKeys][0], want, 2e-5 * want + floor) << "z " << z << " q " << query;
    }
  }
}

}  // namespace
}  // namespace regard::attention
