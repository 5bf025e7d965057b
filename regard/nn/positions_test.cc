#include "regard/nn/positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace regard {
namespace {

TEST(SinusoidalPositions, AreSinesAndCosinesOfGeometricWavelengths) {
  for (const Index width : {1, 2, 7, 64}) {
    const Buffer<float> table = sinusoidal_positions(3000, width);
    for (const Index p : {0, 1, 2, 77, 2999}) {
      for (Index j = 0; j < width; ++j) {
        const double exponent = static_cast<double>(j / 2 * 2) / static_cast<double>(width);
        const double angle = static_cast<double>(p) / std::pow(10000.0, exponent);
        const double want = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
        // Half a step of a float in [0.5, 1).
        EXPECT_NEAR(table[p * width + j], want, 3.1e-8) << p << " " << j;
      }
    }
  }
}

TEST(SinusoidalPositions, ARowDoesNotDependOnTheLengthOfTheTable) {
  const Buffer<float> shorter = sinusoidal_positions(5, 12), longer = sinusoidal_positions(50, 12);
  EXPECT_TRUE(std::equal(shorter.data(), shorter.data() + 60, longer.data()));
}

// What a layer of dot products makes of them: the distance, not the place.
TEST(SinusoidalPositions, ProductsOfRowsDependOnTheirDistanceAlone) {
  const Buffer<float> table = sinusoidal_positions(100, 32);
  const auto product = [&](Index p, Index q) {
    double sum = 0.0;
    for (Index j = 0; j < 32; ++j)
      sum += static_cast<double>(table[p * 32 + j]) * table[q * 32 + j];
    return sum;
  };
  for (const Index distance : {0, 1, 9}) {
    for (const Index p : {1, 40, 90})
      EXPECT_NEAR(product(p, p + distance), product(0, distance), 1e-5);
  }
  EXPECT_GT(product(3, 4), product(3, 9));
}

}  // namespace
}  // namespace regard
