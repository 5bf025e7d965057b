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

// Row blocks of a sentence that go through the tiles together: what a tile costs to fetch is then
// paid once for all of them.
constexpr Index kStreamBlocks = 4;

// What one row block keeps from tile to tile.
struct StreamRows {
  const RowBlock* block = nullptr;
  float* query_memory = nullptr;  // [kRowBlock, width]
  ConstMatrix query;              // [count, width]
  BlockLive live;
  SoftmaxRows softmax;
  float* context = nullptr;  // [kRowBlock, value_stride]
  int tiles = 0;             // that it has seen
  // Backward.
  float* d_context = nullptr;     // [kRowBlock, value_stride]
  float* padded_query = nullptr;  // [kRowBlock, padded width]
  float* d_query = nullptr;       // the same
  float delta[kRowBlock];         // sum_j w_ij g_ij
  bool one_key[kRowBlock];        // no score of the row has an effect
};

// A tile of keys or values, copied side by side.
struct TileCopy {
  float* data = nullptr;
  Index first = -1;  // key of the tile that it holds
};

// Temporary memory of one worker.
struct StreamScratch {
  StreamRows rows[kStreamBlocks];
  Index value_stride = 0;
  float* scores = nullptr;   // [kRowBlock, kStreamTile], then exponentials or weights
  float* dropped = nullptr;  // after dropout; without it the same memory
  TileCopy near_values, near_keys;
  // Backward.
  float* capped = nullptr;    // scores before the bias, with a cap
  float* d_scores = nullptr;  // [kRowBlock, kStreamTile]
  // The values of one sentence and head in panels of 16 keys, kept while blocks of them follow.
  float* value_panels = nullptr;
  Index panels_sentence = -1, panels_head = -1;
};
StreamScratch make_stream_scratch(const PreparedKeys& keys, ConstMatrix values, Index rows,
                                  bool backward, Arena& arena);

// How many blocks, from this one on, go together. 0: it goes with an earlier one.
Index stream_blocks(const RowBlock* block, const RowBlock* end) noexcept;

// What attend_forward writes for one head and some blocks of one sentence that is not empty.
struct StreamBlocks {
  const RowBlock* data = nullptr;
  Index count = 0;
};
void stream_forward(const HeadCall& call, ConstMatrix values, const StreamBlocks& blocks,
                    const AttentionOutputs& out, StreamScratch& scratch) noexcept;

struct StreamGradients {
  Matrix d_query;  // as scored; may be null
  KeyGradients* sums = nullptr;
  BiasGradients bias;
};
void stream_backward(const HeadCall& call, ConstMatrix values, const StreamBlocks& blocks,
                     const BackwardInputs& in, const StreamGradients& gradients,
                     StreamScratch& scratch) noexcept;

}  // namespace regard::attention
