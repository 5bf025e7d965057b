#include "regard/text/tokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr auto kRule = CleanupRule::kNfcSpaces;

Tokenizer trained(TokenKind kind, const std::vector<std::string>& lines,
                  VocabularyLimits limits = {}, CleanupRule rule = kRule) {
  TokenCounts counts;
  for (const auto& line : lines) count_tokens(line, kind, rule, counts);
  return build_tokenizer(kind, counts, rule, limits);
}

Tokenizer subword() {
  return Tokenizer(
      SubwordTable{{"e", "h", "l", "o", "r", "t", "\xC3\xA9"}, {"he", " t", " the", "re", "ll"}},
      kRule);
}

std::vector<std::string> texts(const std::vector<Token>& tokens) {
  std::vector<std::string> out;
  for (const Token& token : tokens) out.push_back(token.text);
  return out;
}

std::vector<int> ids(const std::vector<Token>& tokens) {
  std::vector<int> out;
  for (const Token& token : tokens) out.push_back(token.id);
  return out;
}

std::vector<int> words(const std::vector<Token>& tokens) {
  std::vector<int> out;
  for (const Token& token : tokens) out.push_back(token.word);
  return out;
}

using Texts = std::vector<std::string>;
using Ints = std::vector<int>;

TEST(Tokenizer, CharactersIncludeTheBlankWhichBelongsToNoWord) {
  const Tokenizer tokenizer = trained(TokenKind::kChar, {"ab c"});
  const auto tokens = tokenizer.encode("a  b\xC2\xA0 c");
  EXPECT_EQ(texts(tokens), (Texts{"a", " ", "b", " ", "c"}));
  EXPECT_EQ(words(tokens), (Ints{0, -1, 1, -1, 2}));
  EXPECT_EQ(tokens[3].begin, 4u);
  EXPECT_EQ(tokens[3].end, 7u);
  EXPECT_EQ(tokenizer.decode(ids(tokens)), "a b c");
}

TEST(Tokenizer, WordsAreWhatStandsBetweenBlanks) {
  const Tokenizer tokenizer = trained(TokenKind::kWord, {"the cat", "the dog"});
  const auto tokens = tokenizer.encode(" the\tbird ");
  EXPECT_EQ(texts(tokens), (Texts{"the", "bird"}));
  EXPECT_EQ(ids(tokens), (Ints{kFirstTextId, kUnknownId}));
  EXPECT_EQ(words(tokens), (Ints{0, 1}));
  EXPECT_EQ(tokens[1].begin, 5u);
  EXPECT_EQ(tokens[1].end, 9u);
  EXPECT_EQ(count_unknown(tokens).tokens, 1u);
  EXPECT_EQ(count_unknown(tokens).characters, 4u);
}

TEST(Tokenizer, SubwordPiecesHoldTheBlankBeforeAWord) {
  const auto tokens = subword().encode("the \xE4\xB8\xAD\xE6\x96\x87 there");
  EXPECT_EQ(texts(tokens), (Texts{" the", " ", "\xE4\xB8\xAD\xE6\x96\x87", " the", "re"}));
  EXPECT_EQ(words(tokens), (Ints{0, 1, 1, 2, 2}));
  EXPECT_EQ(tokens[0].begin, 0u);
  EXPECT_EQ(tokens[0].end, 3u);
  EXPECT_EQ(tokens[1].begin, 3u);
  EXPECT_EQ(tokens[1].end, 4u);
  EXPECT_EQ(tokens[3].begin, 11u);  // the blank is not counted
  EXPECT_EQ(tokens[3].end, 14u);
  EXPECT_EQ(tokens[2].id, kUnknownId);
  EXPECT_EQ(count_unknown(tokens).characters, 2u);
  const Texts unknown = {tokens[2].text};
  EXPECT_EQ(subword().decode(ids(tokens), unknown), "the \xE4\xB8\xAD\xE6\x96\x87 there");
  const auto first = subword().encode("hot");
  EXPECT_EQ(first[0].text, " ");
  EXPECT_EQ(first[0].begin, first[0].end);
}

TEST(Tokenizer, ABlankLineHasNoTokens) {
  for (const Tokenizer& tokenizer :
       {trained(TokenKind::kChar, {"a b"}), trained(TokenKind::kWord, {"a b"}), subword(),
        trained(TokenKind::kChar, {"a b"}, {}, CleanupRule::kNone)}) {
    for (const char* line : {"", " ", "   "}) {
      EXPECT_TRUE(tokenizer.encode(line).empty());
      EXPECT_TRUE(tokenizer.encode_ids(line).empty());
    }
    EXPECT_EQ(tokenizer.decode({}), "");
  }
  EXPECT_TRUE(subword().encode("\t\xC2\xA0").empty());
}

