// The scores of a block of rows, whatever the kind, and their gradients.
//
// Internal.
#pragma once

#include "regard/attention/live.h"
#include "regard/attention/location.h"
#include "regard/attention/prepared_keys.h"

namespace regard::attention {

// One head of a call.
struct HeadCall {
  const PreparedKeys& keys;
  const QueryRows& queries;
  ConstMatrix query;  // as scored, [R, N width]
  Index head = 0;
  Index query_width = 0;  // of this head's part

  const HeadKeys& head_keys() const noexcept { return keys.head[head]; }
  const float* query_row(Index row) const noexcept { return query.row(row) + head * query_width; }
  // Row of an [R N, ...] matrix.
  Index head_row(Index row) const noexcept { return row * keys.attention.heads + head; }
};

// Temporary memory of one worker.
struct ScoreScratch {
  float* query = nullptr;    // [kRowBlock, padded_width]: exponentials, or gathered rows
  float* d_query = nullptr;  // the same layout; backward alone
  float* live = nullptr;     // [kRowBlock, longest]: backward of the factored scores under a mask
  float* location = nullptr;
  float* no_state = nullptr;  // [longest] zeros: the state at the beginning
  const float* raw[kRowBlock] = {};
  RowExtrema extrema[kRowBlock] = {};
};
ScoreScratch make_score_scratch(const PreparedKeys& keys, Index rows, bool backward, Arena& arena);

// Scores of the live tiles, row i at scores + i * stride, and what they lack: the sum of v, or 0.
void score_block(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                 ScoreScratch& scratch, float* scores, Index stride, float* shift) noexcept;

// The block's queries, copied, zero from their width to `stride`.
void gather_query(const HeadCall& call, const RowBlock& block, float* to, Index stride) noexcept;
// The same, [count, width], where they lie if they lie evenly, else copied to `memory`.
ConstMatrix block_query(const HeadCall& call, const RowBlock& block, float* memory) noexcept;
// Products: scores of the block's queries with the keys of `tile`, which begins at a multiple of
// kKeyTile, at scores.
void product_tile(const HeadCall& call, const RowBlock& block, KeyRange tile, ConstMatrix query,
                  float* scores, Index stride) noexcept;

// Sums over the rows of some sentences, added up at the end in one order for any number of threads.
struct ScoreSums {
  AdditiveVSums v;           // [padded_width] each
  float d_score_sum = 0.0f;  // over the factored rows
  float* d_v = nullptr;      // [padded_width], location kinds
  Matrix d_filters, d_u;     // of this head
};

struct BlockGradients {
  const float* d_scores = nullptr;  // 0 where not live
  Index stride = 0;
  Matrix d_query;  // as scored, [R, N width]; may be null
  KeyGradients* keys = nullptr;
  ScoreSums* sums = nullptr;
  Matrix d_state;  // [R N, S]; may be null
};
void score_block_backward(const HeadCall& call, const RowBlock& block, const BlockLive& live,
                          ScoreScratch& scratch, const BlockGradients& gradients) noexcept;

// Adds the sums of one head to the gradient of v as the kernels use it, short of the scale.
void add_v_sums(const HeadCall& call, const ScoreSums& sums, float* d_effective) noexcept;

}  // namespace regard::attention
