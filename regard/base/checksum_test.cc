#include "regard/base/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "regard/base/random.h"

namespace regard {
namespace {

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(random_bits(7, i));
  return bytes;
}

// The values are those of the compiled library libxxhash 0.8.1.
TEST(Checksum, IsXxh3) {
  EXPECT_EQ(to_hex(checksum("")), "2d06800538d394c2");
  EXPECT_EQ(to_hex(checksum("regard")), "ed0b2b1641fe9801");
}

TEST(Checksum, PartsGiveTheValueOfTheWhole) {
  for (const std::size_t size : {0, 1, 16, 17, 240, 241, 1024, 5000}) {
    const std::string bytes = some_bytes(size);
    for (const std::size_t step : {1, 7, 64, 1000}) {
      Checksum parts;
      for (std::size_t i = 0; i < size; i += step) {
        parts.update(std::string_view(bytes).substr(i, step));
      }
      EXPECT_EQ(parts.value(), checksum(bytes)) << size << " bytes by " << step;
    }
  }
}

TEST(Checksum, EveryFlippedBitChangesIt) {
  std::string bytes = some_bytes(300);
  const std::uint64_t before = checksum(bytes);
  for (char& byte : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= static_cast<char>(1 << bit);
      EXPECT_NE(checksum(bytes), before);
      byte ^= static_cast<char>(1 << bit);
    }
  }
  EXPECT_EQ(checksum(bytes), before);
}

TEST(Hex, ReadsBackWhatItWrote) {
  for (const std::uint64_t value : {0ull, 1ull, 0x123456789ABCDEFull, ~0ull}) {
    EXPECT_EQ(from_hex(to_hex(value)), value);
  }
  EXPECT_EQ(to_hex(0xAB), "00000000000000ab");
  EXPECT_EQ(from_hex("00000000000000AB"), 0xABu);
}

TEST(Hex, AnythingButSixteenDigitsIsNothing) {
  for (const char* text : {"", "0", "00000000000000a", "00000000000000abc", "000000000000000g",
                           " 00000000000000a", "-000000000000001", "0x00000000000001"}) {
    EXPECT_EQ(from_hex(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace regard
