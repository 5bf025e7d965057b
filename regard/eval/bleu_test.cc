// What BLEU and chrF promise beside their golden numbers.
#include "regard/eval/bleu.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "regard/eval/chrf.h"
#include "regard/eval/tokenize.h"
#include "regard/eval/unicode.h"

namespace regard::eval {
namespace {

Bleu::Tokens words(std::string_view line) {
  return tokenize(decode_utf8(line), Tokenization::kNone);
}

TEST(Bleu, OfAPerfectCorpusIsAHundred) {
  Bleu bleu;
  bleu.add(words("we are eating bread"), {words("we are eating bread")});
  bleu.add(words("no"), {words("no")});
  EXPECT_NEAR(bleu.score(), 100.0, 1e-12);
  EXPECT_EQ(bleu.brevity_penalty(), 1.0);
}

TEST(Bleu, ByHandWithABrevityPenalty) {
  // 5 of 5 words, 3 of 4, 2 of 3, 1 of 2; 5 words instead of 6.
  Bleu bleu;
  bleu.add(words("a b c d f"), {words("a b c d e f")});
  EXPECT_EQ(bleu.hypothesis_length(), 5);
  EXPECT_EQ(bleu.reference_length(), 6);
  EXPECT_NEAR(bleu.brevity_penalty(), 0.8187307530779818, 1e-15);                   // exp(1 - 6/5)
  EXPECT_NEAR(bleu.score(), 100 * 0.8187307530779818 * 0.7071067811865476, 1e-10);  // (1/4)^(1/4)
}

TEST(Bleu, RepeatedWordsAreClippedByTheLargestCountInOneReference) {
  Bleu bleu;
  bleu.add(words("the the the the"), {words("the the x y"), words("the z z z")});
  // 2 of 4 words, 1 of 3 pairs, then 1/2 of 2 and 1/4 of 1: (1/2 1/3 1/4 1/4)^(1/4).
  EXPECT_NEAR(bleu.score(), 31.947155212313625, 1e-9);
}

TEST(Bleu, NearestReferenceLengthCountsAndTheShorterOfTwoEquallyNear) {
  Bleu bleu;
  bleu.add(words("a b c d"), {words("a b c d e"), words("a b c"), words("a b c d e f")});
  EXPECT_EQ(bleu.reference_length(), 3);
}

TEST(Bleu, HasNoScoreWithoutFourTokensOrWithoutAMatch) {
  Bleu shorter;
  shorter.add(words("a b c"), {words("a b c")});
  EXPECT_EQ(shorter.score(), 0.0);
  Bleu wrong;
  wrong.add(words("a b c d e"), {words("v w x y z")});
  EXPECT_EQ(wrong.score(), 0.0);
  Bleu silent;
  silent.add({}, {words("a b")});
  EXPECT_EQ(silent.score(), 0.0);
  EXPECT_EQ(silent.brevity_penalty(), 0.0);
  EXPECT_EQ(Bleu().score(), 0.0);
}

TEST(Bleu, OrderOfItemsAndReferencesIsWithoutEffect) {
  const auto a = words("one two three four five");
  const auto b = words("one two four five six");
  const auto c = words("two three four five six seven");
  Bleu there;
  there.add(a, {b, c});
  there.add(b, {a});
  Bleu back;
  back.add(b, {a});
  back.add(a, {c, b});
  EXPECT_EQ(there.score(), back.score());
}

TEST(Chrf, ByHandOnOneWord) {
  // abc against abd: 2 of 3 characters, 1 of 2 pairs, 0 of 1; precision = recall = 7/18.
  Chrf chrf;
  chrf.add(U"abc", {U"abd"});
  EXPECT_NEAR(chrf.score(), 700.0 / 18.0, 1e-12);
}

TEST(Chrf, IgnoresWhiteSpaceUnlessWordsCount) {
  Chrf characters;
  characters.add(U"to day", {U"today"});
  EXPECT_NEAR(characters.score(), 100, 1e-12);
  Chrf words_too(6, 2);
  words_too.add(U"to day", {U"today"});
  EXPECT_LT(words_too.score(), 100);
}

TEST(Chrf, BestReferenceOfAnItemCounts) {
  Chrf chrf;
  chrf.add(U"bread", {U"water", U"bread", U""});
  EXPECT_NEAR(chrf.score(), 100, 1e-12);
}

TEST(Chrf, OfNothingIsZero) {
  Chrf chrf;
  chrf.add(U"", {U""});
  EXPECT_EQ(chrf.score(), 0.0);
}

}  // namespace
}  // namespace regard::eval
