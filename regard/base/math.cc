// Each function reduces its argument to a small interval by an exact subtraction (a fused
// multiply-add of a whole number and a constant in two or three parts), sums the Taylor series
// there, and undoes the reduction. The series is cut where the next term is below a quarter of an
// ulp.
#include "regard/base/math.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace regard {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Constants as the nearest double and the nearest doubles to what is left.
constexpr double kLn2High = 0x1.62e42fefa39efp-1;
constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kHalfPiHigh = 0x1.921fb54442d18p+0;
constexpr double kHalfPiMid = 0x1.1a62633145c07p-54;
constexpr double kHalfPiLow = -0x1.f1976b7ed8fbcp-110;
constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
constexpr double kLargestAngle = 1e9;

// coefficients[0] + x (coefficients[1] + x (...)).
template <std::size_t N>
double horner(const std::array<double, N>& coefficients, double x) noexcept {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

// 1/2!, 1/3!, ... for exp, and the same with gaps and signs for sin and cos.
constexpr std::array<double, 13> inverse_factorials(int first, int step, double sign) {
  std::array<double, 13> result{};
  double factorial = 1;
  int n = 1;
  double current = 1;
  for (double& value : result) {
    while (n < first) factorial *= ++n;
    value = current / factorial;
    current *= sign;
    first += step;
  }
  return result;
}
template <std::size_t N>
constexpr std::array<double, N> first_of(const std::array<double, 13>& all) {
  std::array<double, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = all[i];
  return result;
}
constexpr auto kExpSeries = first_of<12>(inverse_factorials(2, 1, 1.0));
constexpr auto kSinSeries = first_of<8>(inverse_factorials(3, 2, -1.0));
constexpr auto kCosSeries = first_of<8>(inverse_factorials(4, 2, -1.0));

// 2/3, 2/5, 2/7, ...
constexpr std::array<double, 10> odd_fractions() {
  std::array<double, 10> result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = 2.0 / (2.0 * static_cast<double>(i) + 3.0);
  return result;
}
constexpr auto kLogSeries = odd_fractions();

double sin_near_zero(double r) noexcept {
  const double z = r * r;
  return std::fma(-r * z, horner(kSinSeries, z), r);
}

double cos_near_zero(double r) noexcept {
  const double z = r * r;
  const double head = 1.0 - 0.5 * z;
  // (1 - head) - z/2 is what the first rounding lost.
  return head + std::fma(z * z, horner(kCosSeries, z), (1.0 - head) - 0.5 * z);
}

struct Quadrant {
  double rest = 0;  // in about [-pi/4, pi/4]
  int turns = 0;    // quarter turns, 0 to 3
};

Quadrant reduce_angle(double x) noexcept {
  const double k = std::floor(x * kInverseHalfPi + 0.5);
  double r = std::fma(-k, kHalfPiHigh, x);
  r = std::fma(-k, kHalfPiMid, r);
  r = std::fma(-k, kHalfPiLow, r);
  return {r, static_cast<int>(static_cast<std::int64_t>(k) & 3)};
}

double sine_of_quadrant(const Quadrant& q) noexcept {
  const double value = (q.turns & 1) != 0 ? cos_near_zero(q.rest) : sin_near_zero(q.rest);
  return (q.turns & 2) != 0 ? -value : value;
}

}  // namespace

double exp_double(double x) noexcept {
  if (!(x == x)) return x;
  if (x > 710.0) return kInf;
  if (x < -746.0) return 0.0;
  const double k = std::floor(x * kInverseLn2 + 0.5);
  const double r = std::fma(-k, kLn2Low, std::fma(-k, kLn2High, x));
  const double tail = std::fma(r * r, horner(kExpSeries, r), r);
  return std::ldexp(1.0 + tail, static_cast<int>(k));
}

double log_double(double x) noexcept {
  if (!(x == x) || x == kInf) return x;
  if (x < 0) return kNan;
  if (x == 0) return -kInf;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < kSqrtHalf) {
    m *= 2;
    --exponent;
  }
  // log(1+f) = 2 artanh(s) with s = f/(2+f); its first term 2s is written f - s f, where f is
  // exact.
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double log_m = f - s * (f - z * horner(kLogSeries, z));
  const double k = exponent;
  return std::fma(k, kLn2High, std::fma(k, kLn2Low, log_m));
}

double pow_double(double x, double a) noexcept {
  if (a == 0) return 1.0;
  if (a == 1) return x;
  return exp_double(a * log_double(x));
}

double sin_double(double x) noexcept {
  if (!(std::fabs(x) <= kLargestAngle)) return kNan;
  return sine_of_quadrant(reduce_angle(x));
}

double cos_double(double x) noexcept {
  if (!(std::fabs(x) <= kLargestAngle)) return kNan;
  Quadrant q = reduce_angle(x);
  q.turns = (q.turns + 1) & 3;
  return sine_of_quadrant(q);
}

}  // namespace regard
