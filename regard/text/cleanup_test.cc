#include "regard/text/cleanup.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>
#include <string>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr auto kRule = CleanupRule::kNfcSpaces;

std::string utf8(std::u32string_view code_points) {
  std::string text;
  for (const char32_t c : code_points) append_utf8(text, c);
  return text;
}

TEST(Cleanup, DecomposedAccentsBecomeTheComposedLetter) {
  EXPECT_EQ(clean_text(utf8(U"caf\u0065\u0301"), kRule), utf8(U"caf\u00E9"));
  EXPECT_EQ(clean_text(utf8(U"\u1100\u1161\u11A8"), kRule), utf8(U"\uAC01"));  // Hangul
  EXPECT_EQ(clean_text(utf8(U"\uAC00\u11A8"), kRule), utf8(U"\uAC01"));
  EXPECT_EQ(clean_text(utf8(U"\u09C7\u09BE"), kRule), utf8(U"\u09CB"));  // a mark of class 0
  EXPECT_EQ(clean_text(utf8(U"a\u0323\u0307"), kRule), clean_text(utf8(U"a\u0307\u0323"), kRule));
  EXPECT_EQ(clean_text(utf8(U"\u212B"), kRule), utf8(U"\u00C5"));        // a singleton
  EXPECT_EQ(clean_text(utf8(U"\u0958"), kRule), utf8(U"\u0915\u093C"));  // excluded from NFC
  EXPECT_EQ(clean_text(utf8(U"\u0F71\u0F72"), kRule), utf8(U"\u0F71\u0F72"));
}

TEST(Cleanup, EveryBlankOfUnicodeAndTabIsOneBlank) {
  for (const char32_t blank : std::u32string(U" \t\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005"
                                             U"\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000")) {
    EXPECT_EQ(clean_text("a" + utf8({&blank, 1}) + "b", kRule), "a b") << static_cast<int>(blank);
  }
  EXPECT_EQ(clean_text(" \t a \xC2\xA0  b\t", kRule), "a b");
  EXPECT_EQ(clean_text(" \t ", kRule), "");
  EXPECT_EQ(clean_text("", kRule), "");
}

TEST(Cleanup, ZeroWidthCharactersAndControlsStay) {
  for (const char32_t c : std::u32string(U"\u200B\u200C\u200D\u2060\uFEFF\u0085\u2028\u000B\u000C"
                                         U"\u001E\u2581\r")) {
    const std::string text = "a" + utf8({&c, 1}) + "b";
    EXPECT_EQ(clean_text(text, kRule), text) << static_cast<int>(c);
  }
}

TEST(Cleanup, NoneLeavesTheLineAlone) {
  const std::string raw = utf8(U" e\u0301\t\u00A0x ");
  EXPECT_EQ(clean_text(raw, CleanupRule::kNone), raw);
  const CleanLine line = clean_line(raw, CleanupRule::kNone);
  EXPECT_EQ(line.raw_range(1, 2), (ByteRange{1, 2}));
  EXPECT_EQ(line.raw_range(2, 4), (ByteRange{2, 4}));
}

TEST(Cleanup, RangesPointIntoTheRawLine) {
  //                         0  1  2 3-4        5  6-7       8  9
  const std::string raw =
      " \te\xCC\x81"
      "x"
      "\xC2\xA0"
      " y ";
  const CleanLine line = clean_line(raw, kRule);
  ASSERT_EQ(line.text, "\xC3\xA9x y");
  ASSERT_EQ(line.raw.size(), line.text.size());
  EXPECT_EQ(line.raw_range(0, 2), (ByteRange{2, 5}));  // the whole combining sequence
  EXPECT_EQ(line.raw_range(2, 3), (ByteRange{5, 6}));
  EXPECT_EQ(line.raw_range(3, 4), (ByteRange{6, 9}));  // the whole run of blanks
  EXPECT_EQ(line.raw_range(4, 5), (ByteRange{9, 10}));
}

