#include "regard/view/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace regard {
namespace {

TEST(FixedNumber, HasTheDecimalsAskedFor) {
  EXPECT_EQ(fixed_number(1.005, 1), "1.0");
  EXPECT_EQ(fixed_number(-1.5, 2), "-1.50");
  EXPECT_EQ(fixed_number(12.0, 0), "12");
  EXPECT_EQ(fixed_number(1e300, 0).size(), 301U);
}

TEST(FixedNumber, AZeroHasNoSign) { EXPECT_EQ(fixed_number(-0.001, 2), "0.00"); }

TEST(FixedNumber, NamesWhatIsNoNumber) {
  EXPECT_EQ(fixed_number(std::numeric_limits<double>::quiet_NaN(), 2), "nan");
  EXPECT_EQ(fixed_number(-std::numeric_limits<double>::infinity(), 2), "-inf");
  EXPECT_EQ(fixed_number(std::numeric_limits<double>::infinity(), 2), "inf");
}

}  // namespace
}  // namespace regard
