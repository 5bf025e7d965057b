// Run-time dispatch: one table per kernel, one column per instruction set, nothing linked from
// Highway.
//
// In a kernel file, after the per-target code:
//   #if HWY_ONCE
//   namespace regard {
//   REGARD_DISPATCH_TABLE(softmax_rows_impl);
//   void softmax_rows(...) noexcept { REGARD_DISPATCH(softmax_rows_impl)(...); }
//   }
//   #endif
// The per-target function lives in namespace regard::HWY_NAMESPACE.
#pragma once

#include "hwy/highway.h"
#include "regard/kernels/isa.h"

#if HWY_TARGETS & HWY_AVX3
#define REGARD_ENTRY_AVX512(fn) &N_AVX3::fn
#else
#define REGARD_ENTRY_AVX512(fn) nullptr
#endif
#if HWY_TARGETS & HWY_AVX2
#define REGARD_ENTRY_AVX2(fn) &N_AVX2::fn
#else
#define REGARD_ENTRY_AVX2(fn) nullptr
#endif
#if HWY_TARGETS & HWY_SSE4
#define REGARD_ENTRY_SSE4(fn) &N_SSE4::fn
#else
#define REGARD_ENTRY_SSE4(fn) nullptr
#endif
#if HWY_TARGETS & HWY_NEON
#define REGARD_ENTRY_NEON(fn) &N_NEON::fn
#else
#define REGARD_ENTRY_NEON(fn) nullptr
#endif
#if HWY_TARGETS & HWY_SCALAR
#define REGARD_ENTRY_SCALAR(fn) &N_SCALAR::fn
#else
#define REGARD_ENTRY_SCALAR(fn) nullptr
#endif

#define REGARD_DISPATCH_TABLE(fn)                                                \
  static constexpr decltype(&HWY_STATIC_NAMESPACE::fn) fn##_table[kIsaCount] = { \
      REGARD_ENTRY_AVX512(fn), REGARD_ENTRY_AVX2(fn), REGARD_ENTRY_SSE4(fn),     \
      REGARD_ENTRY_NEON(fn), REGARD_ENTRY_SCALAR(fn)}

#if HWY_STATIC_TARGET == HWY_NEON
#define HWY_STATIC_NAMESPACE N_NEON
#else
#define HWY_STATIC_NAMESPACE N_SCALAR
#endif

#define REGARD_DISPATCH(fn) fn##_table[static_cast<int>(current_isa())]