TEST(Tokenizer, TextThatLooksLikeAControlTokenIsText) {
  const Texts lines = {"a b </s> c d", "<s>", "<unk> <unk>", "<pad>", "<s></s>"};
  for (const auto kind : {TokenKind::kChar, TokenKind::kWord}) {
    const Tokenizer tokenizer = trained(kind, lines);
    for (const auto& line : lines) {
      for (const int id : tokenizer.encode_ids(line)) EXPECT_GE(id, kFirstTextId) << line;
      EXPECT_EQ(tokenizer.decode(tokenizer.encode_ids(line)), line);
    }
  }
  const Tokenizer without = trained(TokenKind::kWord, {"a b"});
  EXPECT_EQ(without.encode_ids("</s> <s> <unk>"), (Ints{kUnknownId, kUnknownId, kUnknownId}));
  EXPECT_EQ(without.piece(kEndId), "</s>");
}

TEST(Tokenizer, BothSpellingsOfAnAccentGiveTheSameIds) {
  const Tokenizer tokenizer = trained(TokenKind::kChar, {"caf\xC3\xA9 x"});
  EXPECT_EQ(tokenizer.encode_ids("cafe\xCC\x81"), tokenizer.encode_ids("caf\xC3\xA9"));
  EXPECT_EQ(count_unknown(tokenizer.encode("cafe\xCC\x81")).tokens, 0u);
  EXPECT_EQ(tokenizer.encode_ids("a\xC2\xA0x"), tokenizer.encode_ids("a x"));
  EXPECT_EQ(tokenizer.encode_ids("a\xE3\x80\x80x"), tokenizer.encode_ids("a x"));
  const auto accent = tokenizer.encode("fe\xCC\x81x");
  EXPECT_EQ(accent[1].begin, 1u);
  EXPECT_EQ(accent[1].end, 4u);
  const Tokenizer raw = trained(TokenKind::kChar, {"caf\xC3\xA9 x"}, {}, CleanupRule::kNone);
  EXPECT_EQ(count_unknown(raw.encode("cafe\xCC\x81")).characters, 2u);
}

TEST(Tokenizer, UnseenCharactersAreUnknownWithTheirText) {
  const Tokenizer tokenizer = trained(TokenKind::kChar, {"word"});
  const auto tokens = tokenizer.encode("wo#rd\xF0\x9F\x98\x80");
  EXPECT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens[2].id, kUnknownId);
  EXPECT_EQ(tokens[2].text, "#");
  EXPECT_EQ(tokens[5].text, "\xF0\x9F\x98\x80");
  EXPECT_EQ(tokenizer.decode(ids(tokens)), "wo\xEF\xBF\xBDrd\xEF\xBF\xBD");
  const Texts one = {"#"};
  EXPECT_EQ(tokenizer.decode(ids(tokens), one), "wo#rd\xEF\xBF\xBD");
}

TEST(Tokenizer, LimitsMakeRareTokensUnknown) {
  const Tokenizer tokenizer = trained(TokenKind::kWord, {"a a b b c"}, {2, 0});
  EXPECT_EQ(tokenizer.size(), kFirstTextId + 2);
  EXPECT_EQ(tokenizer.encode_ids("c a"), (Ints{kUnknownId, kFirstTextId}));
  EXPECT_EQ(trained(TokenKind::kWord, {"a a b b c"}, {1, 1}).size(), kFirstTextId + 1);
}

std::string random_line(std::mt19937& random) {
  static const Texts kParts = {"the",          "there",     " ",        " ",  "he",           "ll",
                               "\xC3\xA9",     "e\xCC\x81", "\xC2\xA0", "\t", "\xE4\xB8\xAD", "o",
                               "\xE2\x96\x81", "</s>"};
  std::string line;
  for (std::size_t i = 0, n = random() % 10; i < n; ++i) line += kParts[random() % kParts.size()];
  return line;
}

TEST(Tokenizer, DecodingGivesTheCleanedLineAndWordsAgree) {
  std::mt19937 random(11);
  const std::vector<Tokenizer> tokenizers = {trained(TokenKind::kChar, {"the o"}),
                                             trained(TokenKind::kWord, {"the there"}), subword()};
  for (int i = 0; i < 6000; ++i) {
    const Tokenizer& tokenizer = tokenizers[static_cast<std::size_t>(i) % 3];
    const std::string raw = random_line(random);
    const auto tokens = tokenizer.encode(raw);
    const std::string clean = tokenizer.clean(raw);
    Texts unknown;
    std::uint32_t last = 0;
    const auto clean_words = split_words(clean);
    Texts word_texts(clean_words.size());
    for (const Token& token : tokens) {
      if (token.id == kUnknownId) unknown.push_back(token.text);
      ASSERT_LE(last, token.begin);
      ASSERT_LE(token.begin, token.end);
      last = token.begin;
      ASSERT_LE(token.end, raw.size());
      ASSERT_LT(token.word, static_cast<int>(clean_words.size()));
      if (token.word >= 0) {
        word_texts[static_cast<std::size_t>(token.word)] +=
            token.text.substr(token.text.starts_with(' ') ? 1 : 0);
      }
      const auto place = std::string_view(raw).substr(token.begin, token.end - token.begin);
      const auto shown = tokenizer.clean(token.text);
      ASSERT_EQ(tokenizer.clean(place), shown) << raw;
    }
    ASSERT_EQ(tokenizer.encode_ids(raw), ids(tokens));
    ASSERT_EQ(tokenizer.decode(ids(tokens), unknown), clean);
    ASSERT_EQ(tokenizer.word_indices(ids(tokens)), words(tokens)) << raw;
    for (std::size_t k = 0; k < clean_words.size(); ++k) ASSERT_EQ(word_texts[k], clean_words[k]);
  }
}

