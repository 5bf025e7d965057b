// Softmax over keys that come tile by tile: the largest score so far and the sum of exponentials
// are kept, and what was summed under a smaller largest score is scaled down when a larger comes.
//
// Source   Milakov and Gimelshein, arXiv 1805.02867v2, algorithm 3
//
// Internal: nothing checked. Rows of a tile lie `stride` floats apart, a multiple of 16; what lies
// between the tile's keys and the next multiple of 16 may hold anything.
#pragma once

#include "regard/attention/mask.h"
#include "regard/attention/row_blocks.h"

namespace regard::attention {

struct SoftmaxRows {
  float largest[kRowBlock];                 // -inf before the first live key
  float rescale[kRowBlock];                 // what sums from before the last tile are multiplied by
  float sum[kRowBlock];                     // made by finish_softmax
  alignas(64) float lanes[16 * kRowBlock];  // sixteen partial sums a row
};
void begin_softmax(SoftmaxRows& rows) noexcept;

// scores [live.rows, tile] become exp(e - largest), 0 where not live.
void softmax_tile(const LiveBlock& live, Index first, Index count, float* scores, Index stride,
                  SoftmaxRows& rows) noexcept;
// The sums of the lanes.
void finish_softmax(Index count, SoftmaxRows& rows) noexcept;

// scores become weights, exp(e - largest) / sum, 0 where not live.
void weigh_tile(const LiveBlock& live, Index first, Index count, float* scores, Index stride,
                const SoftmaxRows& rows) noexcept;
// The same from what softmax_tile left, when that was the only tile.
void divide_tile(const LiveBlock& live, Index first, Index count, float* exponentials, Index stride,
                 const SoftmaxRows& rows) noexcept;

// d[i][j] = weights[i][j] (d[i][j] - delta[i]), 0 where the weight is 0 of a masked key.
void softmax_tile_backward(const LiveBlock& live, Index first, Index count, const float* weights,
                           const float* delta, float* d, Index stride) noexcept;

// x . y: sixteen partial sums, then the fixed tree.
float dot_row(const float* x, const float* y, Index count) noexcept;
// The same as one chain of multiply-adds, as a product of kernels/gemm.h does it.
float dot_chain(const float* x, const float* y, Index count) noexcept;
// largest + log(sum).
float add_log(float largest, float sum) noexcept;

// row[n] *= factor.
void scale_row(float* row, Index width, float factor) noexcept;

}  // namespace regard::attention
