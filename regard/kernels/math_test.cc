#include "regard/kernels/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "regard/kernels/isa.h"

namespace regard {
namespace {

using ArrayFn = void (*)(const float*, float*, std::int64_t) noexcept;

double ulps(float got, double want) {
  const float w = static_cast<float>(want);
  if (got == w) return 0.0;
  const float next = std::nextafter(std::fabs(w), std::numeric_limits<float>::infinity());
  return std::fabs(got - want) / (static_cast<double>(next) - std::fabs(w));
}

struct Case {
  const char* name;
  ArrayFn fn;
  double (*exact)(double);
  float low, high;
};

const Case kCases[] = {
    {"exp", exp_array, [](double x) { return std::exp(x); }, -103.0f, 88.7f},
    {"tanh", tanh_array, [](double x) { return std::tanh(x); }, -12.0f, 12.0f},
    {"logistic", logistic_array, [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, -80.0f,
     80.0f},
    {"log", log_array, [](double x) { return std::log(x); }, 1e-42f, 4.0f},
    {"log of large", log_array, [](double x) { return std::log(x); }, 1.0f, 3e38f},
};

std::vector<float> grid(const Case& c, int n) {
  std::vector<float> x(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) {
    const double t = (i + 0.37) / n;
    x[static_cast<size_t>(i)] = static_cast<float>(c.low + (double(c.high) - c.low) * t);
  }
  return x;
}

TEST(Math, IsWithinTwoUlpOnEveryInstructionSet) {
  for (int isa = 0; isa < kIsaCount; ++isa) {
    if (!has_isa(static_cast<Isa>(isa))) continue;
    set_isa(static_cast<Isa>(isa));
    for (const Case& c : kCases) {
      const std::vector<float> x = grid(c, 100003);
      std::vector<float> y(x.size());
      c.fn(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
      double worst = 0.0;
      for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ulps(y[i], c.exact(x[i])));
      EXPECT_LE(worst, 2.0) << c.name << " on " << executed_isa();
    }
  }
}

TEST(Math, GivesTheSameBitsOnAllTargetsWithFusedMultiplyAdd) {
  for (const Case& c : kCases) {
    const std::vector<float> x = grid(c, 10007);
    std::vector<float> want(x.size()), got(x.size());
    set_isa(Isa::kScalar);
    c.fn(x.data(), want.data(), static_cast<std::int64_t>(x.size()));
    for (Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kNeon}) {
      if (!has_isa(isa)) continue;
      set_isa(isa);
      c.fn(x.data(), got.data(), static_cast<std::int64_t>(x.size()));
      EXPECT_EQ(0, std::memcmp(want.data(), got.data(), x.size() * sizeof(float)))
          << c.name << " on " << executed_isa();
    }
  }
}

TEST(Math, KeepsTheFixedPointsAndPropagatesNaN) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float x[] = {0.0f, -0.0f, -kInf, kInf, nan, 1.0f};
  float y[6];
  for (int isa = 0; isa < kIsaCount; ++isa) {
    if (!has_isa(static_cast<Isa>(isa))) continue;
    set_isa(static_cast<Isa>(isa));
    exp_array(x, y, 6);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[2], 0.0f);
    EXPECT_EQ(y[3], kInf);
    EXPECT_TRUE(std::isnan(y[4]));
    tanh_array(x, y, 6);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(y[0]), 0u);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(y[1]), 0x80000000u);
    EXPECT_EQ(y[2], -1.0f);
    EXPECT_EQ(y[3], 1.0f);
    EXPECT_TRUE(std::isnan(y[4]));
    logistic_array(x, y, 6);
    EXPECT_EQ(y[0], 0.5f);
    EXPECT_EQ(y[2], 0.0f);
    EXPECT_EQ(y[3], 1.0f);
    EXPECT_TRUE(std::isnan(y[4]));
    log_array(x, y, 6);
    EXPECT_EQ(y[0], -kInf);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], kInf);
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_EQ(y[5], 0.0f);
  }
}

TEST(Isa, TheForcedInstructionSetIsTheOneThatRuns) {
  for (int isa = 0; isa < kIsaCount; ++isa) {
    if (!has_isa(static_cast<Isa>(isa))) continue;
    set_isa(static_cast<Isa>(isa));
    EXPECT_EQ(executed_isa(), isa_name(static_cast<Isa>(isa)));
  }
}

}  // namespace
}  // namespace regard
