// Rows of length 1, for the cosine score.
//
// Internal: nothing checked.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

// unit = x / |x|; returns 1 / |x|. A row of zeros stays one and returns 0.
float unit_row(const float* x, Index width, float* unit) noexcept;

// d_x += factor * inverse (d - (d . unit) unit): the gradient through x / |x|.
void unit_row_backward(const float* unit, float inverse, const float* d, float factor, Index width,
                       float* d_x) noexcept;

}  // namespace regard::attention
