#include "regard/text/subword.h"

#include <gtest/gtest.h>

#include <random>

#include "regard/base/error.h"

namespace regard {
namespace {

std::vector<std::string> texts(std::string_view text, const SubwordSegmenter& segmenter) {
  std::vector<std::string> pieces;
  for (const Piece& piece : segmenter.segment(text)) {
    pieces.emplace_back(text.substr(piece.begin, piece.end - piece.begin));
  }
  return pieces;
}

using Texts = std::vector<std::string>;

const SubwordTable kTable = {{" ", "l", "o", "w", "e", "r"}, {"lo", "er", " lo", " low", "wer"}};

TEST(Subword, TheFirstMergeOfTheTableGoesFirst) {
  const SubwordSegmenter segmenter(kTable);
  EXPECT_EQ(texts(" low", segmenter), (Texts{" low"}));
  // "er" stands before " low", so "w" is still free when "er" has formed; then " low" takes it.
  EXPECT_EQ(texts(" lower", segmenter), (Texts{" low", "er"}));
  EXPECT_EQ(texts(" rower", segmenter), (Texts{" ", "r", "o", "wer"}));
  EXPECT_EQ(texts("", segmenter), Texts{});
}

TEST(Subword, EqualPairsMergeFromTheLeft) {
  const SubwordSegmenter segmenter(SubwordTable{{"a"}, {"aa"}});
  EXPECT_EQ(texts("aaa", segmenter), (Texts{"aa", "a"}));
  EXPECT_EQ(texts("aaaaa", segmenter), (Texts{"aa", "aa", "a"}));
}

TEST(Subword, NeighbouringUnknownCharactersAreOnePiece) {
  const SubwordSegmenter segmenter(kTable);
  const auto pieces = segmenter.segment(" \xE4\xB8\xAD\xE6\x96\x87lo");
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1].id, kUnknownId);
  EXPECT_EQ(pieces[1].begin, 1u);
  EXPECT_EQ(pieces[1].end, 7u);
  EXPECT_EQ(pieces[2].id, segmenter.first_merge());
}

TEST(Subword, TheBlankIsAlwaysInTheTable) {
  const SubwordSegmenter segmenter(SubwordTable{{"a"}, {}});
  EXPECT_EQ(segmenter.vocabulary().find(" "), kFirstTextId);
  EXPECT_EQ(segmenter.table().characters, (Texts{" ", "a"}));
}

// The definition, word for word: merge the best leftmost pair until there is none.
Texts plain_segment(std::string_view text, const SubwordTable& table) {
  Texts symbols;
  for (const char c : text) symbols.emplace_back(1, c);
  while (true) {
    std::size_t best_rank = table.merges.size();
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found =
          std::find(table.merges.begin(), table.merges.end(), symbols[i] + symbols[i + 1]);
      const auto rank = static_cast<std::size_t>(found - table.merges.begin());
      if (rank < best_rank) {
        best_rank = rank;
        best = i;
      }
    }
    if (best_rank == table.merges.size()) return symbols;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Subword, TheHeapGivesWhatTheDefinitionGives) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    SubwordTable table{{" ", "a", "b"}, {}};
    for (int i = 0; i < 12; ++i) {
      std::string merge;
      for (std::size_t k = 0, n = 2 + random() % 3; k < n; ++k) merge += "ab "[random() % 3];
      if (std::find(table.merges.begin(), table.merges.end(), merge) == table.merges.end()) {
        table.merges.push_back(merge);
      }
    }
    const SubwordSegmenter segmenter(table);
    for (int i = 0; i < 20; ++i) {
      std::string text;
      for (std::size_t k = 0, n = random() % 20; k < n; ++k) text += "ab "[random() % 3];
      ASSERT_EQ(texts(text, segmenter), plain_segment(text, table)) << text;
    }
  }
}

TEST(Subword, MergesThatTheWordsHardlyUseAreDropped) {
  // "er" and "lo" serve twice; "wer" once; " low" once by a word seen twice.
  const TokenCounts words = {{" wer", 1}, {" low", 2}, {" er", 1}};
  const SubwordTable kept = drop_rare_merges(kTable, words);
  EXPECT_EQ(kept.merges, (Texts{"lo", "er", " lo", " low"}));
  EXPECT_EQ(kept.characters, kTable.characters);
  EXPECT_TRUE(drop_rare_merges(kTable, {}).merges.empty());
}

TEST(Subword, WrongTablesAreRefused) {
  EXPECT_THROW(SubwordSegmenter(SubwordTable{{"ab"}, {}}), ConfigError);
  EXPECT_THROW(SubwordSegmenter(SubwordTable{{"a"}, {"b"}}), ConfigError);
  EXPECT_THROW(SubwordSegmenter(SubwordTable{{"a", "a"}, {}}), ConfigError);
  EXPECT_THROW(SubwordSegmenter(SubwordTable{{"\xFF"}, {}}), ConfigError);
  EXPECT_THROW(SubwordSegmenter(Vocabulary(), 9), ConfigError);
  EXPECT_THROW(SubwordSegmenter(Vocabulary(), 0), ConfigError);
}

}  // namespace
}  // namespace regard
