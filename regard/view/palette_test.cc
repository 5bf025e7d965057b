#include "regard/view/palette.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace regard {
namespace {

double linear(int part) {
  const double x = part / 255.0;
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

double luminance(Rgb c) {
  return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

double contrast(double a, double b) { return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05); }

Rgb from_table_256(int index) {
  if (index >= 232) {
    const auto grey = static_cast<std::uint8_t>(8 + 10 * (index - 232));
    return {grey, grey, grey};
  }
  constexpr std::array<std::uint8_t, 6> kSteps = {0, 95, 135, 175, 215, 255};
  const auto cube = static_cast<std::size_t>(index - 16);
  return {kSteps[cube / 36], kSteps[cube / 6 % 6], kSteps[cube % 6]};
}

TEST(Palette, ReadsInGreyLighterOrDarkerAtEveryStep) {
  for (int percent = 1; percent <= 100; ++percent) {
    EXPECT_LT(luminance(heat_color(Ground::kLight, percent)),
              luminance(heat_color(Ground::kLight, percent - 1)))
        << percent;
    EXPECT_GT(luminance(heat_color(Ground::kDark, percent)),
              luminance(heat_color(Ground::kDark, percent - 1)))
        << percent;
    EXPECT_GE(luminance(from_table_256(heat_color_256(percent))),
              luminance(from_table_256(heat_color_256(percent - 1))))
        << percent;
  }
}

TEST(Palette, TextOnEveryColorCanBeRead) {
  const double dark = luminance({0x0b, 0x12, 0x20});
  for (const Ground ground : {Ground::kLight, Ground::kDark}) {
    for (int percent = 0; percent <= 100; ++percent) {
      const Rgb color = heat_color(ground, percent);
      EXPECT_GE(contrast(luminance(color), wants_dark_text(color) ? dark : 1.0), 4.0) << percent;
    }
  }
}

TEST(PercentOf, RoundsAndCutsToItsRange) {
  EXPECT_EQ(percent_of(0.0F), 0);
  EXPECT_EQ(percent_of(0.004F), 0);
  EXPECT_EQ(percent_of(0.0051F), 1);
  EXPECT_EQ(percent_of(0.934F), 93);
  EXPECT_EQ(percent_of(1.0F), 100);
  EXPECT_EQ(percent_of(3.0F), 100);
  EXPECT_EQ(percent_of(-0.5F), 0);
  EXPECT_EQ(percent_of(std::numeric_limits<float>::infinity()), 100);
  EXPECT_EQ(percent_of(std::numeric_limits<float>::quiet_NaN()), -1);
}

TEST(ToHex, HasTwoDigitsAPart) { EXPECT_EQ(to_hex({0x0c, 0x2d, 0x5e}), "#0c2d5e"); }

}  // namespace
}  // namespace regard
