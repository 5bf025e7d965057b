#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/rows.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/rows-inl.h"
#include "regard/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

void add_rows_impl(ConstMatrix x, Matrix y) noexcept {
  for (Index r = 0; r < x.rows; ++r) add_row(x.row(r), y.row(r), x.cols);
}

void scatter_add_rows_impl(ConstMatrix d_y, const Index* index, Matrix d_x) noexcept {
  for (Index r = 0; r < d_y.rows; ++r) {
    if (index[r] >= 0) add_row(d_y.row(r), d_x.row(index[r]), d_y.cols);
  }
}

// Eight rows at a time, so that a sum is loaded and stored once for eight additions.
void column_sums_impl(ConstMatrix x, Vector sum) noexcept {
  constexpr Index kRows = 8;
  for (Index first = 0; first < x.rows; first += kRows) {
    const Index last = first + kRows < x.rows ? first + kRows : x.rows;
    for_blocks(x.cols, [&](Index j, auto block) HWY_ATTR {
      F16 s = load(sum.data + j, block);
      for (Index r = first; r < last; ++r) s = add(s, load(x.row(r) + j, block));
      store(s, sum.data + j, block);
    });
  }
}

void scale_impl(Matrix x, float factor) noexcept {
  const F16 f = set(factor);
  for (Index r = 0; r < x.rows; ++r) {
    float* row = x.row(r);
    for_blocks(x.cols, [&](Index j, auto block)
                           HWY_ATTR { store(mul(load(row + j, block), f), row + j, block); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>

namespace regard {
REGARD_DISPATCH_TABLE(add_rows_impl);
REGARD_DISPATCH_TABLE(scatter_add_rows_impl);
REGARD_DISPATCH_TABLE(column_sums_impl);
REGARD_DISPATCH_TABLE(scale_impl);

void copy_rows(ConstMatrix x, Matrix y) noexcept {
  if (x.empty()) return;
  if (x.contiguous() && y.contiguous()) {
    std::memcpy(y.data, x.data, sizeof(float) * static_cast<size_t>(x.rows * x.cols));
    return;
  }
  for (Index r = 0; r < x.rows; ++r) std::copy_n(x.row(r), x.cols, y.row(r));
}
void add_rows(ConstMatrix x, Matrix y) noexcept { REGARD_DISPATCH(add_rows_impl)(x, y); }
void gather_rows(ConstMatrix x, const Index* index, Matrix y) noexcept {
  for (Index r = 0; r < y.rows; ++r) {
    if (index[r] >= 0) {
      std::copy_n(x.row(index[r]), y.cols, y.row(r));
    } else {
      std::fill_n(y.row(r), y.cols, 0.0f);
    }
  }
}
void scatter_add_rows(ConstMatrix d_y, const Index* index, Matrix d_x) noexcept {
  REGARD_DISPATCH(scatter_add_rows_impl)(d_y, index, d_x);
}
void column_sums(ConstMatrix x, Vector sum) noexcept { REGARD_DISPATCH(column_sums_impl)(x, sum); }
void fill(Matrix x, float value) noexcept {
  for (Index r = 0; r < x.rows; ++r) std::fill_n(x.row(r), x.cols, value);
}
void scale(Matrix x, float factor) noexcept { REGARD_DISPATCH(scale_impl)(x, factor); }
}  // namespace regard
#endif  // HWY_ONCE
