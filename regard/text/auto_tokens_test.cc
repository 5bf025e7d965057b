#include "regard/text/auto_tokens.h"

#include <gtest/gtest.h>

#include "regard/base/error.h"

namespace regard {
namespace {

std::string resolved(const SideStatistics& side) { return to_string(resolve({}, side)); }

TEST(AutoTokens, SpecsAreReadAndWritten) {
  for (const char* text : {"auto", "char", "word", "subword:1", "subword:1000000"}) {
    EXPECT_EQ(to_string(parse_token_spec(text)), text);
  }
  EXPECT_EQ(to_string(parse_token_spec("subword")), "subword:8000");
  for (const char* text : {"", "bpe", "Char", "subword:", "subword:0", "subword:-5", "subword:12x",
                           "subword:1000001", "subword:99999999999", "char:5", "auto "}) {
    EXPECT_THROW(parse_token_spec(text), ConfigError) << text;
  }
}

TEST(AutoTokens, ASideWithFewBlanksIsChar) {
  SideStatistics side;
  side.add("new york");
  for (int i = 0; i < 9; ++i) side.add("word");
  EXPECT_EQ(resolved(side), "word");  // exactly 10 % is not under 10 %
  side.add("");
  EXPECT_EQ(side.lines(), 10u);
  side.add("word");
  EXPECT_EQ(resolved(side), "char");
}

TEST(AutoTokens, TwoHundredDistinctWordsAreStillWords) {
  SideStatistics side;
  for (int i = 0; i < 100; ++i) {
    side.add("w" + std::to_string(2 * i) + " w" + std::to_string(2 * i + 1));
  }
  EXPECT_EQ(side.distinct_words(), 200u);
  EXPECT_EQ(resolved(side), "word");
  side.add("w0 other");
  EXPECT_EQ(resolved(side), "subword:8000");
}

TEST(AutoTokens, WhatTheUserAskedForStays) {
  SideStatistics side;
  side.add("word");
  const TokenSpec spec = parse_token_spec("subword:500");
  EXPECT_EQ(resolve(spec, side), spec);
}

}  // namespace
}  // namespace regard
