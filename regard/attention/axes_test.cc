// Every member of every axis with every other: the library against the reference in double, its
// gradients against central differences of the reference, or a ConfigError that says why not.
#include <gtest/gtest.h>

#include <string>

#include "regard/attention/axes_check_test_util.h"
#include "regard/base/error.h"

namespace regard::attention {
namespace {

using test::AxesCase;
using test::Choice;
using test::Numbers;

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
  EXPECT_EQ(test::wrong_outputs(c, out), "") << name;
  if (!gradients || testing::Test::HasFailure()) return true;
  Numbers<float> d_out = test::random_output_gradients(c, seed);
  test::forget_rows_without_keys(c, out, d_out);
  const Numbers<float> zeros = test::filled_like_inputs(c, 0.0f);
  Numbers<float> d = zeros, again = zeros, threaded = zeros;
  c.backward(in, d_out, out, d);
  c.backward(in, d_out, {}, again);
  Threads threads(3);
  c.backward(in, d_out, out, threaded, &threads);
  EXPECT_EQ(d, again) << name << ": with what forward left and without";
  EXPECT_EQ(d, threaded) << name << ": on three threads";
  EXPECT_EQ(out, c.forward(in, &threads)) << name << ": on three threads";
  EXPECT_EQ(test::wrong_gradients(c, d_out, d), "") << name;
  return true;
}

TEST(Axes, EveryMemberWorksAlone) {
  for (int axis = 0; axis < test::kAxes; ++axis) {
    for (int m = 0; m < test::members_of(axis); ++m) {
      Choice choice;
      choice.member[axis] = m;
      const bool works = check(choice, 1, true);
      EXPECT_EQ(works, !(axis == test::kMask && m == 4)) << test::name_of(choice);
      if (HasFailure()) return;
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
          if (HasFailure()) return;
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
    if (HasFailure()) return;
  }
  EXPECT_GT(working, 1400);
}

}  // namespace
}  // namespace regard::attention
