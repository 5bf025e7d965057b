#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/normalizer_rows.cc"
#include <cmath>

#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/normalizer_lanes-inl.h"
#include "regard/attention/normalizer_rows.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::ChunkGradients;
using attention::ChunkRow;

void sigmoid_row_impl(float* row, Index n) noexcept {
  for (Index j = 0; j < n; j += 16) store(logistic(load(row + j)), row + j);
}

void sigmoid_row_backward_impl(float* d, const float* weights, Index n) noexcept {
  const F16 one = set(1.0f);
  for (Index j = 0; j < n; j += 16) {
    const F16 w = load(weights + j);
    store(mul(load(d + j), mul(w, sub(one, w))), d + j);
  }
}

void hardmax_row_impl(float* row, Index n) noexcept {
  const float top = largest_of(row, n);
  const F16 shift = set(top);
  F16 check = set(0.0f);  // NaN where softmax's row is: of NaN, and of inf - inf
  Index first = -1;
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 below = only(sub(load(row + j), shift), lanes, -1.0f);
    check = add(check, below);
    for (Index i = j; first < 0 && i < n && i < j + 16; ++i) {
      if (row[i] == top) first = i;
    }
  });
  const float sum = reduce_add(check);
  const F16 rest = set(sum == sum ? 0.0f : sum);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR { store(only(rest, lanes, 0.0f), row + j); });
  if (sum == sum) row[first] = 1.0f;
}

HWY_INLINE F16 gaussian(const F16& offset, const F16& factor) {
  return exp(mul(mul(offset, offset), factor));
}

void gaussian_row_impl(float* row, const float* offsets, Index n, float half_width) noexcept {
  const F16 factor = set(-2.0f / (half_width * half_width));
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 w = mul(load(row + j), gaussian(load(offsets + j), factor));
    store(only(w, lanes, 0.0f), row + j);
  });
}

float gaussian_row_backward_impl(float* d, const float* soft, const float* offsets, Index n,
                                 float half_width) noexcept {
  const F16 factor = set(-2.0f / (half_width * half_width));
  F16 sum = set(0.0f);
  for_padded(n, [&](Index j, auto lanes) HWY_ATTR {
    const F16 offset = load(offsets + j);
    const F16 g = only(mul(load(d + j), gaussian(offset, factor)), lanes, 0.0f);
    sum = fma(mul(g, load(soft + j)), offset, sum);
    store(g, d + j);
  });
  return reduce_add(sum) * (4.0f / (half_width * half_width));
}

// A block of chunks: fn(o) for each offset 0 to width - 1.
void chunk_sums_impl(const ChunkRow& row, const float* u, float* top, float* total) noexcept {
  for (Index k = 0; k < row.n; k += 16) {
    F16 largest = load(u + k);
    for (Index o = 1; o < row.width; ++o) largest = max(largest, load(u + k - o));
    F16 sum = set(0.0f);
    for (Index o = 0; o < row.width; ++o) sum = add(sum, exp(sub(load(u + k - o), largest)));
    store(largest, top + k);
    store(sum, total + k);
  }
}

void chunk_weights_impl(const ChunkRow& row, const float* u, const float* top, const float* r,
                        float* weights) noexcept {
  for (Index j = 0; j < row.n; j += 16) {
    const F16 own = load(u + j);
    F16 sum = set(0.0f);
    for (Index o = 0; o < row.width; ++o) {
      sum = fma(load(r + j + o), exp(sub(own, load(top + j + o))), sum);
    }
    store(sum, weights + j);
  }
}

void chunk_means_impl(const ChunkRow& row, const float* u, const float* top, const float* total,
                      const float* d_weights, float* c) noexcept {
  for (Index k = 0; k < row.n; k += 16) {
    const F16 largest = load(top + k);
    F16 sum = set(0.0f);
    for (Index o = 0; o < row.width; ++o) {
      sum = fma(exp(sub(load(u + k - o), largest)), load(d_weights + k - o), sum);
    }
    store(div(sum, load(total + k)), c + k);
  }
}

