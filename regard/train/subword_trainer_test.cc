#include "regard/train/subword_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "regard/base/error.h"
#include "regard/text/tokenizer.h"

namespace regard {
namespace {

constexpr auto kRule = CleanupRule::kNfcSpaces;

using Texts = std::vector<std::string>;

std::vector<std::string_view> views(const Texts& lines) { return {lines.begin(), lines.end()}; }

SubwordTable trained(const Texts& lines, int size) {
  return train_subwords(views(lines), size, kRule);
}

bool built_without_sentencepiece() { return sentencepiece_version().empty(); }

// Words of random syllables, the first ones more frequent; some accents, digits and marks.
Texts invented_lines(std::size_t count, unsigned seed) {
  static const Texts kOnsets = {"b", "d", "ch", "\xC3\xA9", "f", "gr",
                                "l", "m", "n",  "s",        "t", "1"};
  static const Texts kEnds = {"a", "e", "o", "in", "ou", "u", "\xC3\xA8", "ei", "-", "'"};
  std::mt19937 random(seed);
  Texts lines(count);
  for (std::string& line : lines) {
    for (std::size_t w = 0, words = 1 + random() % 9; w < words; ++w) {
      if (w > 0) line += ' ';
      for (std::size_t s = 0, syllables = 1 + random() % 4; s < syllables; ++s) {
        line += kOnsets[std::min(random() % kOnsets.size(), random() % kOnsets.size())];
        line += kEnds[std::min(random() % kEnds.size(), random() % kEnds.size())];
      }
    }
  }
  return lines;
}

TEST(SubwordTrainer, OurSegmenterCutsAsSentencePieceDoes) {
  if (built_without_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const Texts training = invented_lines(3000, 1);
  const SentencePieceModel model = train_sentencepiece(views(training), 900, kRule);
  ASSERT_GT(model.table.merges.size(), 800u);
  const SubwordSegmenter segmenter(model.table);

  Texts lines = invented_lines(20000, 2);
  std::mt19937 random(3);
  for (std::size_t i = 0; i < lines.size(); i += 5) {  // unseen characters, alone and in runs
    for (const char* unseen : {"\xE4\xB8\xAD", "Q", "\xF0\x9F\x98\x80", " </s>"}) {
      if (random() % 2 == 0) lines[i].insert(random() % 2 == 0 ? 0 : lines[i].size(), unseen);
    }
    lines[i] = clean_text(lines[i], kRule);
  }
  const auto expected = sentencepiece_segment(model.bytes, lines);
  std::size_t merged = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string text = " " + lines[i];
    Texts pieces;
    for (const Piece& piece : segmenter.segment(text)) {
      pieces.push_back(text.substr(piece.begin, piece.end - piece.begin));
      merged += piece.id >= segmenter.first_merge() ? 1 : 0;
    }
    ASSERT_EQ(pieces, expected[i]) << lines[i];
  }
  EXPECT_GT(merged, lines.size());
}

TEST(SubwordTrainer, EveryMergeServesAtLeastTwiceAndTheSizeIsKept) {
  if (built_without_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const Texts lines = invented_lines(300, 4);
  for (const int size : {100, 100000}) {
    const SubwordTable table = trained(lines, size);
    EXPECT_LE(table.characters.size() + table.merges.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(trained(lines, size).merges, table.merges);
    TokenCounts words;
    for (const auto& line : lines) count_tokens(line, TokenKind::kSubword, kRule, words);
    const SubwordSegmenter segmenter(table);
    std::vector<std::uint64_t> uses;
    for (const auto& [word, count] : words) segmenter.count_merges(word, count, uses);
    for (int id = segmenter.first_merge(); id < segmenter.vocabulary().size(); ++id) {
      ASSERT_GE(uses[static_cast<std::size_t>(id)], 2u) << segmenter.vocabulary().token(id);
    }
  }
}

TEST(SubwordTrainer, EveryCharacterOfTheLinesIsKnown) {
  if (built_without_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  const Texts lines = {"the \xE2\x96\x81 block", "the \xE2\x96\x85 shade",
                       "the <unk> of </s> and <s>", "e\xCC\x81", "zq" + std::string(1, '\x01')};
  const Tokenizer tokenizer(trained(lines, 1), kRule);
  for (const auto& line : lines) {
    const auto tokens = tokenizer.encode(line);
    EXPECT_EQ(count_unknown(tokens).tokens, 0u) << line;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode_ids(line)), tokenizer.clean(line));
  }
}

TEST(SubwordTrainer, OddLinesStopNothing) {
  if (built_without_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
  EXPECT_TRUE(trained({}, 10).merges.empty());
  EXPECT_EQ(trained({}, 10).characters, Texts{" "});
  EXPECT_TRUE(trained({"", " ", "\t"}, 10).merges.empty());
  EXPECT_EQ(trained({"a"}, 10).characters.size(), 2u);
  EXPECT_TRUE(trained({"\xE2\x96\x81"}, 10).merges.empty());
  std::string long_word;
  for (int i = 0; i < 70000; ++i) long_word += i % 3 == 0 ? "x" : "y";
  const SubwordTable table = trained({long_word, "abab abab", "abab"}, 1000);
  EXPECT_NE(std::find(table.merges.begin(), table.merges.end(), "ab"), table.merges.end());
  EXPECT_EQ(table.characters.size(), 5u);
  std::string long_line;
  for (int i = 0; i < 30000; ++i) long_line += "ab" + std::to_string(i % 7) + " ";
  EXPECT_FALSE(trained({long_line}, 50).merges.empty());
}

TEST(SubwordTrainer, WrongUseIsRefused) {
  if (built_without_sentencepiece()) {
    EXPECT_THROW(trained({"a"}, 10), ConfigError);
    EXPECT_THROW(train_sentencepiece({}, 10, kRule), ConfigError);
    EXPECT_THROW(sentencepiece_segment("", {}), ConfigError);
    return;
  }
  EXPECT_THROW(trained({"a"}, 0), ConfigError);
  EXPECT_THROW(trained({"a\xFF"}, 10), FormatError);
  EXPECT_THROW(train_sentencepiece({}, 10, kRule), ConfigError);
  EXPECT_THROW(sentencepiece_segment("no model", {}), Error);
}

}  // namespace
}  // namespace regard
