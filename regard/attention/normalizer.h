// Normalisers: from the scores of a row to its weights, and back.
//
// A row's live keys are read alone and in order: the masked ones are stepped over before anything
// is summed, so that what is masked changes nothing, not even by NaN.
#pragma once

#include "regard/attention/mask.h"
#include "regard/tensor/view.h"

namespace regard::attention {

enum class NormalizerKind {
  kSoftmax,    // w = exp(e / temperature) / sum
  kSparsemax,  // the Euclidean projection of e on the simplex
  kEntmax15,   // entmax with alpha = 1.5, exactly
  kEntmax,     // entmax with any alpha > 1; alpha has a gradient
  kHardmax,    // 1 at the first largest score; no gradient, or that of softmax (straight_through)
  kSigmoid,    // w = sigma(e), each by itself; rows don't sum to 1
  kMonotonic,  // expected monotonic alignment, from the weights of the step before
  kMocha,      // monotonic chunkwise attention
  kLocal,      // softmax within a window around a centre, times a Gaussian (Luong's local-p)
};

// Source   sparsemax: Martins and Astudillo, arXiv 1602.02068v2; entmax: Peters et al.,
//          arXiv 1905.05702v2, with the gradient of alpha of Correia et al., arXiv 1909.00015v2;
//          monotonic: Raffel et al., arXiv 1704.00784v2, eq. 8 to 11 by the recurrence itself;
//          MoChA: Chiu and Raffel, arXiv 1712.05382v2, eq. 16 to 21; local: Luong et al.,
//          arXiv 1508.04025v5, eq. 9 and 10
struct Normalizer {
  NormalizerKind kind = NormalizerKind::kSoftmax;
  float temperature = 1.0f;       // softmax, hardmax straight through, local; > 0
  float alpha = 1.5f;             // entmax; > 1, at most 16
  Index window = 0;               // MoChA: width of a chunk, >= 1; local: half-width D, >= 1
  bool straight_through = false;  // hardmax: backward as softmax

  // State goes from step to step: the weights of the step before.
  bool stateful() const noexcept {
    return kind == NormalizerKind::kMonotonic || kind == NormalizerKind::kMocha;
  }
  // Adding the same number to all live scores of a row changes no weight.
  bool shift_invariant() const noexcept { return kind != NormalizerKind::kSigmoid && !stateful(); }
  // Rows sum to 1.
  bool sums_to_one() const noexcept { return shift_invariant() && kind != NormalizerKind::kLocal; }
  // Backward needs the scores, not the weights alone.
  bool backward_needs_scores() const noexcept {
    return stateful() || kind == NormalizerKind::kLocal ||
           (kind == NormalizerKind::kHardmax && straight_through);
  }
};

// Throws ConfigError where a number is out of its range, naming `function`.
void check_normalizer(const char* function, const Normalizer& normalizer);

// The rows of one block of one sentence. Rows lie `stride` floats apart, a multiple of 16 and at
// least live.keys rounded up to one; what lies beyond live.keys may hold anything.
struct NormalizerRows {
  LiveBlock live;
  Index stride = 0;
  // By row of the block; null where the kind does not read it.
  const float* const* state = nullptr;         // monotonic, MoChA: weights of the step before [S]
  const float* const* chunk_scores = nullptr;  // MoChA: u [S]; null: the scores themselves
  const float* center = nullptr;               // local: p, in positions, one a row
};

// Floats of scratch for one block of `rows` rows of at most `keys` keys.
Index normalizer_scratch(const Normalizer& normalizer, Index rows, Index keys) noexcept;

// In place: scores become weights, 0 where not live and up to the next multiple of 16. A row
// without live keys becomes all 0.
//
// Values   one live key: softmax, sparsemax, entmax, hardmax give exactly 1
// Writes   log_sum_exp [rows] if not null: log sum exp(e / temperature) over live keys, -inf
// without
//          any; softmax and local alone (local: of the window). next_state: by row, null or [S]:
//          monotonic the weights, MoChA the monotonic part (its weights are the chunks')
void normalize_forward(const Normalizer& normalizer, const NormalizerRows& rows, float* scores,
                       float* log_sum_exp, float* const* next_state, float* scratch) noexcept;

// What comes back, and where it goes.
struct NormalizerGradients {
  float* d_scores = nullptr;                   // in: d_weights, out: d_scores; 0 where not live
  const float* weights = nullptr;              // as forward wrote them
  const float* scores = nullptr;               // where backward_needs_scores(); same stride
  const float* const* d_next_state = nullptr;  // by row, [S]; null: none
  float* const* d_state = nullptr;             // by row, accumulates [S]; null: not wanted
  float* const* d_chunk_scores = nullptr;      // likewise
  float* d_center = nullptr;                   // [rows], accumulates
  float* d_alpha = nullptr;                    // [rows], overwritten: each row's part
};
void normalize_backward(const Normalizer& normalizer, const NormalizerRows& rows,
                        const NormalizerGradients& gradients, float* scratch) noexcept;

}  // namespace regard::attention