TEST(Tokenizer, WordsOfATranslationFollowItsText) {
  const Tokenizer tokenizer = subword();
  const int blank = *tokenizer.vocabulary().find(" ");
  const int the = *tokenizer.vocabulary().find(" the");
  const int re = *tokenizer.vocabulary().find("re");
  const std::vector<int> out = {re, re, blank, blank, the, kUnknownId, blank, kEndId};
  EXPECT_EQ(tokenizer.word_indices(out), (Ints{0, 0, 1, 1, 1, 1, -1, -1}));
  EXPECT_EQ(tokenizer.decode(out), "rere the\xEF\xBF\xBD");
}

TEST(Tokenizer, ComesBackFromItsBlocks) {
  for (const Tokenizer& tokenizer :
       {trained(TokenKind::kChar, {"ab\tc"}, {}, CleanupRule::kNone),
        trained(TokenKind::kWord, {"a b </s>"}), subword(), Tokenizer()}) {
    const auto blocks = tokenizer.serialize();
    const Tokenizer back = Tokenizer::deserialize(blocks);
    EXPECT_EQ(back, tokenizer);
    EXPECT_EQ(back.serialize(), blocks);
    EXPECT_EQ(back.encode_ids("the b"), tokenizer.encode_ids("the b"));
  }
}

void expect_damaged(const std::vector<std::uint8_t>& block, const Vocabulary& vocabulary) {
  try {
    Tokenizer::deserialize(block, vocabulary.serialize());
    FAIL() << "no error";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kModel);
  }
}

Vocabulary vocabulary_of(const Texts& tokens) { return Vocabulary::from_tokens(tokens); }

TEST(Tokenizer, DamagedBlocksAreRefused) {
  const Vocabulary good = vocabulary_of({" ", "a", "aa"});
  expect_damaged({}, good);
  expect_damaged({9, 0, 1, 0, 0, 0, 0, 0}, good);          // version
  expect_damaged({1, 3, 1, 0, 0, 0, 0, 0}, good);          // kind
  expect_damaged({1, 0, 2, 0, 0, 0, 0, 0}, good);          // rule
  expect_damaged({1, 0, 1, 1, 0, 0, 0, 0}, good);          // zero byte
  expect_damaged({1, 0, 1, 0, 4, 0, 0, 0}, good);          // merges of a char tokenizer
  expect_damaged({1, 2, 1, 0, 255, 255, 255, 255}, good);  // first merge
  expect_damaged({1, 2, 1, 0, 4, 0, 0, 0}, good);          // "a" is no merge
  expect_damaged({1, 2, 1, 0, 2, 0, 0, 0}, good);          // a control token is no merge
  expect_damaged({1, 0, 1, 0, 0, 0, 0, 0}, vocabulary_of({"\n"}));
  expect_damaged({1, 0, 1, 0, 0, 0, 0, 0}, vocabulary_of({"\t"}));
  expect_damaged({1, 1, 1, 0, 0, 0, 0, 0}, vocabulary_of({"a b"}));
  EXPECT_NO_THROW(
      Tokenizer::deserialize(std::vector<std::uint8_t>{1, 2, 1, 0, 5, 0, 0, 0}, good.serialize()));
  EXPECT_THROW(Tokenizer::deserialize({{"vocabulary", good.serialize()}}), FormatError);
  EXPECT_THROW(Tokenizer::deserialize({{"tokenizer", {1, 0, 1, 0, 0, 0, 0, 0}}}), FormatError);
}

TEST(Tokenizer, WrongUseIsRefused) {
  EXPECT_THROW(Tokenizer(TokenKind::kSubword, Vocabulary(), kRule), ConfigError);
  EXPECT_THROW(Tokenizer(TokenKind::kChar, vocabulary_of({"\xFF"}), kRule), ConfigError);
  EXPECT_THROW(Tokenizer(SubwordTable{{"\n"}, {}}, kRule), ConfigError);
  const Ints outside = {99};
  EXPECT_THROW(static_cast<void>(subword().decode(outside)), ShapeError);
  EXPECT_THROW(static_cast<void>(subword().word_indices(outside)), ShapeError);
  EXPECT_THROW(static_cast<void>(subword().piece(-1)), ShapeError);
  EXPECT_THROW(static_cast<void>(subword().encode("a\xFF")), FormatError);
  EXPECT_THROW(static_cast<void>(subword().encode_ids("a\xFF")), FormatError);
}

}  // namespace
}  // namespace regard
