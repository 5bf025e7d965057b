// The one matrix product of the project. Every output element is one chain of fused multiply-adds
// over k in index order, c = fma(a[k], b[k], c), whatever the tile, the vector width, the number of
// rows or the threads: a row's bits depend neither on its neighbours nor on the processor.
#pragma once

#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard {

// B [K,N] in panels of 16 columns: panel p holds columns 16 p to 16 p + 15 as [K][16] floats
// (columns beyond N are zero), and starts p * panel_stride(K) floats after the first. The same on
// every processor.
struct PackedMatrix {
  const float* data = nullptr;
  Index k = 0;
  Index n = 0;
};

constexpr Index panel_stride(Index k) { return k * 16 + 16; }
constexpr Index packed_size(Index k, Index n) { return (n + 15) / 16 * panel_stride(k); }

// Writes B [K,N], row-major, into `out` (packed_size(K, N) floats).
PackedMatrix pack(ConstMatrix b, float* out) noexcept;
// The same from B^T [N,K], row-major: weights are stored [out, in], so this packs W for y = x W^T.
PackedMatrix pack_transposed(ConstMatrix b_transposed, float* out) noexcept;

// Where the chain of each output element starts.
enum class ChainStart {
  kZero,      // c = 0
  kBias,      // c[i,j] = bias[j]
  kContinue,  // the value that C holds
};

// C [M,N] = start + A [M,K] B [K,N].
//
// Shapes   a [M,K], b packed [K,N], c [M,N]; bias [N], read only with kBias
// Values   M, N or K may be 0; K = 0 leaves the start value. NaN and Inf propagate
// Writes   c only, all of it; c may not alias a, b or bias
// Threads  safe at once on different outputs; takes 320 KiB of stack
// Cost     2 M N K flops
void gemm(ConstMatrix a, const PackedMatrix& b, ChainStart start, ConstVector bias,
          Matrix c) noexcept;

// C [M,N] = start + A^T B for A [K,M], B [K,N], both row-major: weight gradients (d_W += d_y^T x
// has A = d_y, B = x). In this and the next two, the start is kZero or kContinue, and the workspace
// (B packed, some rows of A packed) comes from the arena and is given back before return.
void gemm_at_b(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena);

// C [M,N] = start + A B for A [M,K], B [K,N] row-major, packed in the call.
void gemm_a_b(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena);

// C [M,N] = start + A B^T for A [M,K], B [N,K] row-major, packed in the call.
void gemm_a_bt(ConstMatrix a, ConstMatrix b, ChainStart start, Matrix c, Arena& arena);

}  // namespace regard
