// The query side of a score before the loop over keys: projections, the bias of the additive layer,
// unit length; and v with its weight normalisation. Each with its way back.
//
// Internal.
#pragma once

#include "regard/attention/prepared_keys.h"

namespace regard::attention {

// The queries as the kernels compare them with the keys, [R, N width].
struct ScoredQuery {
  ConstMatrix rows;
  const float* norms = nullptr;  // cosine: 1 / |q| [R, N]
  bool changed = false;          // `rows` is not the caller's query
};
ScoredQuery score_query(const PreparedKeys& keys, ConstMatrix query, Arena& arena);

// From the gradient of what score_query made to those of query, w and b; only where `changed`.
void score_query_backward(const PreparedKeys& keys, ConstMatrix query, const ScoredQuery& scored,
                          ConstMatrix d_scored, const ScoreGradients& gradients, Arena& arena);

// From the gradient of g v / |v| [N A] (short of the scale) to those of v and g.
void effective_v_backward(const Score& score, const float* d_effective,
                          const ScoreGradients& gradients) noexcept;

// `rows` as the product with their gradients `d` takes them: a row without gradient may be masked
// and hold anything, and counts as 0.
ConstMatrix rows_with_gradient(ConstMatrix rows, ConstMatrix d, Arena& arena);

}  // namespace regard::attention
