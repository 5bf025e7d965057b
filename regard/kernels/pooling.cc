#include "regard/kernels/pooling.h"

#include <algorithm>

namespace regard {

void mean_rows_forward(ConstMatrix x, const Index* start, const Index* length, Matrix y) noexcept {
  for (Index b = 0; b < y.rows; ++b) {
    float* out = y.row(b);
    std::fill_n(out, y.cols, 0.0f);
    for (Index r = start[b]; r < start[b] + length[b]; ++r) {
      const float* in = x.row(r);
      for (Index j = 0; j < y.cols; ++j) out[j] += in[j];
    }
    if (length[b] == 0) continue;
    const float n = static_cast<float>(length[b]);
    for (Index j = 0; j < y.cols; ++j) out[j] /= n;
  }
}

void mean_rows_backward(ConstMatrix d_y, const Index* start, const Index* length,
                        Matrix d_x) noexcept {
  for (Index b = 0; b < d_y.rows; ++b) {
    const float* in = d_y.row(b);
    const float n = static_cast<float>(length[b]);
    for (Index r = start[b]; r < start[b] + length[b]; ++r) {
      float* out = d_x.row(r);
      for (Index j = 0; j < d_y.cols; ++j) out[j] += in[j] / n;
    }
  }
}

}  // namespace regard
