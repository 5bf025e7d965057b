// Dropout whose mask is a pure function of what the row is, never of where it lies in a batch.
#pragma once

#include <cstdint>

#include "regard/tensor/view.h"

namespace regard {

// What each row is: a key that holds (seed, update, pair, site), and its position. Both [R]. A row
// may be a part of a longer one: `first_unit`, a multiple of 4, is where it begins.
struct DropoutRows {
  const std::uint64_t* key = nullptr;
  const std::uint32_t* position = nullptr;
  Index first_unit = 0;
};

// y = x / (1 - rate) where a unit is kept, else 0.
//
// Math     unit u of row r is kept if uniform_float(w) >= rate for word u mod 4 of
//          philox(key[r], position[r], u / 4) (base/random.h); kept units are multiplied by the
//          float 1 / (1 - rate)
// Shapes   x, y [R,C]
// Values   rate in 0..1: 0 copies, 1 gives zeros. NaN and Inf in a dropped unit give 0
// Writes   y, which may be x
void dropout_forward(ConstMatrix x, DropoutRows rows, float rate, Matrix y) noexcept;

// d_x += d_y / (1 - rate) where a unit is kept: the mask is made again.
void dropout_backward(ConstMatrix d_y, DropoutRows rows, float rate, Matrix d_x) noexcept;

}  // namespace regard
