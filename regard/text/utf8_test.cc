#include "regard/text/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "regard/base/error.h"

namespace regard {
namespace {

struct Bad {
  std::string bytes;
  std::size_t offset;
  std::size_t length;
  Utf8Fault fault;
  std::size_t replacements;
};

std::vector<Bad> bad_cases() {
  using F = Utf8Fault;
  return {
      {"ab\xFF", 2, 1, F::kInvalidByte, 1},        {"\x80x", 0, 1, F::kUnexpectedContinuation, 1},
      {"a\xE2\x82", 1, 2, F::kTruncated, 1},       {"a\xE2\x82z", 1, 2, F::kTruncated, 1},
      {"\xF0\x9F\x98", 0, 3, F::kTruncated, 1},    {"a\xC3", 1, 1, F::kTruncated, 1},
      {"\xC0\xAF", 0, 1, F::kOverlong, 2},         {"x\xE0\x80\xAF", 1, 1, F::kOverlong, 3},
      {"\xF0\x80\x80\xAF", 0, 1, F::kOverlong, 4}, {"ab\xED\xA0\x80", 2, 1, F::kSurrogate, 3},
      {"\xED\xBF\xBF", 0, 1, F::kSurrogate, 3},    {"\xF4\x90\x80\x80", 0, 1, F::kTooLarge, 4},
      {"\xF5\x80\x80\x80", 0, 1, F::kTooLarge, 4}, {std::string("a\0b", 3), 1, 1, F::kNul, 1},
      {"\xC3\xA9\xC3", 2, 1, F::kTruncated, 1},
  };
}

TEST(Utf8, EachFaultIsFoundAtItsByte) {
  for (const Bad& bad : bad_cases()) {
    const auto error = find_utf8_error(bad.bytes);
    ASSERT_TRUE(error.has_value()) << bad.bytes;
    EXPECT_EQ(error->offset, bad.offset) << bad.bytes;
    EXPECT_EQ(error->length, bad.length) << bad.bytes;
    EXPECT_EQ(error->fault, bad.fault) << bad.bytes;
    EXPECT_FALSE(describe(*error, bad.bytes).empty());
  }
}

TEST(Utf8, RepairGivesWellFormedTextAndCounts) {
  for (const Bad& bad : bad_cases()) {
    std::string text = bad.bytes;
    EXPECT_EQ(repair_utf8(text), bad.replacements) << bad.bytes;
    EXPECT_FALSE(find_utf8_error(text).has_value()) << bad.bytes;
  }
  std::string text = "a\xFF\xC3\xA9\xFEz";
  EXPECT_EQ(repair_utf8(text), 2u);
  EXPECT_EQ(text, "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBDz");
}

TEST(Utf8, WellFormedTextIsLeftAlone) {
  for (const std::string good : {"", "abc", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x7F",
                                 "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_FALSE(find_utf8_error(good).has_value()) << good;
    std::string text = good;
    EXPECT_EQ(repair_utf8(text), 0u);
    EXPECT_EQ(text, good);
  }
}

TEST(Utf8, EveryScalarValueSurvivesEncodingAndDecoding) {
  for (char32_t c = 1; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, c);
    ASSERT_FALSE(find_utf8_error(text).has_value()) << static_cast<int>(c);
    std::size_t position = 0;
    ASSERT_TRUE(next_code_point(text, position) == c);
    ASSERT_EQ(position, text.size());
    ASSERT_EQ(count_code_points(text), 1u);
  }
}

TEST(Utf8, TheErrorNamesPlaceAndByte) {
  try {
    require_utf8("ab\xFFz", "corpus.tsv:7");
    FAIL() << "no error";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kData);
    const std::string message = error.what();
    EXPECT_NE(message.find("corpus.tsv:7: byte offset 2: byte FF"), std::string::npos) << message;
  }
  EXPECT_NO_THROW(require_utf8("fine", "x"));
}

}  // namespace
}  // namespace regard
