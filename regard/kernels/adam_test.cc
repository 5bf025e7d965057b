#include "regard/kernels/adam.h"

#include <limits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/adam.h"

namespace regard {
namespace {

AdamStep step_of(int t) {
  AdamStep step;
  step.rate = 0.01f;
  step.bias1 = static_cast<float>(1.0 - std::pow(static_cast<double>(step.beta1), t));
  step.bias2 = static_cast<float>(1.0 - std::pow(static_cast<double>(step.beta2), t));
  step.gradient_scale = 0.25f;
  return step;
}

// parameter, m and v after three updates, one after the other.
template <class T, class Update>
std::vector<T> three_updates(Index n, Update update) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<T> state(3 * size, T(0));
  const std::vector<double> start = test::random_values(n, 1);
  std::copy(start.begin(), start.end(), state.begin());
  for (int t = 1; t <= 3; ++t) {
    const std::vector<double> g = test::random_values(n, static_cast<std::uint64_t>(10 + t));
    const std::vector<T> gradient(g.begin(), g.end());
    update(step_of(t), gradient.data(), state.data(), state.data() + size, state.data() + 2 * size,
           n);
  }
  return state;
}

TEST(Adam, FollowsTheReferenceOverSeveralUpdates) {
  for (const Index n : test::kLengths) {
    const std::vector<double> want = three_updates<double>(n, reference::adam_update<double>);
    test::on_each_isa([&] {
      const std::vector<float> got = three_updates<float>(n, adam_update);
      EXPECT_EQ(test::compare("adam", test::Buffers<float>{got}, {want}, 1e-6), "")
          << executed_isa();
    });
    test::expect_same_bits_on_each_isa([&] { return three_updates<float>(n, adam_update); });
  }
}

TEST(Adam, TheFirstUpdateMovesEachParameterByTheRateAgainstItsGradient) {
  const std::vector<float> gradient = {3.0f, -1e-3f, 40.0f};
  std::vector<float> p(3, 1.0f), m(3, 0.0f), v(3, 0.0f);
  adam_update(step_of(1), gradient.data(), p.data(), m.data(), v.data(), 3);
  EXPECT_NEAR(p[0], 0.99, 1e-6);
  EXPECT_NEAR(p[1], 1.01, 1e-6);
  EXPECT_NEAR(p[2], 0.99, 1e-6);
}

TEST(SumOfSquares, IsExactToRoundingAndTheSameEverywhere) {
  for (const Index n : {0, 1, 15, 17, 53, 4095, 4096, 4097, 20001}) {
    const std::vector<float> x = test::random_floats(n, 3);
    const double want = reference::sum_of_squares(x.data(), n);
    double first = -1.0;
    test::on_each_isa([&] {
      const double got = sum_of_squares(x.data(), n);
      EXPECT_NEAR(got, want, 1e-6 * want);
      if (current_isa() == Isa::kSse4) return;
      if (first < 0.0) first = got;
      EXPECT_EQ(got, first) << executed_isa();
    });
  }
}

TEST(AllFinite, FindsOneBadElementAnywhere) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Index n = 9001;
  test::on_each_isa([&] {
    std::vector<float> x = test::random_floats(n, 3, -3e38, 3e38);
    EXPECT_TRUE(all_finite(x.data(), n));
    EXPECT_TRUE(all_finite(x.data(), 0));
    for (const std::size_t at : {std::size_t{0}, std::size_t{4095}, std::size_t{9000}}) {
      for (const float bad : {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
        const float good = x[at];
        x[at] = bad;
        EXPECT_FALSE(all_finite(x.data(), n)) << at << " " << bad << " " << executed_isa();
        EXPECT_FALSE(reference::all_finite(x.data(), n));
        x[at] = good;
      }
    }
  });
}

}  // namespace
}  // namespace regard
