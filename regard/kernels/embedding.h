// Rows of a table by token id.
#pragma once

#include <cstdint>

#include "regard/tensor/view.h"

namespace regard {

// y[r] = table[ids[r]].
//
// Shapes   table [V,E], ids [R] in 0..V-1 (checked where ids are made), y [R,E]
void embedding_forward(ConstMatrix table, const std::int32_t* ids, Matrix y) noexcept;

// d_table[ids[r]] += d_y[r] for r = 0, 1, ... in this order. Rows of other ids are not touched.
void embedding_backward(ConstMatrix d_y, const std::int32_t* ids, Matrix d_table) noexcept;

}  // namespace regard
