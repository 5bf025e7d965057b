// Scores that look at where the model looked before: v . tanh(q + k_j + U f_j), where f_j are
// features of the state around key j.
//
//   location-sensitive  f = filters * state (a convolution), state = weights of the step before
//   coverage            f_j = state_j alone (one filter of width 1 that is 1), state = sum of all
//                       past weights; U is w_c
//
// Source   Chorowski et al., arXiv 1506.07503v1, eq. 8 and 9; Tu et al., arXiv 1601.04811v6, eq. 4
//          with See et al., arXiv 1704.04368v2, eq. 11
//
// Internal: pointers and strides in floats, nothing checked.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

// The keys of one sentence and the parameters.
//
// Shapes   keys [count, width], rows key_stride apart; v [width]; filters [channels, taps], taps
//          odd, null: coverage (channels 1); u [width, channels]
struct LocationScore {
  const float* keys = nullptr;
  Index key_stride = 0;
  Index count = 0;
  Index width = 0;
  const float* v = nullptr;
  float scale = 1.0f;
  ConstMatrix filters;
  ConstMatrix u;
  Index channels() const noexcept { return u.cols; }
};

// Floats of scratch for a sentence of `keys` keys.
Index location_scratch(const LocationScore& score, Index keys) noexcept;

// scores[j] = scale * v . tanh(query + k_j + U f_j), f from state [count].
void location_scores(const LocationScore& score, const float* query, const float* state,
                     float* scores, float* scratch) noexcept;

// All accumulate; null: not wanted. Keys where d_scores is exactly 0 contribute nothing and are not
// read.
struct LocationGradients {
  float* d_query = nullptr;  // [width]
  float* d_keys = nullptr;   // [count, d_key_stride]
  Index d_key_stride = 0;
  float* d_v = nullptr;  // [width]
  Matrix d_filters;
  Matrix d_u;
  float* d_state = nullptr;  // [count]
};
void location_backward(const LocationScore& score, const float* query, const float* state,
                       const float* d_scores, const LocationGradients& gradients,
                       float* scratch) noexcept;

}  // namespace regard::attention
