// Our elementary functions against libm in long double, and their exact points.
#include "regard/base/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace regard {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Largest relative error over a fixed, irregular walk through [low, high].
double worst_error(double (*ours)(double) noexcept,
                   const std::function<long double(long double)>& libm, double low, double high) {
  long double worst = 0;
  std::uint64_t state = 12345;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double x = low + (high - low) * (static_cast<double>(state >> 11) * 0x1p-53);
    const long double want = libm(x);
    if (want == 0) continue;
    worst = std::max(worst, std::fabs((ours(x) - want) / want));
  }
  return static_cast<double>(worst);
}

long double exp_l(long double x) { return std::exp(x); }
long double log_l(long double x) { return std::log(x); }
long double sin_l(long double x) { return std::sin(x); }
long double cos_l(long double x) { return std::cos(x); }

// An ulp is 1.1e-16 to 2.2e-16 of the value; all are within 1.5 of them.
constexpr double kTolerance = 3e-16;

TEST(MathDouble, ExpIsWithinAnUlpOrSo) {
  EXPECT_LT(worst_error(exp_double, exp_l, -1e-3, 1e-3), kTolerance);
  EXPECT_LT(worst_error(exp_double, exp_l, -1, 1), kTolerance);
  EXPECT_LT(worst_error(exp_double, exp_l, -700, 709), kTolerance);
}

TEST(MathDouble, ExpHasItsExactPointsAndLimits) {
  EXPECT_EQ(exp_double(0.0), 1.0);
  EXPECT_EQ(exp_double(-0.0), 1.0);
  EXPECT_EQ(exp_double(-kInf), 0.0);
  EXPECT_EQ(exp_double(kInf), kInf);
  EXPECT_EQ(exp_double(709.79), kInf);
  EXPECT_EQ(exp_double(-745.14), 0.0);
  EXPECT_TRUE(std::isnan(exp_double(kNan)));
  EXPECT_EQ(exp_double(-745.0), 0x1p-1074) << "the smallest subnormal";
  EXPECT_NEAR(exp_double(-740.0), std::exp(-740.0), 0x1p-1074);
}

TEST(MathDouble, LogIsWithinAnUlpOrSo) {
  EXPECT_LT(worst_error(log_double, log_l, 1 - 1e-6, 1 + 1e-6), kTolerance);
  EXPECT_LT(worst_error(log_double, log_l, 0.5, 2), kTolerance);
  EXPECT_LT(worst_error(log_double, log_l, 1e-300, 1e-290), kTolerance);
  EXPECT_LT(worst_error(log_double, log_l, 1, 1e300), kTolerance);
  EXPECT_NEAR(log_double(0x1p-1074), -744.4400719213812, 1e-12);
}

TEST(MathDouble, LogHasItsExactPointsAndLimits) {
  EXPECT_EQ(log_double(1.0), 0.0);
  EXPECT_EQ(log_double(0.0), -kInf);
  EXPECT_EQ(log_double(kInf), kInf);
  EXPECT_TRUE(std::isnan(log_double(-1.0)));
  EXPECT_TRUE(std::isnan(log_double(kNan)));
}

TEST(MathDouble, PowIsExpOfALogX) {
  for (const double x : {0.001, 0.5, 0.9, 0.999, 1.5, 2.0, 10000.0}) {
    for (const double a : {-2.0, -0.5, 0.01, 0.7, 2.0, 3.0, 17.5}) {
      const long double want = std::pow(static_cast<long double>(x), static_cast<long double>(a));
      const double size = 1 + std::fabs(a * std::log(x));
      EXPECT_NEAR(static_cast<double>(pow_double(x, a) / want), 1.0, 3e-16 * size)
          << x << " ^ " << a;
    }
  }
}

TEST(MathDouble, PowIsExactForZeroAndOne) {
  for (const double x : {0.0, 0.3, 7.0, 1e300, kInf, -2.0}) {
    EXPECT_EQ(pow_double(x, 0), 1.0);
    EXPECT_EQ(pow_double(x, 1), x);
  }
  EXPECT_EQ(pow_double(1.0, 123.4), 1.0);
  EXPECT_EQ(pow_double(0.0, 2), 0.0);
  EXPECT_EQ(pow_double(0.0, -2), kInf);
  EXPECT_TRUE(std::isnan(pow_double(-2.0, 2)));
  EXPECT_TRUE(std::isnan(pow_double(kNan, 2)));
}

TEST(MathDouble, SinAndCosAreWithinAnUlpOrSo) {
  for (const double reach : {0.5, 4.0, 1e4, 1e9}) {
    EXPECT_LT(worst_error(sin_double, sin_l, -reach, reach), kTolerance) << reach;
    EXPECT_LT(worst_error(cos_double, cos_l, -reach, reach), kTolerance) << reach;
  }
}

TEST(MathDouble, SinAndCosKeepTheirDigitsNearTheirZeros) {
  for (int k = 1; k < 3000; ++k) {
    const double zero = k * 1.5707963267948966;
    const long double want = k % 2 == 0 ? std::sin(static_cast<long double>(zero))
                                        : std::cos(static_cast<long double>(zero));
    const double got = k % 2 == 0 ? sin_double(zero) : cos_double(zero);
    // libm's long double has only 64 bits of its own here.
    EXPECT_NEAR(static_cast<double>(got / want), 1.0, 1e-12) << k;
  }
}

TEST(MathDouble, SinAndCosHaveTheirExactPointsAndLimits) {
  EXPECT_EQ(sin_double(0.0), 0.0);
  EXPECT_EQ(cos_double(0.0), 1.0);
  for (const double x : {1.1e9, kInf, -kInf, kNan}) {
    EXPECT_TRUE(std::isnan(sin_double(x)));
    EXPECT_TRUE(std::isnan(cos_double(x)));
  }
}

// The point of the file: these bits hold on every processor, compiler and libm.
TEST(MathDouble, BitsArePinned) {
  std::uint64_t mixed = 0;
  for (int i = 1; i <= 1000; ++i) {
    const double x = 0.37 * i;
    for (const double value :
         {exp_double(x - 185), log_double(x), pow_double(x, 0.31), sin_double(x), cos_double(x)}) {
      mixed = (mixed ^ std::bit_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15u;
      mixed ^= mixed >> 29;
    }
  }
  EXPECT_EQ(mixed, 0x3fabeadcd651fab3u);
}

}  // namespace
}  // namespace regard
