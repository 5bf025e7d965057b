#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/peak.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// Runs `rounds` steps of twelve chains, writes what they end at so that none is left out, and
// returns the flops done. The chains tend to 2, so no operand is ever slow.
double fma_chains_impl(std::int64_t rounds, float* out) noexcept {
  constexpr int kChains = 12;
  const D d;
  const V half = hn::Set(d, 0.5f), one = hn::Set(d, 1.0f);
  V chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = hn::Set(d, static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (int i = 0; i < kChains; ++i) chain[i] = fma(chain[i], half, one);
  }
  V sum = chain[0];
  for (int i = 1; i < kChains; ++i) sum = hn::Add(sum, chain[i]);
  hn::StoreU(sum, d, out);
  return 2.0 * kChains * kVectorLanes * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <chrono>

#include "regard/kernels/peak.h"

namespace regard {
REGARD_DISPATCH_TABLE(fma_chains_impl);

double measure_fma_peak_gflops(double seconds) noexcept {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  // Slices of about 50 microseconds on a fast core: short enough to miss interruptions.
  const std::int64_t rounds = current_isa() == Isa::kScalar ? 1000 : 20000;
  float out[16];
  double best = 0.0;
  const Clock::time_point begin = Clock::now();
  do {
    const Clock::time_point from = Clock::now();
    const double flops = REGARD_DISPATCH(fma_chains_impl)(rounds, out);
    best = std::max(best, flops / Seconds(Clock::now() - from).count());
  } while (Seconds(Clock::now() - begin).count() < seconds);
  return best * 1e-9;
}

}  // namespace regard
#endif  // HWY_ONCE