void chunk_backward_impl(const ChunkRow& row, const ChunkGradients& g, float* d) noexcept {
  for (Index l = 0; l < row.n; l += 16) {
    const F16 own = load(g.u + l), d_w = load(d + l);
    F16 sum = set(0.0f);
    for (Index o = 0; o < row.width; ++o) {
      const F16 part = mul(load(g.r + l + o), exp(sub(own, load(g.top + l + o))));
      sum = fma(part, sub(d_w, load(g.c + l + o)), sum);
    }
    store(sum, d + l);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(sigmoid_row_impl);
REGARD_DISPATCH_TABLE(sigmoid_row_backward_impl);
REGARD_DISPATCH_TABLE(hardmax_row_impl);
REGARD_DISPATCH_TABLE(gaussian_row_impl);
REGARD_DISPATCH_TABLE(gaussian_row_backward_impl);
REGARD_DISPATCH_TABLE(chunk_sums_impl);
REGARD_DISPATCH_TABLE(chunk_weights_impl);
REGARD_DISPATCH_TABLE(chunk_means_impl);
REGARD_DISPATCH_TABLE(chunk_backward_impl);

namespace attention {

void sigmoid_row(float* row, Index n) noexcept { REGARD_DISPATCH(sigmoid_row_impl)(row, n); }
void sigmoid_row_backward(float* d, const float* weights, Index n) noexcept {
  REGARD_DISPATCH(sigmoid_row_backward_impl)(d, weights, n);
}
void hardmax_row(float* row, Index n) noexcept { REGARD_DISPATCH(hardmax_row_impl)(row, n); }
void gaussian_row(float* row, const float* offsets, Index n, float half_width) noexcept {
  REGARD_DISPATCH(gaussian_row_impl)(row, offsets, n, half_width);
}
float gaussian_row_backward(float* d, const float* soft, const float* offsets, Index n,
                            float half_width) noexcept {
  return REGARD_DISPATCH(gaussian_row_backward_impl)(d, soft, offsets, n, half_width);
}
void chunk_sums(const ChunkRow& row, const float* u, float* top, float* total) noexcept {
  REGARD_DISPATCH(chunk_sums_impl)(row, u, top, total);
}
void chunk_weights(const ChunkRow& row, const float* u, const float* top, const float* r,
                   float* weights) noexcept {
  REGARD_DISPATCH(chunk_weights_impl)(row, u, top, r, weights);
}
void chunk_means(const ChunkRow& row, const float* u, const float* top, const float* total,
                 const float* d_weights, float* c) noexcept {
  REGARD_DISPATCH(chunk_means_impl)(row, u, top, total, d_weights, c);
}
void chunk_backward(const ChunkRow& row, const ChunkGradients& g, float* d) noexcept {
  REGARD_DISPATCH(chunk_backward_impl)(row, g, d);
}

// The recurrences wait for themselves, key by key: plain code, the same on every target.
namespace {
// What halves with every key becomes subnormal, which costs a hundred cycles an operation, and
// then nothing; it becomes nothing a little earlier.
constexpr float kNothing = 0x1p-100f;

float next_q(float passed, float q, const float* state, Index j) {
  const float sum = passed * q + (state != nullptr ? state[j] : j == 0 ? 1.0f : 0.0f);
  return std::fabs(sum) < kNothing ? 0.0f : sum;
}
}  // namespace

void monotonic_row(float* p, const float* state, Index n) noexcept {
  float q = 0.0f, passed = 0.0f;
  for (Index j = 0; j < n; ++j) {
    q = next_q(passed, q, state, j);
    passed = 1.0f - p[j];
    p[j] *= q;
  }
}

void monotonic_row_backward(float* d, const float* p, const float* state, Index n, float* d_state,
                            float* q) noexcept {
  for (Index j = 0; j < n; ++j) {
    q[j] = j == 0 ? next_q(0.0f, 0.0f, state, 0) : next_q(1.0f - p[j - 1], q[j - 1], state, j);
  }
  float r = 0.0f;
  for (Index j = n - 1; j >= 0; --j) {
    const float g = d[j];
    d[j] = (g - r) * q[j] * (p[j] * (1.0f - p[j]));
    r = g * p[j] + (1.0f - p[j]) * r;
    if (d_state != nullptr) d_state[j] += r;
  }
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
