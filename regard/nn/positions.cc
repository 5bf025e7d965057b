#include "regard/nn/positions.h"

#include "regard/base/math.h"

namespace regard {

Buffer<float> sinusoidal_positions(Index count, Index width) {
  Buffer<float> table(count * width);
  for (Index j = 0; j < width; j += 2) {
    const double wavelength =
        pow_double(10000.0, static_cast<double>(j) / static_cast<double>(width));
    for (Index p = 0; p < count; ++p) {
      const double angle = static_cast<double>(p) / wavelength;
      table[p * width + j] = static_cast<float>(sin_double(angle));
      if (j + 1 < width) table[p * width + j + 1] = static_cast<float>(cos_double(angle));
    }
  }
  return table;
}

}  // namespace regard
