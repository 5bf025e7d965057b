#include "regard/base/float_environment.h"

#include <gtest/gtest.h>

#include <cfenv>

namespace regard {
namespace {

// Half of the smallest normal number: zero where subnormals are flushed.
float half_of_smallest() {
  volatile float smallest = 0x1p-126f;
  return smallest * 0.5f;
}

// Nearer to the float after 1 than to 1 itself: the rounding mode decides.
float one_and_a_bit() {
  volatile float bit = 0x1p-24f;
  return 1.0f + 1.5f * bit;
}

TEST(FloatEnvironment, RoundsToNearestAndGivesTheOldModeBack) {
  ASSERT_EQ(std::fesetround(FE_TOWARDZERO), 0);
  EXPECT_EQ(one_and_a_bit(), 1.0f);
  {
    const FloatEnvironment environment;
    EXPECT_EQ(one_and_a_bit(), 1.0f + 0x1p-23f);
  }
  EXPECT_EQ(one_and_a_bit(), 1.0f);
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
}

#if defined(__SSE2__)
TEST(FloatEnvironment, KeepsSubnormalsAndGivesTheOldModeBack) {
  constexpr unsigned kFlushToZero = 0x8000, kSubnormalsAreZero = 0x0040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushToZero | kSubnormalsAreZero);
  EXPECT_EQ(half_of_smallest(), 0.0f);
  {
    const FloatEnvironment outer;
    EXPECT_EQ(half_of_smallest(), 0x1p-127f);
    {
      const FloatEnvironment inner;
      EXPECT_EQ(half_of_smallest(), 0x1p-127f);
    }
    EXPECT_EQ(half_of_smallest(), 0x1p-127f);
  }
  EXPECT_EQ(half_of_smallest(), 0.0f);
  _mm_setcsr(before);
}
#else
TEST(FloatEnvironment, KeepsSubnormals) {
  const FloatEnvironment environment;
  EXPECT_EQ(half_of_smallest(), 0x1p-127f);
}
#endif

}  // namespace
}  // namespace regard
