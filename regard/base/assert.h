// REGARD_ASSERT(condition): a bug of ours, never of the caller's. On in debug and sanitizer builds.
#pragma once

#include <cassert>

#if defined(REGARD_ENABLE_ASSERT)
#include <cstdio>
#include <cstdlib>
#define REGARD_ASSERT(condition)                                                             \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
#else
#define REGARD_ASSERT(condition) static_cast<void>(0)
#endif
