// Numbers as text with a point, whatever the locale.
#pragma once

#include <string>

namespace regard {

// With `decimals` digits after the point: "-1.50", "nan", "inf". A zero that rounds from below has
// no sign.
std::string fixed_number(double value, int decimals);

}  // namespace regard
