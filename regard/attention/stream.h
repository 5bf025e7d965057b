// Products under softmax, tile by tile of the keys: neither scores nor weights of a row are ever
// whole, forward or backward.
//
// Source   Dao et al., arXiv 2205.14135v2, and Dao, arXiv 2307.08691v1; with masks, biases, cap and
//          dropout inside, and the same tiles whatever the call
//
// Internal.
#pragma once

#include "regard/attention/score_block.h"
#include "regard/attention/softmax_tile.h"

namespace regard::attention {

// Keys of a tile: a multiple of kKeyTile.
constexpr Index kStreamTile = kWeightTileStride;

// Temporary memory of one worker.
struct StreamScratch {
  ScoreScratch score;
  ConstMatrix query;  // of the block, [count, width]
  BlockLive live;
  SoftmaxRows softmax;
  float* scores = nullptr;   // [kRowBlock, kStreamTile], then exponentials or weights
  float* dropped = nullptr;  // after dropout; without it the same memory
  float* context = nullptr;  // [kRowBlock, value_stride]
  Index value_stride = 0;
  // Backward.
  float* capped = nullptr;     // scores before the bias, with a cap
  float* d_scores = nullptr;   // [kRowBlock, kStreamTile]
  float* d_context = nullptr;  // [kRowBlock, value_stride]
  float* d_query = nullptr;    // [kRowBlock, padded width]
  // The values of one sentence and head in panels of 16 keys, kept while blocks of them follow.
  float* value_panels = nullptr;
  Index panels_sentence = -1, panels_head = -1;
  float delta[kRowBlock];  // sum_j w_ij g_ij
};
StreamScratch make_stream_scratch(const PreparedKeys& keys, ConstMatrix values, Index rows,
                                  bool backward, Arena& arena);

// What attend_forward writes for one head and a block whose sentence is not empty.
void stream_forward(const HeadCall& call, ConstMatrix values, const RowBlock& block,
                    const AttentionOutputs& out, StreamScratch& scratch) noexcept;

struct StreamGradients {
  Matrix d_query;  // as scored; may be null
  KeyGradients* sums = nullptr;
  BiasGradients bias;
};
void stream_backward(const HeadCall& call, ConstMatrix values, const RowBlock& block,
                     const BackwardInputs& in, const StreamGradients& gradients,
                     StreamScratch& scratch) noexcept;

}  // namespace regard::attention
