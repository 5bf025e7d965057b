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
using Backward = attention::AdditiveGradients;

constexpr float kLargestY = 1073741824.0f;  // 2^30, as forward

// A run of rows of one form and sixteen dims.
struct Chunk {
  const float* rows;  // [count, 16] e^(2q)
  float* d_rows;      // [count, 16]
  Index count;
  const float* d_scores;
  Index stride;
  const float* live;  // 1 or 0 for each of them
  const float* keys;  // e^(2k), these dims of key 0
  float* d_keys;
  Index padded, d_key_stride;
  float* reciprocals;  // [16]
};

// What a row has against kKeys keys: x = 1 + y, and 1 / (the product of all x). A key that is not
// live to the row has y = 0: it must not be felt by those that it shares the reciprocal with.
template <int kKeys>
struct Shared {
  V x[kKeys];
  V x01, x23;
  V all;
  HWY_INLINE Shared() {}  // as of F16
};

template <bool kClamp, bool kMasked, int kKeys>
HWY_INLINE Shared<kKeys> share(V q, const V* key, const float* live) {
  const D d;
  Shared<kKeys> s;
  for (int n = 0; n < kKeys; ++n) {
    const V live_q = kMasked ? hn::Mul(q, hn::Set(d, live[n])) : q;
    s.x[n] = fma(live_q, key[n], hn::Set(d, 1.0f));
    if (kClamp) s.x[n] = hn::Min(s.x[n], hn::Set(d, kLargestY));
  }
  if constexpr (kKeys == 1) {
    s.all = reciprocal(s.x[0]);
  } else if constexpr (kKeys == 2) {
    s.all = reciprocal(hn::Mul(s.x[0], s.x[1]));
  } else {
    s.x01 = hn::Mul(s.x[0], s.x[1]);
    s.x23 = kKeys == 4 ? hn::Mul(s.x[2], s.x[kKeys - 1]) : s.x[2];
    s.all = reciprocal(hn::Mul(s.x01, s.x23));
  }
  return s;
}

