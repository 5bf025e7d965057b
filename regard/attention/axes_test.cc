// Every member of every axis with every other: the library against the reference in double, its
// gradients against central differences of the reference, or a ConfigError that says why not.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "regard/attention/axes_case_test_util.h"
#include "regard/base/error.h"
#include "regard/kernels/isa.h"

namespace regard::attention {
namespace {

using test::AxesCase;
using test::Choice;
using test::Numbers;

Numbers<float> random_output_gradients(const AxesCase& c, std::uint64_t seed) {
  Numbers<float> d = c.outputs<float>();
  for (std::size_t o = 0; o < d.size(); ++o) {
    for (std::size_t n = 0; n < d[o].size(); ++n) {
      d[o][n] =
          uniform_float(static_cast<std::uint32_t>(random_bits(mix(seed, o), n))) * 2.0f - 1.0f;
    }
  }
  return d;
}

// Nothing comes back to what was never a number: the log of no key.
void forget_rows_without_keys(const AxesCase& c, const Numbers<float>& out, Numbers<float>& d) {
  if (!c.has(test::kLse)) return;
  for (std::size_t n = 0; n < d[test::kLse].size(); ++n) {
    if (std::isinf(out[test::kLse][n])) d[test::kLse][n] = 0.0f;
  }
}

void expect_near(double wanted, float got, double tolerance, const std::string& what) {
  if (std::isinf(wanted) || std::isinf(got)) {
    EXPECT_EQ(static_cast<float>(wanted), got) << what;
    return;
  }
  ASSERT_NEAR(wanted, static_cast<double>(got), tolerance * (1.0 + std::fabs(wanted))) << what;
}

void check_outputs(const AxesCase& c, const Numbers<float>& got, const std::string& name) {
  const Numbers<double> wanted = c.reference(c.inputs());
  for (std::size_t o = 0; o < wanted.size(); ++o) {
    for (std::size_t n = 0; n < wanted[o].size(); ++n) {
      expect_near(wanted[o][n], got[o][n], 2e-5,
                  name + ": output " + std::to_string(o) + " element " + std::to_string(n));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A central difference; `smooth` false where two steps disagree: a kink lies between.
double slope(const AxesCase& c, const Numbers<float>& d_out, std::size_t input, std::size_t n,
             bool& smooth) {
  Numbers<double> in = c.inputs();
  const double x = in[input][n];
  const auto difference = [&](double step) {
    in[input][n] = x + step;
    const double above = c.loss(in, d_out);
    in[input][n] = x - step;
    return (above - c.loss(in, d_out)) / (2.0 * step);
  };
  const double coarse = difference(1e-4), fine = difference(1e-5);
  smooth = std::fabs(coarse - fine) <= 1e-4 * (1.0 + std::fabs(fine));
  return fine;
}

void check_gradients(const AxesCase& c, const Numbers<float>& d_out, const Numbers<float>& d,
                     const std::string& name) {
  int kinks = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t n = 0; n < d[i].size(); ++n) {
      bool smooth = true;
      const double wanted = slope(c, d_out, i, n, smooth);
      kinks += !smooth;
      if (!smooth) continue;
      expect_near(wanted, d[i][n], 1e-3,
                  name + ": gradient of " + test::input_name(static_cast<int>(i)) + " element " +
                      std::to_string(n));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_LE(kinks, 12) << name;
}

Numbers<float> zeros_like(const AxesCase& c) {
  Numbers<float> d;
  for (const auto& x : c.inputs()) d.emplace_back(x.size(), 0.0f);
  return d;
}

// One choice, wholly. Returns whether it has a meaning.
bool check(const Choice& choice, std::uint64_t seed, bool gradients) {
  const std::string name = test::name_of(choice);
  const AxesCase c(choice, seed);
  const Numbers<float> in = c.floats();
  Numbers<float> out;
  try {
    out = c.forward(in);
  } catch (const ConfigError& e) {
    EXPECT_GT(std::string(e.what()).size(), 40u) << name << ": " << e.what();
    return false;
  } catch (const ShapeError& e) {  // square causal with T != S
    EXPECT_EQ(choice[test::kMask], 4) << name << ": " << e.what();
    return false;
  }
  check_outputs(c, out, name);
  if (!gradients || testing::Test::HasFatalFailure()) return true;
  Numbers<float> d_out = random_output_gradients(c, seed);
  forget_rows_without_keys(c, out, d_out);
  Numbers<float> d = zeros_like(c), again = zeros_like(c), threaded = zeros_like(c);
  c.backward(in, d_out, out[test::kWeights], d);
  c.backward(in, d_out, {}, again);
  Threads threads(3);
  c.backward(in, d_out, out[test::kWeights], threaded, &threads);
  EXPECT_EQ(d, again) << name << ": with the weights and without";
  EXPECT_EQ(d, threaded) << name << ": on three threads";
  EXPECT_EQ(out, c.forward(in, &threads)) << name << ": on three threads";
  check_gradients(c, d_out, d, name);
  return true;
}

TEST(Axes, EveryMemberWorksAlone) {
  for (int axis = 0; axis < test::kAxes; ++axis) {
    for (int m = 0; m < test::members_of(axis); ++m) {
      Choice choice;
      choice.member[axis] = m;
      const bool works = check(choice, 1, true);
      EXPECT_EQ(works, !(axis == test::kMask && m == 4)) << test::name_of(choice);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Axes, EveryPairOfMembersWorksOrIsRefused) {
  for (int a = 0; a < test::kAxes; ++a) {
    for (int b = a + 1; b < test::kAxes; ++b) {
      for (int m = 1; m < test::members_of(a); ++m) {
        for (int n = 1; n < test::members_of(b); ++n) {
          Choice choice;
          choice.member[a] = m;
          choice.member[b] = n;
          check(choice, static_cast<std::uint64_t>(m * 20 + n), true);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Axes, TwoThousandRandomCombinationsWorkOrAreRefused) {
  int working = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Choice choice;
    for (int axis = 0; axis < test::kAxes; ++axis) {
      choice.member[axis] =
          static_cast<int>(random_below(77, i * test::kAxes + static_cast<std::uint64_t>(axis),
                                        static_cast<std::uint64_t>(test::members_of(axis))));
    }
    working += check(choice, i, i % 8 == 0);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(working, 1400);
}

}  // namespace
}  // namespace regard::attention
