// Random bits cost more than the product they decide about, so Philox runs on vectors: each 64-bit
// lane holds one 32-bit word of the state of its own counter. A widening multiplication reads the
// low half of a lane only, so what lies in the high half is never cleaned away.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/dropout.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/base/random.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

constexpr Index kUnits = 64;  // made at a time: 16 counters of four words

// Words of philox(key, position, first / 4), philox(key, position, first / 4 + 1), ... in order.
// `first` is a multiple of 4 below 2^34.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void random_words(std::uint64_t key, std::uint32_t position, Index first,
                             std::uint32_t* words) {
  for (Index i = 0; i < kUnits; i += 4) {
    const auto w = philox(key, position, static_cast<std::uint64_t>(first + i) / 4);
    for (Index k = 0; k < 4; ++k) words[i + k] = w[static_cast<size_t>(k)];
  }
}
#else
HWY_INLINE void random_words(std::uint64_t key, std::uint32_t position, Index first,
                             std::uint32_t* words) {
  const hn::CappedTag<std::uint64_t, 8> d;
  const hn::Repartition<std::uint32_t, decltype(d)> d32;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  const auto product = [&](auto a, std::uint32_t b)
                           HWY_ATTR { return hn::MulEven(hn::BitCast(d32, a), hn::Set(d32, b)); };
  // Lane 2 i makes counter i, lane 2 i + 1 counter kLanes / 2 + i: interleaving the two halves of
  // each 128-bit block, all that vectors do cheaply, then leaves the words in order.
  alignas(64) std::uint64_t order[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    order[i] = static_cast<std::uint64_t>(i / 2 + i % 2 * (kLanes / 2));
  }
  const auto counters = hn::Load(d, order);
  for (int lane = 0; lane < kUnits / 4; lane += kLanes) {
    auto c0 = hn::Add(counters, hn::Set(d, static_cast<std::uint64_t>(first / 4 + lane)));
    auto c1 = hn::Zero(d);
    auto c2 = hn::Set(d, std::uint64_t{position});
    auto c3 = hn::Zero(d);
    std::uint32_t k0 = static_cast<std::uint32_t>(key);
    std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const auto p0 = product(c0, 0xD2511F53u);
      const auto p1 = product(c2, 0xCD9E8D57u);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, std::uint64_t{k0}));
      c1 = p1;
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, std::uint64_t{k1}));
      c3 = p0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const auto low = hn::Set(d, std::uint64_t{0xFFFFFFFFu});
    const auto words01 = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
    const auto words23 = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
    const auto lower = hn::InterleaveLower(d, words01, words23);
    const auto upper = hn::InterleaveUpper(d, words01, words23);
    hn::StoreU(hn::BitCast(d32, lower), d32, words + 4 * lane);
    hn::StoreU(hn::BitCast(d32, upper), d32, words + 4 * lane + 2 * kLanes);
  }
}
#endif

// uniform_float of sixteen words.
HWY_INLINE F16 uniform(const std::uint32_t* words) {
  const DI di;
  const hn::RebindToUnsigned<D> du;
  return map([&](int i) HWY_ATTR {
    const auto top = hn::ShiftRight<8>(hn::LoadU(du, words + i * kVectorLanes));
    return hn::Mul(hn::ConvertTo(D(), hn::BitCast(di, top)), hn::Set(D(), 0x1p-24f));
  });
}

// y = x or y += x, scaled where kept.
template <bool kAccumulate>
HWY_INLINE void drop_rows(ConstMatrix x, DropoutRows rows, float rate, Matrix y) {
  const F16 threshold = set(rate), keep = set(1.0f / (1.0f - rate)), zero = set(0.0f);
  alignas(64) std::uint32_t words[kUnits];
  for (Index r = 0; r < x.rows; ++r) {
    for (Index first = 0; first < x.cols; first += kUnits) {
      random_words(rows.key[r], rows.position[r], rows.first_unit + first, words);
      const float* from = x.row(r) + first;
      float* to = y.row(r) + first;
      for_blocks(x.cols - first < kUnits ? x.cols - first : kUnits,
                 [&](Index j, auto block) HWY_ATTR {
                   const M16 dropped = less(uniform(words + j), threshold);
                   F16 v = select(dropped, zero, mul(load(from + j, block), keep));
                   if (kAccumulate) v = add(load(to + j, block), v);
                   store(v, to + j, block);
                 });
    }
  }
}

void dropout_forward_impl(ConstMatrix x, DropoutRows rows, float rate, Matrix y) noexcept {
  drop_rows<false>(x, rows, rate, y);
}
void dropout_backward_impl(ConstMatrix d_y, DropoutRows rows, float rate, Matrix d_x) noexcept {
  drop_rows<true>(d_y, rows, rate, d_x);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "regard/kernels/rows.h"

namespace regard {
REGARD_DISPATCH_TABLE(dropout_forward_impl);
REGARD_DISPATCH_TABLE(dropout_backward_impl);

void dropout_forward(ConstMatrix x, DropoutRows rows, float rate, Matrix y) noexcept {
  if (rate == 0.0f) {
    if (x.data != y.data) copy_rows(x, y);
    return;
  }
  REGARD_DISPATCH(dropout_forward_impl)(x, rows, rate, y);
}
void dropout_backward(ConstMatrix d_y, DropoutRows rows, float rate, Matrix d_x) noexcept {
  if (rate == 0.0f) {
    add_rows(d_y, d_x);
    return;
  }
  REGARD_DISPATCH(dropout_backward_impl)(d_y, rows, rate, d_x);
}
}  // namespace regard
#endif  // HWY_ONCE
