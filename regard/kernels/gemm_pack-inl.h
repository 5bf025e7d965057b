// Packing for the matrix product: B into panels of 16 columns, A into tiles [k][rows].
//
// Per-target header: included again for each target, hence the toggle instead of `#pragma once`.
#if defined(REGARD_KERNELS_GEMM_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef REGARD_KERNELS_GEMM_PACK_INL_H_
#undef REGARD_KERNELS_GEMM_PACK_INL_H_
#else
#define REGARD_KERNELS_GEMM_PACK_INL_H_
#endif

#include <cstring>

#include "regard/kernels/gemm.h"
#include "regard/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// Four floats of each of kVectorLanes rows, as the 128-bit blocks {0, 4, 8, 12}, {1, 5, 9, 13}, ...
// of four vectors; transposed inside the blocks they become four columns of kVectorLanes rows.
template <class DV>
HWY_INLINE hn::Vec<DV> load_blocks(DV d, const float* const* rows, Index k) {
  if constexpr (hn::MaxLanes(DV()) == 4) {
    return hn::LoadU(d, rows[0] + k);
  } else {
    const hn::Half<DV> half;
    return hn::Combine(d, load_blocks(half, rows + hn::MaxLanes(half), k),
                       load_blocks(half, rows, k));
  }
}

// out[i * out_stride + r] = rows[r][k + i], i < 4, r < kVectorLanes.
HWY_INLINE void transpose_4(const float* const* rows, Index k, float* out, Index out_stride) {
  const D d;
  const V r0 = load_blocks(d, rows, k), r1 = load_blocks(d, rows + 1, k);
  const V r2 = load_blocks(d, rows + 2, k), r3 = load_blocks(d, rows + 3, k);
  const V low02 = hn::InterleaveLower(d, r0, r2), low13 = hn::InterleaveLower(d, r1, r3);
  const V up02 = hn::InterleaveUpper(d, r0, r2), up13 = hn::InterleaveUpper(d, r1, r3);
  hn::StoreU(hn::InterleaveLower(d, low02, low13), d, out);
  hn::StoreU(hn::InterleaveUpper(d, low02, low13), d, out + out_stride);
  hn::StoreU(hn::InterleaveLower(d, up02, up13), d, out + 2 * out_stride);
  hn::StoreU(hn::InterleaveUpper(d, up02, up13), d, out + 3 * out_stride);
}
#endif

// A tile of A: out[k * count + r] = a[r * stride + k] for count <= kVectorLanes rows. May write up
// to 16 floats beyond the tile.
HWY_INLINE void pack_rows(const float* a, Index stride, Index count, Index k_count, float* out) {
  Index k = 0;
#if HWY_TARGET != HWY_SCALAR
  const float* rows[kVectorLanes];
  for (Index r = 0; r < kVectorLanes; ++r) rows[r] = a + std::min(r, count - 1) * stride;
  for (; k + 4 <= k_count; k += 4) transpose_4(rows, k, out + k * count, count);
#endif
  for (; k < k_count; ++k) {
    for (Index r = 0; r < count; ++r) out[k * count + r] = a[r * stride + k];
  }
}

// One row of a tile of A^T: `count` floats, where `readable` >= count exist. May write up to 16
// floats beyond.
HWY_INLINE void pack_row_of_columns(const float* a, Index readable, Index count, float* out) {
  if (count <= kVectorLanes && readable >= kVectorLanes) {
    hn::StoreU(hn::LoadU(D(), a), D(), out);
  } else {
    for (Index r = 0; r < count; ++r) out[r] = a[r];
  }
}

// One panel of B from `width` columns of a row-major matrix.
HWY_INLINE void pack_panel(const float* b, Index stride, Index width, Index k_count, float* panel) {
  if (width == 16) {
    for (Index k = 0; k < k_count; ++k) store(load(b + k * stride), panel + k * 16);
  } else {
    const int n = static_cast<int>(width);
    for (Index k = 0; k < k_count; ++k) store(load_n(b + k * stride, n), panel + k * 16);
  }
}

// One panel of B from `width` rows of B^T.
HWY_INLINE void pack_panel_transposed(const float* b, Index stride, Index width, Index k_count,
                                      float* panel) {
  Index k = 0;
#if HWY_TARGET != HWY_SCALAR
  if (width == 16) {
    const float* rows[16];
    for (Index r = 0; r < 16; ++r) rows[r] = b + r * stride;
    for (; k + 4 <= k_count; k += 4) {
      for (int r = 0; r < 16; r += kVectorLanes) {
        transpose_4(rows + r, k, panel + k * 16 + r, 16);
      }
    }
  }
#endif
  for (; k < k_count; ++k) {
    for (Index r = 0; r < 16; ++r) panel[k * 16 + r] = r < width ? b[r * stride + k] : 0.0f;
  }
}

// All of B. The gap between panels is never used, but a file of packed weights must not hold
// rubbish.
void pack_impl(const ConstMatrix& b, float* out) noexcept {
  const Index stride = panel_stride(b.rows);
  for (Index j = 0; j < b.cols; j += 16, out += stride) {
    const float* columns = b.rows == 0 ? nullptr : b.data + j;  // no offset from a null pointer
    pack_panel(columns, b.stride, std::min<Index>(16, b.cols - j), b.rows, out);
    store(set(0.0f), out + b.rows * 16);
  }
}

void pack_transposed_impl(const ConstMatrix& b, float* out) noexcept {
  const Index stride = panel_stride(b.cols);
  for (Index j = 0; j < b.rows; j += 16, out += stride) {
    pack_panel_transposed(b.row(j), b.stride, std::min<Index>(16, b.rows - j), b.cols, out);
    store(set(0.0f), out + b.cols * 16);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#endif  // toggle
