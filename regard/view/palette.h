// Colours of a weight: one blue hue, equal steps of lightness (OKLCH), so a map reads the same in
// grey and for colour-blind readers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace regard {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
};

// On light ground heavy weights are dark; on dark ground (terminals too) they are bright.
enum class Ground { kLight, kDark };

// A weight in per cent, rounded, 0 to 100; what lies outside is cut to it. NaN gives -1.
int percent_of(float weight);

// REQUIRES: 0 <= percent <= 100.
Rgb heat_color(Ground ground, int percent);
// The index in the 256-colour table of terminals; on dark ground.
int heat_color_256(int percent);

// Should text on this colour be dark? (Chosen for the larger contrast.)
bool wants_dark_text(Rgb color);

// "#0c2d5e"
std::string to_hex(Rgb color);

}  // namespace regard
