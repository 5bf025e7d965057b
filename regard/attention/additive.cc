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
  const D d;
  const DI di;
  // Magnitudes are compared as integers, where NaN is above infinity. A hardware maximum may return
  // either zero and loses NaN: the sign of zero changes no comparison, and a row with NaN is out of
  // range.
  V largest[kParts];
  hn::Vec<DI> magnitude[kParts];
  for (int i = 0; i < kParts; ++i) {
    largest[i] = hn::Set(d, -std::numeric_limits<float>::infinity());
    magnitude[i] = hn::Zero(di);
  }
  const auto sixteen = [&](const F16& v) HWY_ATTR {
    return map([&](int i) HWY_ATTR {
      largest[i] = hn::Max(largest[i], v.p[i]);
      magnitude[i] = hn::Max(magnitude[i], hn::BitCast(di, hn::Abs(v.p[i])));
      return exp_in_range(hn::Add(v.p[i], v.p[i]));
    });
  };
  Index a = 0;
  for (; a + 16 <= width; a += 16, y += chunk_stride) store(sixteen(load(x + a)), y);
  if (a < width) {
    const int rest = static_cast<int>(width - a);
    store(set(0.0f), y);
    store_n(sixteen(load_n(x + a, rest)), y, rest);
    a += 16;
    y += chunk_stride;
  }
  for (; a < padded; a += 16, y += chunk_stride) store(set(0.0f), y);
  alignas(64) float lane_largest[16];
  alignas(64) std::int32_t lane_magnitude[16];
  for (int i = 0; i < kParts; ++i) {
    hn::Store(largest[i], d, lane_largest + i * kVectorLanes);
    hn::Store(magnitude[i], di, lane_magnitude + i * kVectorLanes);
  }
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      if (lane_largest[i] < lane_largest[i + half]) lane_largest[i] = lane_largest[i + half];
      if (lane_magnitude[i] < lane_magnitude[i + half])
        lane_magnitude[i] = lane_magnitude[i + half];
    }
  }
  float size;
  std::memcpy(&size, lane_magnitude, sizeof(size));
  return {lane_largest[0], size, size <= attention::kFactorLimit};
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
      // Two keys side by side, so that one's reciprocal fills the other's waits.
      constexpr int kPair = kKeys > 1 ? 2 : 1;
      for (int first = 0; first < kKeys; first += kPair) {
        V x[kPair][4], bottom[kPair], top[kPair];
        for (int n = 0; n < kPair; ++n) {
          for (int g = 0; g < 4; ++g) {
            x[n][g] = fma(q[g], hn::Load(d, key + (first + n) * padded + a + 16 * g), one);
            if (kClamp) x[n][g] = hn::Min(x[n][g], limit);
          }
        }
        for (int n = 0; n < kPair; ++n) {
          const V x01 = hn::Mul(x[n][0], x[n][1]);
          const V x23 = hn::Mul(x[n][2], x[n][3]);
          bottom[n] = hn::Mul(x01, x23);
          const V n01 = fma(w[0], x[n][1], hn::Mul(w[1], x[n][0]));
          const V n23 = fma(w[2], x[n][3], hn::Mul(w[3], x[n][2]));
          top[n] = fma(n01, x23, hn::Mul(n23, x01));
        }
        for (int n = 0; n < kPair; ++n)
          sum[first + n] = fma(top[n], reciprocal(bottom[n]), sum[first + n]);
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
