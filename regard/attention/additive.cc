#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/additive.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/attention/additive.h"
#include "regard/attention/lanes-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

using attention::AdditiveForm;
using attention::AdditiveKeys;
using attention::AdditiveRows;
using attention::AdditiveVSums;
using attention::RowExtrema;

constexpr float kLargestY = 1073741824.0f;  // 2^30: the product of four factors stays in range

RowExtrema exponentiate_row_impl(const float* x, Index width, Index padded, float* y,
                                 Index chunk_stride) noexcept {
  F16 largest = set(-std::numeric_limits<float>::infinity());
  F16 magnitude = set(0.0f);
  const F16 limit = set(attention::kFactorLimit);
  F16 outside = set(0.0f);  // 1 in a lane that met a value beyond the limit, NaN included
  const F16 one = set(1.0f);
  Index a = 0;
  for (; a < width; a += 16, y += chunk_stride) {
    const int n = static_cast<int>(width - a < 16 ? width - a : 16);
    const F16 v = n == 16 ? load(x + a) : load_n(x + a, n);
    const F16 size = abs(v);
    largest = max(largest, v);
    magnitude = max(magnitude, size);
    outside = map([&](int i) HWY_ATTR {
      return hn::IfThenElse(hn::Le(size.p[i], limit.p[i]), outside.p[i], one.p[i]);
    });
    const F16 e = map([&](int i) HWY_ATTR { return exp_in_range(hn::Add(v.p[i], v.p[i])); });
    if (n < 16) store(set(0.0f), y);
    if (n < 16) {
      store_n(e, y, n);
    } else {
      store(e, y);
    }
  }
  for (; a < padded; a += 16, y += chunk_stride) store(set(0.0f), y);
  return {reduce_max(largest), reduce_max(magnitude), reduce_max(outside) == 0.0f};
}

// Lane sums of n keys against one row: acc[16 n + lane] = sum over the dims of that lane of
// -2 v / (1 + e^(2z)), four dims to a reciprocal.
template <bool kClamp, int kKeys>
HWY_INLINE void score_keys(const float* row, const AdditiveKeys& keys, Index j, float* acc) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V limit = hn::Set(d, kLargestY);
  const Index padded = keys.padded;
  const float* key = keys.exponentials + j * padded;
  for (int part = 0; part < 16; part += kVectorLanes) {
    V sum[kKeys];
    for (int n = 0; n < kKeys; ++n) sum[n] = hn::Zero(d);
    for (Index a = part; a < padded; a += attention::kDimGroup) {
      V q[4], w[4];
      for (int g = 0; g < 4; ++g) {
        q[g] = hn::Load(d, row + a + 16 * g);
        w[g] = hn::Load(d, keys.minus_two_v + a + 16 * g);
      }
      for (int n = 0; n < kKeys; ++n) {
        V x[4];
        for (int g = 0; g < 4; ++g) {
          x[g] = fma(q[g], hn::Load(d, key + n * padded + a + 16 * g), one);
          if (kClamp) x[g] = hn::Min(x[g], limit);
        }
        const V x01 = hn::Mul(x[0], x[1]);
        const V x23 = hn::Mul(x[2], x[3]);
        const V n01 = fma(w[0], x[1], hn::Mul(w[1], x[0]));
        const V n23 = fma(w[2], x[3], hn::Mul(w[3], x[2]));
        const V top = fma(n01, x23, hn::Mul(n23, x01));
        sum[n] = fma(top, reciprocal(hn::Mul(x01, x23)), sum[n]);
      }
    }
    for (int n = 0; n < kKeys; ++n) hn::Store(sum[n], d, acc + 16 * n + part);
  }
}

template <bool kClamp>
HWY_INLINE void score_tile(const float* row, const AdditiveKeys& keys, Index first, int count,
                           float* acc) {
  int j = 0;
  for (; j + 4 <= count; j += 4) score_keys<kClamp, 4>(row, keys, first + j, acc + 16 * j);
  for (; j < count; ++j) score_keys<kClamp, 1>(row, keys, first + j, acc + 16 * j);
}

// Sixteen floats of a row, zero beyond its end.
HWY_INLINE F16 load_chunk(const float* x, Index width, Index a) {
  return width - a >= 16 ? load(x + a) : load_n(x + a, static_cast<int>(width - a));
}

HWY_INLINE void score_tile_directly(const float* row, const AdditiveKeys& keys, Index first,
                                    int count, float* acc) {
  for (int j = 0; j < count; ++j) {
    const float* key = keys.raw + (first + j) * keys.raw_stride;
    F16 sum = set(0.0f);
    for (Index a = 0; a < keys.width; a += 16) {
      const F16 z = add(load_chunk(row, keys.width, a), load_chunk(key, keys.width, a));
      sum = fma(load(keys.v + a), tanh(z), sum);
    }
    store(sum, acc + 16 * j);
  }
}

// Sixteen keys at a time, so that they stay in the first cache while the rows pass.
void additive_scores_impl(const AdditiveKeys& keys, const AdditiveRows& rows, float* scores,
                          Index stride) noexcept {
  alignas(64) float acc[256];
  for (Index first = 0; first < keys.count; first += 16) {
    const int count = static_cast<int>(keys.count - first < 16 ? keys.count - first : 16);
    for (int n = count; n < 16; ++n) store(set(0.0f), acc + 16 * n);
    for (Index i = 0; i < rows.count; ++i) {
      const float* row = rows.exponentials + i * keys.padded;
      switch (attention::forward_form(keys, rows.extrema[i])) {
        case AdditiveForm::kFactored:
          score_tile<false>(row, keys, first, count, acc);
          break;
        case AdditiveForm::kClamped:
          score_tile<true>(row, keys, first, count, acc);
          break;
        case AdditiveForm::kDirect:
          score_tile_directly(rows.raw[i], keys, first, count, acc);
          break;
      }
      sum_sixteen_rows(acc, scores + i * stride + first);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(exponentiate_row_impl);
REGARD_DISPATCH_TABLE(additive_scores_impl);

namespace attention {

RowExtrema exponentiate_row(const float* x, Index width, Index padded, float* y,
                            Index chunk_stride) noexcept {
  return REGARD_DISPATCH(exponentiate_row_impl)(x, width, padded, y, chunk_stride);
}
void additive_scores(const AdditiveKeys& keys, const AdditiveRows& rows, float* scores,
                     Index stride) noexcept {
  REGARD_DISPATCH(additive_scores_impl)(keys, rows, scores, stride);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
