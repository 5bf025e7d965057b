// Means over ranges of rows.
#pragma once

#include "regard/tensor/view.h"

namespace regard {

// y[b] = (x[start] + x[start + 1] + ...) / length, a chain in row order; zero for an empty range.
// Shapes   x [R,N], y [B,N], start and length [B]
void mean_rows_forward(ConstMatrix x, const Index* start, const Index* length, Matrix y) noexcept;
// d_x[r] += d_y[b] / length for every row r of range b.
void mean_rows_backward(ConstMatrix d_y, const Index* start, const Index* length,
                        Matrix d_x) noexcept;

}  // namespace regard
