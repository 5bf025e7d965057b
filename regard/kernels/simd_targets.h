// The Highway targets that we compile; include before any Highway header. SVE comes when someone
// can test it. On x86-64: SCALAR (our `scalar`), SSE4, AVX2, AVX3 (our `avx512`). On arm64: NEON
// alone.
#pragma once

// One plain scalar target for every compiler: gcc before 12.3 miscompiles EMU128.
#define HWY_BROKEN_EMU128 1

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
