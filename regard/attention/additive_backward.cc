#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/attention/additive_backward.cc"
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

constexpr float kLargestY = 1073741824.0f;  // 2^30, as forward

// A run of rows of one form and sixteen dims.
struct Chunk {
  const float* rows;  // [count, 16] e^(2q)
  float* d_rows;      // [count, 16]
  Index count;
  const float* d_scores;
  Index stride;
  const float* keys;  // e^(2k), these dims of key 0
  float* d_keys;
  Index padded;
  float* reciprocals;  // [16]
};

// r[n] = 1 / x[n] with one reciprocal for all.
template <int kKeys>
HWY_INLINE void reciprocals(const V* x, V* r) {
  if constexpr (kKeys == 1) {
    r[0] = reciprocal(x[0]);
  } else if constexpr (kKeys == 2) {
    const V all = reciprocal(hn::Mul(x[0], x[1]));
    r[0] = hn::Mul(all, x[1]);
    r[1] = hn::Mul(all, x[0]);
  } else {
    const V x01 = hn::Mul(x[0], x[1]);
    const V x23 = kKeys == 4 ? hn::Mul(x[2], x[kKeys - 1]) : x[2];
    const V all = reciprocal(hn::Mul(x01, x23));
    const V r01 = hn::Mul(all, x23);
    const V r23 = hn::Mul(all, x01);
    r[0] = hn::Mul(r01, x[1]);
    r[1] = hn::Mul(r01, x[0]);
    r[2] = kKeys == 4 ? hn::Mul(r23, x[kKeys - 1]) : r23;
    if (kKeys == 4) r[kKeys - 1] = hn::Mul(r23, x[2]);
  }
}

template <int kKeys>
HWY_INLINE V sum_of(const V* t) {
  if constexpr (kKeys == 1) return t[0];
  if constexpr (kKeys == 2) return hn::Add(t[0], t[1]);
  if constexpr (kKeys == 3) return hn::Add(hn::Add(t[0], t[1]), t[2]);
  if constexpr (kKeys == 4) return hn::Add(hn::Add(t[0], t[1]), hn::Add(t[2], t[3]));
}

// Keys j to j + kKeys - 1 stay in registers while the rows pass. With t = d_e r and u = t r, the
// derivative is u y and y = e^(2q) e^(2k): the plain form sums u e^(2k) for the row and u e^(2q)
// for the key and leaves the other factor to the end; the clamped form needs y itself.
template <bool kClamp, int kKeys>
HWY_INLINE void backward_keys(const Chunk& c, Index j) {
  const D d;
  const V one = hn::Set(d, 1.0f);
  const V limit = hn::Set(d, kLargestY);
  for (int part = 0; part < 16; part += kVectorLanes) {
    V key[kKeys], d_key[kKeys];
    for (int n = 0; n < kKeys; ++n) {
      key[n] = hn::Load(d, c.keys + (j + n) * c.padded + part);
      d_key[n] = hn::Zero(d);
    }
    V sum_r = hn::Load(d, c.reciprocals + part);
    for (Index i = 0; i < c.count; ++i) {
      const float* d_e = c.d_scores + i * c.stride + j;
      const V q = hn::Load(d, c.rows + 16 * i + part);
      V d_q = hn::Load(d, c.d_rows + 16 * i + part);
      V x[kKeys], r[kKeys], t[kKeys];
      for (int n = 0; n < kKeys; ++n) {
        x[n] = fma(q, key[n], one);
        if (kClamp) x[n] = hn::Min(x[n], limit);
      }
      reciprocals<kKeys>(x, r);
      for (int n = 0; n < kKeys; ++n) t[n] = hn::Mul(hn::Set(d, d_e[n]), r[n]);
      sum_r = hn::Add(sum_r, sum_of<kKeys>(t));
      for (int n = 0; n < kKeys; ++n) {
        const V u = hn::Mul(t[n], r[n]);
        if (kClamp) {
          const V uy = hn::Mul(u, hn::Min(hn::Mul(q, key[n]), limit));
          d_q = hn::Add(d_q, uy);
          d_key[n] = hn::Add(d_key[n], uy);
        } else {
          d_q = fma(u, key[n], d_q);
          d_key[n] = fma(u, q, d_key[n]);
        }
      }
      hn::Store(d_q, d, c.d_rows + 16 * i + part);
    }
    hn::Store(sum_r, d, c.reciprocals + part);
    for (int n = 0; n < kKeys; ++n) {
      float* sum = c.d_keys + (j + n) * c.padded + part;
      const V old = hn::Load(d, sum);
      hn::Store(kClamp ? hn::Add(old, d_key[n]) : fma(d_key[n], key[n], old), d, sum);
    }
  }
}

