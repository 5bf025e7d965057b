// Sentences of several tiles of keys and words of mask bits, saturated additive rows, gradients of
// single outputs, and a backward that is wrong: the library against the reference in double.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "regard/attention/axes_check_test_util.h"

namespace regard::attention {
namespace {

using test::AxesCase;
using test::Choice;
using test::Layout;
using test::Numbers;

// 300 keys are three tiles of the streaming path and five words of bits; 129 just begin a second.
Layout long_sentences() {
  Layout l;
  l.length = {300, 0, 129};
  l.start = {1, 301, 302};
  l.key_rows = 432;
  l.query_length = {2, 1, 3};
  l.columns = 301;
  return l;
}

Choice choice(int score, int normalizer, int mask) {
  Choice c;
  c.member[test::kScore] = score;
  c.member[test::kNormalizer] = normalizer;
  c.member[test::kMask] = mask;
  return c;
}

// Outputs against the reference, and gradients of some elements of each input against its central
// differences.
struct Tolerances {
  double outputs = 2e-5;
  double gradients = 1e-3;
  float size = 1.0f;  // of what comes back to the outputs: weights of many keys are small
};
void check(const AxesCase& c, const Tolerances& t) {
  SCOPED_TRACE(test::name_of(c.choice()));
  const Numbers<float> in = c.floats(), out = c.forward(in);
  EXPECT_EQ(test::wrong_outputs(c, out, t.outputs), "");
  Numbers<float> d = test::random_output_gradients(c, 5);
  test::forget_rows_without_keys(c, out, d);
  for (auto& x : d) {
    for (float& y : x) y *= t.size;
  }
  EXPECT_EQ(test::wrong_gradients(c, d, test::gradients(c, in, d), 7, t.gradients), "");
}

TEST(AxesOfLongSentences, ProductsUnderSoftmaxAgreeWithTheReferenceUnderEveryMask) {
  for (const int score : {0, 1}) {
    for (int mask = 0; mask < test::members_of(test::kMask); ++mask) {
      for (int turn = 0; turn < 4; ++turn) {
        Choice c = choice(score, turn == 3, mask);  // the last at another temperature
        c.member[test::kBias] = (2 * mask + turn + score) % test::members_of(test::kBias);
        c.member[test::kCap] = turn % 2;
        c.member[test::kDropout] = turn >= 2;
        c.member[test::kHeads] = mask % 2;
        Layout l = long_sentences();
        l.square = mask == 4;
        if (l.square) l.query_length = l.length;
        check(AxesCase(c, 1, l), {2e-5, 1e-4, 30.0f});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(AxesOfLongSentences, EveryScoreAndNormaliserAgreesWithTheReference) {
  for (int score = 0; score < test::members_of(test::kScore); ++score) {
    for (int normalizer = 0; normalizer < test::members_of(test::kNormalizer); ++normalizer) {
      if ((score == 8 && normalizer == 8) || (score == 9 && normalizer >= 7 && normalizer < 9)) {
        continue;
      }
      Choice c = choice(score, normalizer, (score + normalizer) % 10);
      if (c[test::kMask] == 4) c.member[test::kMask] = 0;
      c.member[test::kBias] = (score + 2 * normalizer) % test::members_of(test::kBias);
      c.member[test::kDropout] = normalizer % 2;
      c.member[test::kState] = score % 2;
      check(AxesCase(c, 1, long_sentences()), {2e-5, 1e-4, 30.0f});
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Which keys of a row are dropped is a matter of the row, its position and the key alone.
TEST(AxesOfLongSentences, TheDropoutMaskIsTheSameHoweverTheCallIsCut) {
  for (const int normalizer : {0, 2}) {
    Choice c = choice(1, normalizer, 5 * normalizer / 2);
    c.member[test::kDropout] = 1;
    c.member[test::kHeads] = 1;
    const AxesCase all(c, 1, long_sentences());
    const Numbers<float> out = all.forward(all.floats());
    EXPECT_EQ(test::wrong_outputs(all, out), "");
    Threads threads(3);
    EXPECT_EQ(test::other_outputs(out, all.forward(all.floats(), &threads)), "");
    for (const std::vector<Index>& which :
         std::vector<std::vector<Index>>{{6, 2, 0}, {5}, {4, 1}, {3}}) {
      const AxesCase some = all.pick(which);
      const Numbers<float> got = some.forward(some.floats());
      EXPECT_EQ(test::other_bits(all.pick_rows(out[test::kContext], which), got[test::kContext],
                                 "context"),
                "");
    }
  }
}

// Around the two switches of the additive form, of queries, keys and both.
TEST(SaturatedAdditiveRows, AgreeWithTheReferenceOnBothSidesOfEachSwitch) {
  for (const int score : {2, 3, 5}) {
    for (const double size : {11.9, 12.1, 42.9, 43.1, 80.0}) {
      for (const int where : {test::kQuery, test::kKeys}) {
        for (const int mask : {0, 2, 7}) {
          AxesCase c(choice(score, mask == 2 ? 2 : 0, mask));
          const Index columns = c.extent(where).cols;
          // Two rows, one of each sign and one of both, the others as they are.
          for (const Index row : {2, 4}) {
            for (Index n = 0; n < columns; ++n) {
              const bool negative = row == 4 && n % 2 == 0;
              c.inputs()[static_cast<std::size_t>(where)]
                        [static_cast<std::size_t>(row * columns + n)] =
                  static_cast<double>(static_cast<float>(negative ? -size : size));
            }
          }
          SCOPED_TRACE(std::string(test::input_name(where)) + " of " + std::to_string(size));
          check(c, {4e-5, 1e-3, 1.0f});
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// Each output by itself, so that no other hides what is missing.
TEST(AxesGradients, OfEachOutputAloneAgreeWithCentralDifferences) {
  for (int score = 0; score < test::members_of(test::kScore); ++score) {
    for (const int normalizer : {0, 1, 6, 7, 8}) {
      if ((score == 8 && normalizer == 8) || (score == 9 && normalizer >= 7)) continue;
      Choice choices = choice(score, normalizer, score % 3);
      choices.member[test::kState] = 1;
      const AxesCase c(choices);
      const Numbers<float> in = c.floats(), out = c.forward(in);
      for (const int only : {test::kContext, test::kWeights, test::kNext, test::kLse}) {
        Numbers<float> d = test::random_output_gradients(c, 5);
        test::forget_rows_without_keys(c, out, d);
        for (int o = 0; o < test::kAsked; ++o) {
          auto& x = d[static_cast<std::size_t>(o)];
          if (o != only) std::fill(x.begin(), x.end(), 0.0f);
        }
        EXPECT_EQ(test::wrong_gradients(c, d, test::gradients(c, in, d)), "")
            << test::name_of(choices) << ": of " << test::output_name(only) << " alone";
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

// One per cent too much in any one gradient is seen.
TEST(AxesGradients, AWrongOneIsFound) {
  int seen = 0;
  for (int score = 0; score < test::members_of(test::kScore); ++score) {
    for (const int bias : {1, 6, 7}) {
      Choice choices = choice(score, score == 2 ? 4 : score == 0 ? 9 : score == 4 ? 8 : 0, 0);
      choices.member[test::kBias] = bias;
      choices.member[test::kState] = 1;
      const AxesCase c(choices);
      const Numbers<float> in = c.floats();
      Numbers<float> d = test::random_output_gradients(c, 5);
      test::forget_rows_without_keys(c, c.forward(in), d);
      const Numbers<float> right = test::gradients(c, in, d);
      ASSERT_EQ(test::wrong_gradients(c, d, right), "") << test::name_of(choices);
      for (std::size_t i = 0; i < right.size(); ++i) {
        double largest = 0.0;
        for (const float x : right[i])
          largest = std::max(largest, std::fabs(static_cast<double>(x)));
        if (largest < 0.2) continue;  // one per cent of it is within the tolerance
        Numbers<float> wrong = right;
        for (float& x : wrong[i]) x *= 1.01f;
        EXPECT_NE(test::wrong_gradients(c, d, wrong), "")
            << test::name_of(choices) << ": " << test::input_name(static_cast<int>(i));
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 80);
}

}  // namespace
}  // namespace regard::attention