// r[n] = 1 / x[n].
template <int kKeys>
HWY_INLINE void reciprocals(const Shared<kKeys>& s, V* r) {
  if constexpr (kKeys == 1) {
    r[0] = s.all;
  } else if constexpr (kKeys == 2) {
    r[0] = hn::Mul(s.all, s.x[1]);
    r[1] = hn::Mul(s.all, s.x[0]);
  } else {
    const V r01 = hn::Mul(s.all, s.x23);
    const V r23 = hn::Mul(s.all, s.x01);
    r[0] = hn::Mul(r01, s.x[1]);
    r[1] = hn::Mul(r01, s.x[0]);
    r[2] = kKeys == 4 ? hn::Mul(r23, s.x[kKeys - 1]) : r23;
    if (kKeys == 4) r[kKeys - 1] = hn::Mul(r23, s.x[2]);
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
template <bool kClamp, bool kMasked, int kKeys>
HWY_INLINE void backward_keys(const Chunk& c, Index j) {
  const D d;
  const V limit = hn::Set(d, kLargestY);
  for (int part = 0; part < 16; part += kVectorLanes) {
    V key[kKeys], d_key[kKeys];
    for (int n = 0; n < kKeys; ++n) {
      key[n] = hn::Load(d, c.keys + (j + n) * c.padded + part);
      d_key[n] = hn::Zero(d);
    }
    V sum_r = hn::Load(d, c.reciprocals + part);
    const auto use = [&](Index i, V q, const Shared<kKeys>& shared) HWY_ATTR {
      const float* d_e = c.d_scores + i * c.stride + j;
      V d_q = hn::Load(d, c.d_rows + 16 * i + part);
      V r[kKeys], t[kKeys];
      reciprocals<kKeys>(shared, r);
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
    };
    // The next row's reciprocal is under way while this row's is used.
    V q = hn::Load(d, c.rows + part);
    const float* live = kMasked ? c.live + j : nullptr;
    Shared<kKeys> shared = share<kClamp, kMasked, kKeys>(q, key, live);
    Index i = 0;
    for (; i + 1 < c.count; ++i) {
      const V q_next = hn::Load(d, c.rows + 16 * (i + 1) + part);
      if (kMasked) live += c.stride;
      const Shared<kKeys> next = share<kClamp, kMasked, kKeys>(q_next, key, live);
      use(i, q, shared);
      q = q_next;
      shared = next;
    }
    use(i, q, shared);
    hn::Store(sum_r, d, c.reciprocals + part);
    for (int n = 0; n < kKeys; ++n) {
      float* sum = c.d_keys + (j + n) * c.d_key_stride + part;
      const V old = hn::Load(d, sum);
      hn::Store(kClamp ? hn::Add(old, d_key[n]) : fma(d_key[n], key[n], old), d, sum);
    }
  }
}

template <bool kClamp, bool kMasked>
HWY_INLINE void backward_chunk(const Chunk& c, Index keys) {
  Index j = 0;
  for (; j + 4 <= keys; j += 4) backward_keys<kClamp, kMasked, 4>(c, j);
  switch (keys - j) {
    case 3:
      backward_keys<kClamp, kMasked, 3>(c, j);
      break;
    case 2:
      backward_keys<kClamp, kMasked, 2>(c, j);
      break;
    case 1:
      backward_keys<kClamp, kMasked, 1>(c, j);
      break;
    default:
      break;
  }
}

// Rows i to end - 1, all of one form. Keys come in tiles, so that memory is read in order; the
// order of every sum is the same for any tile that is a multiple of four.
template <bool kClamp, bool kMasked>
HWY_INLINE void backward_run(const AdditiveKeys& keys, const AdditiveRows& rows, Index i, Index end,
                             const Backward& b) {
  constexpr Index kTile = 16;
  for (Index j = 0; j < keys.count; j += kTile) {
    const Index count = keys.count - j < kTile ? keys.count - j : kTile;
    for (Index a = 0; a < keys.padded; a += 16) {
      const Index at = a * rows.count + 16 * i;
      backward_chunk<kClamp, kMasked>(
          {rows.exponentials + at, b.d_rows + at, end - i, b.d_scores + i * b.stride + j, b.stride,
           kMasked ? b.live + i * b.stride + j : nullptr, keys.exponentials + j * keys.padded + a,
           b.d_keys + j * b.d_key_stride + a, keys.padded, b.d_key_stride, b.sums.reciprocals + a},
          count);
    }
  }
  if (kClamp) return;
  for (Index a = 0; a < keys.padded; a += 16) {
    for (Index n = a * rows.count + 16 * i; n < a * rows.count + 16 * end; n += 16) {
      store(mul(load(b.d_rows + n), load(rows.exponentials + n)), b.d_rows + n);
    }
  }
}

// Row i with tanh itself: E = e^(-2|z|), (1 - tanh^2) / 4 = E / (1 + E)^2.
HWY_INLINE void backward_directly(const AdditiveKeys& keys, const AdditiveRows& rows, Index i,
                                  const Backward& b) {
  const F16 one = set(1.0f);
  for (Index a = 0; a < keys.width; a += 16) {
    const F16 q = load_chunk(rows.raw[i], keys.width, a);
    F16 d_q = set(0.0f);
    F16 sum = load(b.sums.direct + a);
    for (Index j = 0; j < keys.count; ++j) {
      const float d_score = b.d_scores[i * b.stride + j];
      if (d_score == 0.0f) continue;  // masked keys may hold anything
      const F16 z = add(q, load_chunk(keys.raw + j * keys.raw_stride, keys.width, a));
      const F16 size = abs(z);
      const F16 e = exp(neg(add(size, size)));
      const F16 sum_e = add(one, e);
      const F16 d_e = set(d_score);
      const F16 slope = mul(d_e, div(e, mul(sum_e, sum_e)));
      sum = fma(d_e, tanh(z), sum);
      d_q = add(d_q, slope);
      float* d_key = b.d_keys + j * b.d_key_stride + a;
      store(add(load(d_key), slope), d_key);
    }
    store(d_q, b.d_rows + a * rows.count + 16 * i);
    store(sum, b.sums.direct + a);
  }
}

void additive_backward_impl(const AdditiveKeys& keys, const AdditiveRows& rows,
                            const Backward& b) noexcept {
  std::memset(b.d_rows, 0, sizeof(float) * static_cast<size_t>(rows.count * keys.padded));
  for (Index i = 0; i < rows.count;) {
    const AdditiveForm form = attention::backward_form(keys, rows.extrema[i]);
    if (form == AdditiveForm::kDirect) {
      backward_directly(keys, rows, i, b);
      ++i;
      continue;
    }
    Index end = i + 1;  // the run of rows of this form
    while (end < rows.count && attention::backward_form(keys, rows.extrema[end]) == form) ++end;
    if (b.live == nullptr) {
      form == AdditiveForm::kFactored ? backward_run<false, false>(keys, rows, i, end, b)
                                      : backward_run<true, false>(keys, rows, i, end, b);
    } else {
      form == AdditiveForm::kFactored ? backward_run<false, true>(keys, rows, i, end, b)
                                      : backward_run<true, true>(keys, rows, i, end, b);
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

void additive_backward(const AdditiveKeys& keys, const AdditiveRows& rows,
                       const AdditiveGradients& gradients) noexcept {
  REGARD_DISPATCH(additive_backward_impl)(keys, rows, gradients);
}
void add_v_scaled(const float* v, const float* sums, Index chunk_stride, Index width,
                  float* out) noexcept {
  REGARD_DISPATCH(add_v_scaled_impl)(v, sums, chunk_stride, width, out);
}

}  // namespace attention
}  // namespace regard
#endif  // HWY_ONCE
