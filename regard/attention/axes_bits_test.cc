// A row's bits come from the row and its sentence alone: neither the other rows of a call, nor what
// is asked for, threads, strides or instruction sets change one; for every score and normaliser.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "regard/attention/axes_check_test_util.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard::attention {
namespace {

using test::AxesCase;
using test::Choice;
using test::Layout;
using test::Numbers;

// Enough for several blocks of rows, tiles of keys and groups of sentences.
Layout large() {
  Layout l;
  l.length = {130, 0, 40, 17};
  l.start = {1, 131, 132, 175};
  l.key_rows = 193;
  l.query_length = {30, 1, 40, 60};
  l.key_row.clear();
  for (Index r = 0; r < 140; ++r) l.key_row.push_back(r * r % 7 % 4);
  l.columns = 133;
  l.width = 21;
  l.value_width = 18;
  return l;
}
Layout medium() {
  Layout l = large();
  l.length = {19, 0, 33, 16};
  l.key_row.resize(24);
  l.columns = 36;
  return l;
}

class AxesBits : public testing::TestWithParam<int> {
 protected:
  // fn(case) for every normaliser and two of the masks, the other axes in turn.
  template <class Fn>
  static void for_each_case(const Layout& layout, Fn fn) {
    for (int normalizer = 0; normalizer < test::members_of(test::kNormalizer); ++normalizer) {
      for (int mask : {0, 1 + (GetParam() + normalizer) % 9}) {
        Choice c;
        c.member[test::kScore] = GetParam();
        c.member[test::kNormalizer] = normalizer;
        c.member[test::kMask] = mask == 4 ? 7 : mask;
        c.member[test::kBias] = (normalizer + mask) % test::members_of(test::kBias);
        c.member[test::kCap] = normalizer % 2;
        c.member[test::kDropout] = mask % 2;
        c.member[test::kHeads] = (normalizer + mask) % 2;
        c.member[test::kState] = mask > 0;
        const bool mocha = normalizer == 8, monotonic = normalizer == 7 || mocha;
        if ((GetParam() == 8 && mocha) || (GetParam() == 9 && monotonic)) continue;
        SCOPED_TRACE(test::name_of(c));
        AxesCase problem(c, 3, layout);
        // Some additive rows need the clamp, some tanh itself.
        const Index columns = problem.extent(test::kQuery).cols;
        for (const Index r : {5, 9}) {
          for (Index n = 0; n < columns; ++n) {
            problem.inputs()[test::kQuery][static_cast<std::size_t>(r * columns + n)] *=
                r == 5 ? 25.0 : 70.0;
          }
        }
        fn(problem);
        if (HasFailure()) return;
      }
    }
  }
  static Numbers<float> d_out(const AxesCase& c, const Numbers<float>& out) {
    Numbers<float> d = test::random_output_gradients(c, 5);
    test::forget_rows_without_keys(c, out, d);
    return d;
  }
  // Some rows in a call of their own, several times.
  static void expect_same_rows(const AxesCase& c, const std::vector<std::vector<Index>>& calls) {
    const Numbers<float> out = c.forward(c.floats()), d = d_out(c, out);
    const Numbers<float> gradients = test::gradients(c, c.floats(), d);
    for (const std::vector<Index>& which : calls) expect_same_rows(c, which, out, d, gradients);
  }
  static void expect_same_rows(const AxesCase& c, const std::vector<Index>& which,
                               const Numbers<float>& out, const Numbers<float>& d,
                               const Numbers<float>& gradients) {
    const AxesCase some = c.pick(which);
    const Numbers<float> got = some.forward(some.floats());
    Numbers<float> d_some = d;
    for (std::size_t o = 0; o < test::kSums; ++o) {
      EXPECT_EQ(test::other_bits(c.pick_rows(out[o], which), got[o],
                                 test::output_name(static_cast<int>(o))),
                "");
      d_some[o] = c.pick_rows(d[o], which);
    }
    const Numbers<float> d_got = test::gradients(some, some.floats(), d_some);
    for (const std::size_t i : {test::kQuery, test::kPast, test::kChunks, test::kCenter}) {
      EXPECT_EQ(test::other_bits(c.pick_rows(gradients[i], which), d_got[i],
                                 test::input_name(static_cast<int>(i))),
                "");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Scores, AxesBits, testing::Range(0, test::members_of(test::kScore)),
                         [](const auto& info) {
                           std::string name = test::member_name(test::kScore, info.param);
                           for (char& x : name) x = x == ' ' || x == '-' ? '_' : x;
                           return name;
                         });

TEST_P(AxesBits, SomeRowsInAnotherOrderAreWhatTheyAreAmongAll) {
  std::vector<Index> which;
  for (Index r = 139; r > 0; r -= r % 3 + 1) which.push_back(r);
  for_each_case(large(), [&](const AxesCase& c) { expect_same_rows(c, {which}); });
}

TEST_P(AxesBits, ARowAloneIsWhatItIsAmongAll) {
  for_each_case(large(), [](const AxesCase& c) {
    expect_same_rows(c, {{0}, {3}, {5}, {9}, {77}, {139}});
  });
}

TEST_P(AxesBits, AnyNumberOfThreadsGivesTheSameBits) {
  for_each_case(large(), [](const AxesCase& c) {
    const Numbers<float> in = c.floats(), out = c.forward(in), d = d_out(c, out);
    const Numbers<float> gradients = test::gradients(c, in, d, 0.25f);
    for (const int n : {1, 2, 3, 5}) {
      Threads threads(n);
      EXPECT_EQ(test::other_outputs(out, c.forward(in, &threads)), "") << n;
      EXPECT_EQ(test::other_gradients(gradients, test::gradients(c, in, d, 0.25f, &threads)), "")
          << n;
    }
  });
}

TEST_P(AxesBits, EveryInstructionSetGivesTheSameBitsAndSse4AlmostTheSame) {
  for_each_case(medium(), [](const AxesCase& c) {
    const Numbers<float> in = c.floats();
    const auto run = [&] {
      Numbers<float> all = c.forward(in);
      const Numbers<float> d = test::gradients(c, in, d_out(c, all));
      all.insert(all.end(), d.begin(), d.end());
      return all;
    };
    const Numbers<float> wanted = run();
    regard::test::on_each_isa([&] {
      const Numbers<float> got = run();
      for (std::size_t b = 0; b < got.size(); ++b) {
        const std::string what = std::string(executed_isa()) + " buffer " + std::to_string(b);
        if (current_isa() != Isa::kSse4) {
          EXPECT_EQ(test::other_bits(wanted[b], got[b], what), "");
          continue;
        }
        for (std::size_t n = 0; n < got[b].size(); ++n) {
          EXPECT_TRUE(test::near(static_cast<double>(wanted[b][n]), got[b][n], 1e-4))
              << what << " element " << n << ": " << wanted[b][n] << " and " << got[b][n];
        }
      }
    });
  });
}

TEST_P(AxesBits, StridesChangeNoBitAndWhatLiesBetweenRowsIsLeftAlone) {
  Layout apart = medium();
  apart.gap = 5;
  std::vector<Numbers<float>> wanted;
  for_each_case(medium(), [&](const AxesCase& c) {
    wanted.push_back(c.forward(c.floats()));
    wanted.push_back(test::gradients(c, c.floats(), d_out(c, wanted.back())));
  });
  std::size_t n = 0;
  for_each_case(apart, [&](const AxesCase& c) {
    EXPECT_EQ(test::other_outputs(wanted[n], c.forward(c.floats())), "");
    EXPECT_EQ(
        test::other_gradients(wanted[n + 1], test::gradients(c, c.floats(), d_out(c, wanted[n]))),
        "");
    n += 2;
  });
  EXPECT_EQ(n, wanted.size());
}

TEST_P(AxesBits, WhatIsAskedForChangesNoBitOfTheRest) {
  for_each_case(medium(), [](const AxesCase& c) {
    const Numbers<float> all = c.forward(c.floats());
    for (int o = 0; o < test::kAsked; ++o) {
      const auto only = static_cast<std::size_t>(o);
      const Numbers<float> one = c.forward(c.floats(), nullptr, 1u << o);
      EXPECT_EQ(test::other_bits(all[only], one[only], test::output_name(o)), "");
    }
  });
}

TEST_P(AxesBits, BackwardGivesTheSameBitsWithWhatForwardLeftAndWithout) {
  for_each_case(large(), [](const AxesCase& c) {
    const Numbers<float> in = c.floats(), out = c.forward(in), d = d_out(c, out);
    Numbers<float> with = test::filled_like_inputs(c, 0.25f);
    c.backward(in, d, out, with);
    EXPECT_EQ(test::other_gradients(test::gradients(c, in, d, 0.25f), with), "");
  });
}

TEST_P(AxesBits, KeySumsAreTheWeightsOfTheRowsOneAfterTheOther) {
  for_each_case(large(), [](const AxesCase& c) {
    const Numbers<float> out = c.forward(c.floats());
    std::vector<float> sums(out[test::kSums].size(), 0.0f);
    const Index columns = c.layout().columns;
    for (Index r = 0; r < c.rows(); ++r) {
      for (Index h = 0; h < c.heads(); ++h) {
        for (Index j = 0; j < c.keys(r); ++j) {
          sums[static_cast<std::size_t>(h * c.layout().key_rows + c.start(c.sentence(r)) + j)] +=
              out[test::kWeights][static_cast<std::size_t>((r * c.heads() + h) * columns + j)];
        }
      }
    }
    EXPECT_EQ(test::other_bits(sums, out[test::kSums], "key sums"), "");
  });
}

TEST_P(AxesBits, ADropoutOfZeroIsNoneAndOneDropsAll) {
  Layout zero = medium(), none = medium(), one = medium();
  zero.dropout = 0.0f;
  one.dropout = 1.0f;
  std::vector<Numbers<float>> plain;
  for_each_case(zero, [&](const AxesCase& c) {
    plain.push_back(c.forward(c.floats()));
    plain.push_back(test::gradients(c, c.floats(), d_out(c, plain.back())));
    if (c.choice()[test::kDropout] != 0) return;
    const AxesCase without(c.choice(), 3, none);
    // The same numbers but for the two rows that were made large.
    Numbers<float> in = c.floats();
    EXPECT_EQ(test::other_outputs(plain[plain.size() - 2], without.forward(in)), "");
    EXPECT_EQ(test::other_gradients(
                  plain.back(), test::gradients(without, in, d_out(c, plain[plain.size() - 2]))),
              "");
  });
  std::size_t n = 0;
  for_each_case(one, [&](const AxesCase& c) {
    const Numbers<float> out = c.forward(c.floats());
    for (const float x : out[test::kContext]) EXPECT_EQ(x, 0.0f);
    EXPECT_EQ(test::other_bits(plain[n][test::kWeights], out[test::kWeights], "weights"), "");
    EXPECT_EQ(test::other_bits(plain[n][test::kLse], out[test::kLse], "log-sum-exp"), "");
    Numbers<float> d = d_out(c, out);
    // Nothing comes back through the context.
    const Numbers<float> with = test::gradients(c, c.floats(), d, 0.25f);
    for (const float x : with[test::kValues]) EXPECT_EQ(x, 0.25f);
    std::fill(d[test::kContext].begin(), d[test::kContext].end(), 0.0f);
    EXPECT_EQ(test::other_gradients(with, test::gradients(c, c.floats(), d, 0.25f)), "");
    n += 2;
  });
}

}  // namespace
}  // namespace regard::attention
