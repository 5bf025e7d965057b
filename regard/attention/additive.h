// Kernels of the additive score without a tanh in the loop.
//
// With tanh(z) = 1 - 2 / (1 + e^(2z)) and e^(2(q+k)) = e^(2q) e^(2k), each query and key row is
// exponentiated once; the loop over (query, key, dim) is then a multiply-add, a reciprocal and a
// multiply-add, and four dims (backward: four keys) share one reciprocal, since
// a/x + b/y = (a y + b x) / (x y). Lanes are dims, so rows need no transposing and backward no sums
// across lanes; forward folds sixteen lane sums per (query, key), sixteen pairs at a time.
//
// Internal: pointers and strides in floats, nothing checked.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

// A padded row holds whole groups of four vectors, whatever the processor's vector is.
constexpr Index kDimGroup = 64;
constexpr Index padded_dims(Index width) { return (width + kDimGroup - 1) / kDimGroup * kDimGroup; }

// What the choice of form needs to know of a row, or of the live keys of a sentence.
struct RowExtrema {
  float largest = 0.0f;    // of the row's values
  float magnitude = 0.0f;  // of their absolute values
  bool in_range = true;    // all finite and at most kFactorLimit in magnitude
};

// Above this the factors e^(2q), e^(2k) leave fp32's range: such rows take tanh itself.
constexpr float kFactorLimit = 43.0f;
// q + k at most this keeps e^(2(q+k)) below 2^30: the clamp would change nothing.
constexpr float kUnclampedSum = 10.39f;
// Rows and keys within this may sum e^(2k) r^2 and multiply by e^(2q) once at the end.
constexpr float kOuterFactorLimit = 12.0f;
// Above this in magnitude, v times three factors of 2^30 might overflow.
constexpr float kLargestFactoredV = 1073741824.0f;

// The keys of one sentence.
struct AdditiveKeys {
  const float* exponentials = nullptr;  // [count, padded] e^(2k), zero beyond width
  const float* raw = nullptr;           // [count, width]
  Index raw_stride = 0;
  Index count = 0;
  Index width = 0;
  Index padded = 0;
  const float* v = nullptr;            // [padded], zero beyond width
  const float* minus_two_v = nullptr;  // [padded]
  bool v_in_range = true;
  RowExtrema extrema;
};

enum class AdditiveForm { kFactored, kClamped, kDirect };

// Which form a row takes against a sentence: a function of the two alone. kFactored and kClamped
// give the same bits forward where both are allowed.
inline bool takes_factors(const AdditiveKeys& keys, const RowExtrema& row) noexcept {
  return row.in_range && keys.extrema.in_range && keys.v_in_range;
}
inline AdditiveForm forward_form(const AdditiveKeys& keys, const RowExtrema& row) noexcept {
  if (!takes_factors(keys, row)) return AdditiveForm::kDirect;
  return row.largest + keys.extrema.largest <= kUnclampedSum ? AdditiveForm::kFactored
                                                             : AdditiveForm::kClamped;
}
inline AdditiveForm backward_form(const AdditiveKeys& keys, const RowExtrema& row) noexcept {
  const AdditiveForm form = forward_form(keys, row);
  const bool small =
      row.magnitude <= kOuterFactorLimit && keys.extrema.magnitude <= kOuterFactorLimit;
  return form == AdditiveForm::kFactored && !small ? AdditiveForm::kClamped : form;
}

// y = e^(2x) and the row's extrema. Sixteen values go to y + chunk_stride * (chunk number); beyond
// `width` up to `padded` they are zero.
RowExtrema exponentiate_row(const float* x, Index width, Index padded, float* y,
                            Index chunk_stride) noexcept;

// Some query rows against one sentence.
struct AdditiveRows {
  const float* const* raw = nullptr;    // [count] pointers to [width]
  const float* exponentials = nullptr;  // forward [count, padded]; backward [padded/16, count, 16]
  const RowExtrema* extrema = nullptr;  // [count]
  Index count = 0;
};

// scores[i * stride + j] = e_ij - (factored or clamped ? sum of v : 0); writes up to a multiple of
// 16 keys.
void additive_scores(const AdditiveKeys& keys, const AdditiveRows& rows, float* scores,
                     Index stride) noexcept;

// Sums of one call for the gradient of v; [padded] each.
struct AdditiveVSums {
  float* reciprocals = nullptr;  // sum of d_e / (1 + e^(2z)) over factored rows
  float* direct = nullptr;       // sum of d_e tanh(z) over the others
};

// Gradients of the rows and keys, both short of the factor 4 v. With s = (1 - tanh^2) / 4:
struct AdditiveGradients {
  const float* d_scores = nullptr;  // d_e, row i at d_scores + i * stride; 0 where not live
  Index stride = 0;
  const float* live = nullptr;  // 1 where key j is live to row i, else 0, as d_scores; null: all
  float* d_rows = nullptr;      // [padded/16, count, 16], overwritten: sum_j d_e_ij s_ij
  float* d_keys = nullptr;      // [keys, padded], accumulates: sum_i d_e_ij s_ij
  Index d_key_stride = 0;
  AdditiveVSums sums;  // accumulate
};
void additive_backward(const AdditiveKeys& keys, const AdditiveRows& rows,
                       const AdditiveGradients& gradients) noexcept;

// out[a] += 4 v[a] sums[a], a < width; sixteen sums lie at sums + chunk_stride * (chunk number).
void add_v_scaled(const float* v, const float* sums, Index chunk_stride, Index width,
                  float* out) noexcept;

}  // namespace regard::attention
