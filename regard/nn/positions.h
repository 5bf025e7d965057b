// Sinusoidal positions: what tells a layer without recurrence where a token stands.
#pragma once

#include "regard/tensor/buffer.h"

namespace regard {

// The table [count, width] of rows for positions 0 to count - 1, to be added to token rows by
// add_table_rows (autograd/ops_norm.h).
//
// Math     column 2i is sin(p / 10000^(2i / width)), column 2i + 1 the cosine of the same angle; an
//          odd width ends with a sine
// Source   Vaswani et al., arXiv 1706.03762v7, section 3.5
// Values   computed in double, the same on every machine; a row does not depend on `count`
Buffer<float> sinusoidal_positions(Index count, Index width);

}  // namespace regard
