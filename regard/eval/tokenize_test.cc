#include "regard/eval/tokenize.h"

#include <gtest/gtest.h>

#include <string>

#include "regard/base/error.h"
#include "regard/eval/unicode.h"

namespace regard::eval {
namespace {

std::u32string tokens(std::string_view line, Tokenization tokenization) {
  std::u32string joined;
  for (const std::u32string& token : tokenize(decode_utf8(line), tokenization)) {
    joined += (joined.empty() ? U"" : U"|") + token;
  }
  return joined;
}

TEST(Tokenize, NistPartsWesternPunctuationButNotInsideNumbers) {
  EXPECT_EQ(tokens("It costs $4.50, no: 1,000!", Tokenization::k13a),
            U"It|costs|$|4.50|,|no|:|1,000|!");
  EXPECT_EQ(tokens("7-8 e-mail it's x.", Tokenization::k13a), U"7|-|8|e-mail|it's|x|.");
  EXPECT_EQ(tokens("1.,2", Tokenization::k13a), U"1|.|,|2");
}

TEST(Tokenize, NistUndoesEntitiesInOrder) {
  EXPECT_EQ(tokens("&quot;a&quot; &amp;lt;<skipped>", Tokenization::k13a), U"\"|a|\"|<");
  EXPECT_EQ(tokens("&apos;", Tokenization::k13a), U"&|apos|;");
}

TEST(Tokenize, NistLeavesOtherScriptsAlone) {
  EXPECT_EQ(tokens("«oui»… 東京。", Tokenization::k13a), U"«oui»…|東京。");
}

TEST(Tokenize, InternationalPartsEveryMarkAndSymbol) {
  EXPECT_EQ(tokens("«oui»… 東京。5€", Tokenization::kIntl), U"«|oui|»|…|東京|。|5|€");
  EXPECT_EQ(tokens("e-mail it's", Tokenization::kIntl), U"e|-|mail|it|'|s");
}

TEST(Tokenize, InternationalKeepsMarksBetweenNumbersAndAfterTheLast) {
  EXPECT_EQ(tokens("1.5 ٣٫٤ ½.¾", Tokenization::kIntl), U"1.5|٣٫٤|½.¾");
  EXPECT_EQ(tokens("in 2024.  ", Tokenization::kIntl), U"in|2024.");
  EXPECT_EQ(tokens("in 2024. So", Tokenization::kIntl), U"in|2024|.|So");
}

TEST(Tokenize, CharactersAreCodePointsWithoutWhiteSpace) {
  EXPECT_EQ(tokens("né e\u0301 \u00a0x", Tokenization::kChar), U"n|é|e|\u0301|x");
}

TEST(Tokenize, NoneSplitsAtAnyWhiteSpace) {
  EXPECT_EQ(tokens(" a,\tb\u00a0c\u3000d.", Tokenization::kNone), U"a,|b|c|d.");
  EXPECT_EQ(tokens("", Tokenization::kNone), U"");
}

TEST(Tokenize, NamesAreReadAndOthersRefused) {
  EXPECT_EQ(parse_tokenization("13a"), Tokenization::k13a);
  EXPECT_EQ(parse_tokenization("intl"), Tokenization::kIntl);
  EXPECT_EQ(parse_tokenization("char"), Tokenization::kChar);
  EXPECT_EQ(parse_tokenization("none"), Tokenization::kNone);
  try {
    parse_tokenization("zh");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("'zh'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("13a, intl, char, none"), std::string::npos);
  }
}

TEST(Unicode, LowerCaseIsThatOfPythonsStr) {
  EXPECT_EQ(lower_case(U"ÀÉ İ Ⅷ"), U"àé i\u0307 ⅷ");
  EXPECT_EQ(lower_case(U"ΟΔΟΣ ΣΑ Σ ΑΣ. ΑΣ.Α ΑΣ\u00adB"), U"οδος σα σ ας. ασ.α ασ\u00adb");
}

TEST(Unicode, BadBytesBecomeReplacementCharacters) {
  EXPECT_EQ(decode_utf8("a\xff\xc3"), U"a\ufffd\ufffd");
  EXPECT_EQ(decode_utf8("\xf0\x9f\x98\x80"), U"\U0001f600");
}

TEST(Unicode, ClassesFollowTheGeneralCategory) {
  EXPECT_TRUE(is_punctuation(U'_') && is_punctuation(U'»') && is_punctuation(U'。'));
  EXPECT_TRUE(is_symbol(U'€') && is_symbol(U'+') && is_symbol(U'^'));
  EXPECT_TRUE(is_number(U'٣') && is_number(U'½') && is_number(U'Ⅳ'));
  EXPECT_FALSE(is_punctuation(U'+') || is_symbol(U'-') || is_number(U'三'));
  EXPECT_FALSE(is_white_space(U'\u200b') || is_white_space(U'\ufeff'));
}

}  // namespace
}  // namespace regard::eval