template <bool kClamp>
HWY_INLINE void backward_chunk(const Chunk& c, Index keys) {
  Index j = 0;
  for (; j + 4 <= keys; j += 4) backward_keys<kClamp, 4>(c, j);
  switch (keys - j) {
    case 3:
      backward_keys<kClamp, 3>(c, j);
      break;
    case 2:
      backward_keys<kClamp, 2>(c, j);
      break;
    case 1:
      backward_keys<kClamp, 1>(c, j);
      break;
    default:
      break;
  }
  if (kClamp) return;
  for (Index i = 0; i < c.count; ++i) {
    store(mul(load(c.d_rows + 16 * i), load(c.rows + 16 * i)), c.d_rows + 16 * i);
  }
}

// Sixteen floats of a row, zero beyond its end.
HWY_INLINE F16 load_chunk(const float* x, Index width, Index a) {
  return width - a >= 16 ? load(x + a) : load_n(x + a, static_cast<int>(width - a));
}

// One row with tanh itself: E = e^(-2|z|), (1 - tanh^2) / 4 = E / (1 + E)^2.
HWY_INLINE void backward_directly(const AdditiveKeys& keys, const float* row, const float* d_scores,
                                  Index chunk_stride, float* d_row, float* d_keys,
                                  float* sum_tanh) {
  const F16 one = set(1.0f);
  for (Index a = 0; a < keys.width; a += 16, d_row += chunk_stride) {
    const F16 q = load_chunk(row, keys.width, a);
    F16 d_q = set(0.0f);
    F16 sum = load(sum_tanh + a);
    for (Index j = 0; j < keys.count; ++j) {
      const F16 z = add(q, load_chunk(keys.raw + j * keys.raw_stride, keys.width, a));
      const F16 size = abs(z);
      const F16 e = exp(neg(add(size, size)));
      const F16 sum_e = add(one, e);
      const F16 d_e = set(d_scores[j]);
      const F16 slope = mul(d_e, div(e, mul(sum_e, sum_e)));
      sum = fma(d_e, tanh(z), sum);
      d_q = add(d_q, slope);
      float* d_key = d_keys + j * keys.padded + a;
      store(add(load(d_key), slope), d_key);
    }
    store(d_q, d_row);
    store(sum, sum_tanh + a);
  }
}

void additive_backward_impl(const AdditiveKeys& keys, const AdditiveRows& rows,
                            const float* d_scores, Index stride, float* d_rows, float* d_keys,
                            const AdditiveVSums& sums) noexcept {
  const Index chunk_stride = 16 * rows.count;
  for (Index n = 0; n < rows.count * keys.padded; n += 16) store(set(0.0f), d_rows + n);
  for (Index i = 0; i < rows.count;) {
    const AdditiveForm form = attention::backward_form(keys, rows.extrema[i]);
    if (form == AdditiveForm::kDirect) {
      backward_directly(keys, rows.raw[i], d_scores + i * stride, chunk_stride, d_rows + 16 * i,
                        d_keys, sums.direct);
      ++i;
      continue;
    }
    Index end = i + 1;  // the run of rows of this form
    while (end < rows.count && attention::backward_form(keys, rows.extrema[end]) == form) ++end;
    for (Index a = 0; a < keys.padded; a += 16) {
      const Index at = a / 16 * chunk_stride + 16 * i;
      const Chunk c{rows.exponentials + at, d_rows + at, end - i,     d_scores + i * stride, stride,
                    keys.exponentials + a,  d_keys + a,  keys.padded, sums.reciprocals + a};
      if (form == AdditiveForm::kFactored) {
        backward_chunk<false>(c, keys.count);
      } else {
        backward_chunk<true>(c, keys.count);
      }
    }
    i = end;
  }
}

void add_v_scaled_impl(const float* v, const float* sums, Index chunk_stride, Index width,
                       float* out) noexcept {
  const F16 four = set(4.0f);
  for (Index a = 0; a < width; a += 16, sums += chunk_stride) {
    const F16 factor = mul(four, load(v + a));
    const F16 x = fma(factor, load(sums), load_chunk(out, width, a));
    if (width - a >= 16) {
      store(x, out + a);
    } else {
      store_n(x, out + a, static_cast<int>(width - a));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(additive_backward_impl);
REGARD_DISPATCH_TABLE(add_v_scaled_impl);

namespace attention {

void additive_backward(const AdditiveKeys& keys, const AdditiveRows& rows, const float* d_scores,
                       Index stride, float* d_rows, float* d_keys,
                       const AdditiveVSums& sums) noexcept {
  REGARD_DISPATCH(additive_backward_impl)
  (keys, rows, d_scores, stride, d_rows, d_keys, sums);
}
void add_v_scaled(const float* v, const float* sums, Index chunk_stride, Index width,
                  float* out) noexcept {
  REGARD_DISPATCH(add_v_scaled_impl)(v, sums, chunk_stride, width, out);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
