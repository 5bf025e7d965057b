#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/embedding.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/embedding.h"
#include "regard/kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

void embedding_backward_impl(ConstMatrix d_y, const std::int32_t* ids, Matrix d_table) noexcept {
  for (Index r = 0; r < d_y.rows; ++r) add_row(d_y.row(r), d_table.row(ids[r]), d_y.cols);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace regard {
REGARD_DISPATCH_TABLE(embedding_backward_impl);

void embedding_forward(ConstMatrix table, const std::int32_t* ids, Matrix y) noexcept {
  for (Index r = 0; r < y.rows; ++r) {
    REGARD_ASSERT(ids[r] >= 0 && ids[r] < table.rows);
    std::copy_n(table.row(ids[r]), y.cols, y.row(r));
  }
}
void embedding_backward(ConstMatrix d_y, const std::int32_t* ids, Matrix d_table) noexcept {
  REGARD_DISPATCH(embedding_backward_impl)(d_y, ids, d_table);
}
}  // namespace regard
#endif  // HWY_ONCE
