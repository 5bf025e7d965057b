// Moving and adding whole rows. Nothing here rounds but the additions, each in a fixed order.
#pragma once

#include "regard/tensor/view.h"

namespace regard {

// y = x. Shapes  x, y [R,C]; no overlap.
void copy_rows(ConstMatrix x, Matrix y) noexcept;

// y += x. Shapes  x, y [R,C]; y may be x, otherwise no overlap.
void add_rows(ConstMatrix x, Matrix y) noexcept;

// y[r] = x[index[r]], a zero row where index[r] is -1.
//
// Shapes   x [N,C], index [R], y [R,C]; y may not alias x
void gather_rows(ConstMatrix x, const Index* index, Matrix y) noexcept;

// d_x[index[r]] += d_y[r] for r = 0, 1, ... in this order; rows with index -1 are left out. The
// backward of gather_rows.
void scatter_add_rows(ConstMatrix d_y, const Index* index, Matrix d_x) noexcept;

// sum[j] += x[0,j], then x[1,j], ...: one chain of additions per column. Shapes  x [R,C], sum [C].
void column_sums(ConstMatrix x, Vector sum) noexcept;

// Every element of x becomes `value`, or is multiplied by `factor`.
void fill(Matrix x, float value) noexcept;
void scale(Matrix x, float factor) noexcept;

}  // namespace regard
