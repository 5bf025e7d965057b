#include "regard/view/palette.h"

#include <string_view>

namespace regard {
namespace {

constexpr int kSteps = 10;
using Ramp = std::array<Rgb, kSteps + 1>;

// Lightness 0.972 to 0.350, hue 245 to 267.
constexpr Ramp kLight = {{{0xef, 0xf7, 0xfe},
                          {0xca, 0xe5, 0xff},
                          {0xa7, 0xd2, 0xfe},
                          {0x82, 0xbe, 0xff},
                          {0x60, 0xa8, 0xfe},
                          {0x43, 0x92, 0xf8},
                          {0x36, 0x7d, 0xe5},
                          {0x2e, 0x69, 0xcd},
                          {0x2a, 0x56, 0xb1},
                          {0x26, 0x45, 0x92},
                          {0x22, 0x35, 0x71}}};
// Lightness 0.235 to 0.940, hue 266 to 218.
constexpr Ramp kDark = {{{0x14, 0x1d, 0x33},
                         {0x19, 0x2e, 0x54},
                         {0x18, 0x41, 0x76},
                         {0x0e, 0x55, 0x96},
                         {0x04, 0x6c, 0xb0},
                         {0x04, 0x84, 0xc7},
                         {0x04, 0x9c, 0xde},
                         {0x21, 0xb5, 0xf1},
                         {0x50, 0xcd, 0xfe},
                         {0x92, 0xe1, 0xfe},
                         {0xcc, 0xf3, 0xff}}};
constexpr std::array<int, kSteps + 1> kTable256 = {233, 18, 19, 24, 25, 31, 38, 39, 81, 153, 195};

std::uint8_t mix(std::uint8_t from, std::uint8_t to, int tenths) {
  const int value = (from * (10 - tenths) + to * tenths + 5) / 10;
  return static_cast<std::uint8_t>(value);
}

}  // namespace

int percent_of(float weight) {
  if (weight != weight) return -1;
  if (weight <= 0.0F) return 0;
  if (weight >= 1.0F) return 100;
  return static_cast<int>(static_cast<double>(weight) * 100.0 + 0.5);
}

Rgb heat_color(Ground ground, int percent) {
  const Ramp& ramp = ground == Ground::kLight ? kLight : kDark;
  const auto step = static_cast<std::size_t>(percent / 10);
  if (step >= kSteps) return ramp[kSteps];
  const Rgb& from = ramp[step];
  const Rgb& to = ramp[step + 1];
  const int tenths = percent % 10;
  return {mix(from.red, to.red, tenths), mix(from.green, to.green, tenths),
          mix(from.blue, to.blue, tenths)};
}

int heat_color_256(int percent) { return kTable256[static_cast<std::size_t>((percent + 5) / 10)]; }

bool wants_dark_text(Rgb color) {
  // Weighted squares are close enough to luminance to choose between two.
  const int light = 2126 * color.red * color.red + 7152 * color.green * color.green +
                    722 * color.blue * color.blue;
  return light > 10000 * 117 * 117;
}

std::string to_hex(Rgb color) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "#";
  for (const std::uint8_t part : {color.red, color.green, color.blue}) {
    text += kHex[part >> 4];
    text += kHex[part & 15];
  }
  return text;
}

}  // namespace regard
