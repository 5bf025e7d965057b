// Rows are cut into blocks whose logits stay in cache: a product writes them, one pass finds the
// largest, one turns them into exponentials and sums them, one makes the gradient in place, and two
// products carry it on. d_w and d_bias are one chain over all rows (the products continue it), so
// no bit depends on the block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/cross_entropy.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/cross_entropy.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

float log_sum_exp_impl(const float* x, Index n) noexcept {
  const float largest = row_max(x, n);
  return largest + log_of(sum_exp(x, n, largest));
}

void log_softmax_rows_impl(Matrix logits) noexcept {
  for (Index r = 0; r < logits.rows; ++r) {
    float* row = logits.row(r);
    const float largest = row_max(row, logits.cols);
    const F16 shift = set(largest);
    const F16 log_sum = set(log_of(sum_exp(row, logits.cols, largest)));
    for_blocks(logits.cols, [&](Index j, auto block) HWY_ATTR {
      store(sub(sub(load(row + j, block), shift), log_sum), row + j, block);
    });
  }
}

// sum_j (x[j] - shift).
HWY_INLINE float sum_shifted(const float* x, Index n, float shift) {
  const F16 s = set(shift);
  F16 sum = set(0.0f);
  for_blocks(
      n, [&](Index j, auto block) HWY_ATTR { sum = add(sum, sub(load(x + j, block, shift), s)); });
  return reduce_add(sum);
}

// The loss of each row; with `gradient`, logits become d_logits.
void cross_entropy_rows_impl(Matrix logits, const std::int32_t* target, float label_smoothing,
                             bool gradient, float* token_log_prob, float* token_loss) noexcept {
  const Index n = logits.cols;
  const float on_target = 1.0f - label_smoothing;
  const float on_all = label_smoothing / static_cast<float>(n);
  for (Index r = 0; r < logits.rows; ++r) {
    float* row = logits.row(r);
    REGARD_ASSERT(target[r] >= 0 && target[r] < n);
    const float largest = row_max(row, n);
    const float target_logit = row[target[r]];
    const float shifted_sum = label_smoothing != 0.0f ? sum_shifted(row, n, largest) : 0.0f;
    const float sum = gradient ? exp_and_sum(row, row, n, largest) : sum_exp(row, n, largest);
    const float log_sum = log_of(sum);
    const float log_prob = target_logit - largest - log_sum;
    token_log_prob[r] = log_prob;
    token_loss[r] = -log_prob;
    if (label_smoothing != 0.0f) {
      const float mean_log_prob = shifted_sum / static_cast<float>(n) - log_sum;
      token_loss[r] = -(on_target * log_prob) - label_smoothing * mean_log_prob;
    }
    if (!gradient) continue;
    const F16 inverse = set(1.0f / sum), spread = set(-on_all);
    for_blocks(n, [&](Index j, auto block) HWY_ATTR {
      store(fma(load(row + j, block), inverse, spread), row + j, block);
    });
    row[target[r]] -= on_target;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "regard/kernels/rows.h"

namespace regard {
namespace {

REGARD_DISPATCH_TABLE(log_sum_exp_impl);
REGARD_DISPATCH_TABLE(log_softmax_rows_impl);
REGARD_DISPATCH_TABLE(cross_entropy_rows_impl);

// About 6 MB of logits: few enough to stay in a shared cache, many enough that reading and writing
// d_w once a block costs little beside the block's products. Blocks of equal size, whole tiles.
Index block_rows(Index rows, Index vocabulary) {
  constexpr Index kLogits = 1536 * 1024, kTile = 16, kMostRows = 2048;
  const Index most = std::clamp(kLogits / std::max<Index>(vocabulary, 1), kTile, kMostRows);
  const Index blocks = (rows + most - 1) / most;
  const Index even = (rows + blocks - 1) / blocks;
  return (even + kTile - 1) / kTile * kTile;
}

}  // namespace

float log_sum_exp(const float* x, Index n) noexcept {
  return REGARD_DISPATCH(log_sum_exp_impl)(x, n);
}

void log_softmax_rows(Matrix logits) noexcept { REGARD_DISPATCH(log_softmax_rows_impl)(logits); }

void linear_cross_entropy(const LinearCrossEntropy& layer, ConstMatrix t,
                          const std::int32_t* target, Vector token_log_prob, Vector token_loss,
                          Matrix d_t, Matrix d_w, Vector d_bias, Arena& arena) {
  if (t.rows == 0) return;
  const bool gradient = layer.w_back.data != nullptr;
  const Index step = std::min(block_rows(t.rows, layer.w.n), t.rows);
  const ArenaScope scope(arena);
  const Matrix block = arena.matrix(step, layer.w.n);
  for (Index first = 0; first < t.rows; first += step) {
    const Index count = std::min(step, t.rows - first);
    const ConstMatrix t_block = t.row_slice(first, count);
    const Matrix logits = block.row_slice(0, count);
    gemm(t_block, layer.w, ChainStart::kBias, layer.bias, logits);
    REGARD_DISPATCH(cross_entropy_rows_impl)
    (logits, target + first, layer.label_smoothing, gradient, token_log_prob.data + first,
     token_loss.data + first);
    if (!gradient) continue;
    if (d_t.data != nullptr) {
      gemm(logits, layer.w_back, ChainStart::kZero, ConstVector(), d_t.row_slice(first, count));
    }
    gemm_at_b(logits, t_block, ChainStart::kContinue, d_w, arena);
    column_sums(logits, d_bias);
  }
}
}  // namespace regard
#endif  // HWY_ONCE
