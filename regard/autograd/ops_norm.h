// More operations of the tape: what an encoder layer of self-attention has besides attention and
// products. The rules of ops.h hold.
#pragma once

#include <cstdint>

#include "regard/autograd/tape.h"

namespace regard {

// y = gain * (x - mean) / sqrt(variance + 1e-5) + bias, mean and variance of each row
// (kernels/layer_norm.h). Gain and bias are [1, columns of x].
Var layer_norm(Tape& tape, Var x, ParameterId gain, ParameterId bias);

// y = x < 0 ? 0 : x.
Var relu(Tape& tape, Var x);

// y = factor x.
Var scaled(Tape& tape, Var x, float factor);

// y[r] = x[r] + table[row[r]], the table a constant. A row that the table doesn't have is a
// ShapeError.
Var add_table_rows(Tape& tape, Var x, ConstMatrix table, const std::uint32_t* row);

}  // namespace regard
