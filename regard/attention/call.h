// What the forward and backward drivers share: the checks of a call, and a block of rows on its way
// from scores to weights.
//
// Internal.
#pragma once

#include "regard/attention/score_block.h"
#include "regard/attention/scored_query.h"
#include "regard/attention/softmax.h"

namespace regard::attention {

// The extents of queries and values against the keys, and everything that is read by row.
void check_call(const char* function, const PreparedKeys& keys, ConstMatrix values,
                const QueryRows& queries);

// Temporary memory of one worker for one block of rows; rows lie `stride` floats apart.
struct BlockScratch {
  ScoreScratch score;
  float* scores = nullptr;   // as the normaliser reads them
  float* capped = nullptr;   // before the bias, where there is a cap and backward asks for them
  float* weights = nullptr;  // before dropout
  float* dropped = nullptr;  // after it; without dropout the same memory
  Index stride = 0;
  float* normalizer = nullptr;
  BlockLive live;
  float shift[kRowBlock] = {};  // what the block's scores lack: the sum of v, or 0
  float log_sum_exp[kRowBlock] = {};
  const float* state[kRowBlock] = {};
  const float* chunk_scores[kRowBlock] = {};
  float center[kRowBlock] = {};
};
// `backward`: scores, capped scores and weights are kept apart.
BlockScratch make_block_scratch(const PreparedKeys& keys, Index rows, bool backward, Arena& arena);

// The block's rows for the normaliser.
NormalizerRows normalizer_rows(const HeadCall& call, const RowBlock& block,
                               BlockScratch& scratch) noexcept;

// score, scale, cap, add the bias: scratch.scores. `raw_scores` [R N, S] gets them before the bias,
// null: not wanted.
void block_scores(const HeadCall& call, const RowBlock& block, BlockScratch& scratch,
                  Matrix raw_scores) noexcept;

// The part of dropout that block_scores and the normaliser have left: scratch.dropped.
void drop_weights(const HeadCall& call, const RowBlock& block, BlockScratch& scratch) noexcept;
// d *= the same masks.
void drop_gradients(const HeadCall& call, const RowBlock& block, float* d, Index stride) noexcept;

// The key and position of a row's dropout mask; units are keys.
struct DropPlace {
  std::uint64_t key;
  std::uint32_t position;
};
DropPlace drop_place(const HeadCall& call, const RowBlock& block, Index i) noexcept;

// e = cap tanh(e / cap), and d *= 1 - (e / cap)^2 where d is not 0 (masked scores may be anything).
void cap_scores(float cap, const ScoreBlock& scores) noexcept;
void uncap_gradients(float cap, const float* capped, const ScoreBlock& d_scores) noexcept;

// Columns of one head in a matrix of values or contexts.
struct HeadColumns {
  Index first = 0;
  Index width = 0;
};
inline HeadColumns value_columns(const PreparedKeys& keys, Index head, Index value_width) {
  const Index width = value_width / keys.attention.heads;
  return {head * width, width};
}

}  // namespace regard::attention