// Random text of letters, marks, blanks and jamo.
std::string random_text(std::mt19937& random) {
  static const std::u32string kAlphabet =
      U"aeE \t\u00A0\u3000\u0301\u0323\u0307\u0327\u00E9\u1100\u1161\u11A8\uAC00\u0958\u09C7\u09BE"
      U"\u0F73\u0344\u212B\u4E2D\U0001F600\u200D\uFEFF\u2581\u1E69\u0345\u2126\uFB1D\U0001D15E";
  std::u32string text;
  const auto length = random() % 12;
  for (std::size_t i = 0; i < length; ++i) text.push_back(kAlphabet[random() % kAlphabet.size()]);
  return utf8(text);
}

TEST(Cleanup, CleaningTwiceChangesNothingAndRangesAreOrdered) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::string raw = random_text(random);
    const CleanLine line = clean_line(raw, kRule);
    ASSERT_EQ(clean_text(line.text, kRule), line.text) << raw;
    ASSERT_EQ(line.raw.size(), line.text.size());
    ASSERT_EQ(line.text.empty(), is_blank_line(raw, kRule));
    ByteRange last;
    for (const ByteRange& range : line.raw) {
      ASSERT_LT(range.begin, range.end);
      ASSERT_LE(range.end, raw.size());
      ASSERT_LE(last.begin, range.begin);
      ASSERT_LE(last.end, range.end);
      last = range;
    }
    // What a range covers cleans to text that holds the character.
    for (std::size_t at = 0; at < line.text.size();) {
      const std::size_t begin = at;
      next_code_point(line.text, at);
      if (line.text[begin] == ' ') continue;
      const ByteRange range = line.raw_range(begin, at);
      const std::string back =
          clean_text(std::string_view(raw).substr(range.begin, range.end - range.begin), kRule);
      ASSERT_NE(back.find(line.text.substr(begin, at - begin)), std::string::npos) << raw;
    }
  }
}

TEST(Cleanup, UnitByUnitGivesWhatComposingTheWholeLineGives) {
  const auto whole = [](const std::string& raw) {
    auto* composed = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(raw.c_str()));
    std::string text(reinterpret_cast<const char*>(composed));
    std::free(composed);
    return text;
  };
  std::mt19937 random(9);
  std::vector<char32_t> marks;  // all that is not a boundary by itself, and what they combine with
  for (char32_t c = 0x300; c < 0x20000; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    if (property->combining_class != 0 || property->comb_index != 0xFFFF) marks.push_back(c);
  }
  for (int i = 0; i < 40000; ++i) {
    std::string raw = "x";
    for (std::size_t k = 0, n = 1 + random() % 6; k < n; ++k) {
      append_utf8(raw, marks[random() % marks.size()]);
    }
    ASSERT_EQ(clean_text(raw, kRule), whole(raw)) << raw;
  }
}

TEST(Cleanup, ALongRunOfMarksIsSortedInGoodTime) {
  std::string raw = "a";
  for (int i = 0; i < 100000; ++i) raw += i % 2 == 0 ? "\xCC\x81" : "\xCC\xA3";
  const CleanLine line = clean_line(raw, kRule);  // a quadratic sort would hang here
  EXPECT_EQ(clean_text(line.text, kRule), line.text);
}

TEST(Cleanup, BytesThatAreNoUtf8AreRefused) {
  EXPECT_THROW(clean_line("a\xFF", kRule), FormatError);
  EXPECT_THROW(clean_line("a\xFF", CleanupRule::kNone), FormatError);
  EXPECT_THROW(is_blank_line("\xC3", kRule), FormatError);
}

TEST(Cleanup, RulesHaveNames) {
  EXPECT_EQ(parse_cleanup_rule(to_string(CleanupRule::kNone)), CleanupRule::kNone);
  EXPECT_EQ(parse_cleanup_rule(to_string(kRule)), kRule);
  EXPECT_THROW(parse_cleanup_rule("nfkc"), ConfigError);
}

TEST(Cleanup, WordsAreSplitAtBlanksOnly) {
  EXPECT_TRUE(split_words("").empty());
  EXPECT_TRUE(split_words("  ").empty());
  const auto words = split_words(" a  b\tc ");
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], "a");
  EXPECT_EQ(words[1], "b\tc");
}

}  // namespace
}  // namespace regard
