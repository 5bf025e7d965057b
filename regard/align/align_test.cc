#include "regard/align/align.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "regard/base/error.h"

namespace regard {
namespace {

AlignToken piece(std::int64_t word) { return {AlignRole::kPiece, word}; }
AlignToken blank() { return {AlignRole::kBlank, -1}; }
AlignToken special() { return {AlignRole::kSpecial, -1}; }

using Tokens = std::vector<AlignToken>;

TEST(AlignWords, ColumnOfAWordIsTheSumOfItsPiecesColumns) {
  const AlignMatrix pieces{1, 3, {0.25F, 0.5F, 0.25F}};
  const Alignment words =
      align_words(pieces, Tokens{piece(0), piece(0), piece(1)}, Tokens{piece(0)});
  ASSERT_EQ(words.matrix.cols, 2);
  EXPECT_EQ(words.matrix(0, 0), 0.75F);
  EXPECT_EQ(words.matrix(0, 1), 0.25F);
}

TEST(AlignWords, RowOfAWordIsTheMeanOfItsPiecesRows) {
  const AlignMatrix pieces{3, 2, {1.0F, 0.0F, 0.5F, 0.5F, 0.25F, 0.75F}};
  const Alignment words =
      align_words(pieces, Tokens{piece(0), piece(1)}, Tokens{piece(0), piece(0), piece(1)});
  ASSERT_EQ(words.matrix.rows, 2);
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.75F, 0.25F, 0.25F, 0.75F}));
}

TEST(AlignWords, ColumnOfABlankJoinsTheNextWord) {
  const AlignMatrix pieces{1, 3, {0.5F, 0.125F, 0.375F}};
  const Alignment words =
      align_words(pieces, Tokens{piece(0), blank(), piece(1)}, Tokens{piece(0)});
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.5F, 0.5F}));
}

TEST(AlignWords, ColumnOfABlankAfterTheLastWordJoinsThatWord) {
  const AlignMatrix pieces{1, 4, {0.5F, 0.125F, 0.125F, 0.25F}};
  const Tokens source{piece(0), blank(), blank(), special()};
  const Alignment words = align_words(pieces, source, Tokens{piece(0)});
  EXPECT_EQ(words.matrix.weights, std::vector<float>{1.0F});
  EXPECT_EQ(words.dropped, std::vector<float>{0.25F});
}

TEST(AlignWords, RowOfABlankIsDropped) {
  const AlignMatrix pieces{3, 2, {1.0F, 0.0F, 0.5F, 0.5F, 0.0F, 1.0F}};
  const Alignment words =
      align_words(pieces, Tokens{piece(0), piece(1)}, Tokens{piece(0), blank(), piece(1)});
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{1.0F, 0.0F, 0.0F, 1.0F}));
}

TEST(AlignWords, DroppingTheEndMarkerDividesByWhatIsLeftAndListsWhatWasTaken) {
  const AlignMatrix pieces{2, 3, {0.25F, 0.25F, 0.5F, 0.0F, 0.0F, 1.0F}};
  const Tokens source{piece(0), piece(1), special()};
  const Alignment words = align_words(pieces, source, Tokens{piece(0), special()});
  ASSERT_EQ(words.matrix.rows, 1);
  ASSERT_EQ(words.matrix.cols, 2);
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.5F, 0.5F}));
  EXPECT_EQ(words.dropped, std::vector<float>{0.5F});
  EXPECT_EQ(words.empty, std::vector<std::uint8_t>{0});
}

TEST(AlignWords, MergesBeforeItDrops) {
  // Two pieces of one word; the first looks at the end marker only. The mean of the rows is
  // (0.25, 0.25 | 0.5), so the first piece weighs nothing, rather than making the row undefined.
  const AlignMatrix pieces{2, 3, {0.0F, 0.0F, 1.0F, 0.5F, 0.5F, 0.0F}};
  const Tokens source{piece(0), piece(1), special()};
  const Alignment words = align_words(pieces, source, Tokens{piece(0), piece(0)});
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.5F, 0.5F}));
  EXPECT_EQ(words.dropped, std::vector<float>{0.5F});
}

TEST(AlignWords, RowWithLessThanAHundredthLeftIsZeroAndMarked) {
  const AlignMatrix pieces{2, 2, {0.009F, 0.991F, 0.011F, 0.989F}};
  const Alignment words =
      align_words(pieces, Tokens{piece(0), special()}, Tokens{piece(0), piece(1)});
  EXPECT_EQ(words.empty, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.0F, 1.0F}));
  EXPECT_EQ(words.dropped, (std::vector<float>{0.991F, 0.989F}));
  EXPECT_EQ(hard_links(words.matrix), (AlignLinks{{0, 1}}));
}

TEST(AlignWords, RowsAreNotDividedWhenNothingIsDropped) {
  const AlignMatrix sigmoid{1, 2, {0.9F, 0.8F}};  // a normaliser whose rows do not sum to one
  const Alignment words = align_words(sigmoid, Tokens{piece(0), piece(1)}, Tokens{piece(0)});
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.9F, 0.8F}));
}

TEST(AlignWords, WordWithoutPiecesHasAnEmptyRowOrColumn) {
  const AlignMatrix pieces{1, 1, {1.0F}};
  const Alignment words = align_words(pieces, Tokens{piece(1)}, Tokens{piece(1)});
  EXPECT_EQ(words.matrix.weights, (std::vector<float>{0.0F, 0.0F, 0.0F, 1.0F}));
  EXPECT_EQ(words.empty, (std::vector<std::uint8_t>{1, 0}));
}

TEST(AlignWords, BlankLineGivesEmptyLists) {
  const Alignment words = align_words(AlignMatrix{}, Tokens{}, Tokens{});
  EXPECT_EQ(words.matrix.rows, 0);
  EXPECT_EQ(words.matrix.cols, 0);
  EXPECT_TRUE(words.dropped.empty());
  EXPECT_TRUE(hard_links(words.matrix).empty());
  const Alignment markers = align_words({1, 1, {1.0F}}, Tokens{special()}, Tokens{special()});
  EXPECT_TRUE(markers.matrix.weights.empty());
}

TEST(AlignWords, SourceOfEndMarkersOnlyLeavesEveryRowEmpty) {
  const Alignment words = align_words({1, 1, {1.0F}}, Tokens{special()}, Tokens{piece(0)});
  EXPECT_EQ(words.matrix.rows, 1);
  EXPECT_EQ(words.matrix.cols, 0);
  EXPECT_EQ(words.empty, std::vector<std::uint8_t>{1});
}

TEST(AlignPieces, KeepsPiecesAndBlanks) {
  const AlignMatrix pieces{2, 3, {0.25F, 0.25F, 0.5F, 0.125F, 0.375F, 0.5F}};
  const Tokens source{piece(0), blank(), special()};
  const Alignment kept = align_pieces(pieces, source, Tokens{piece(0), blank()});
  EXPECT_EQ(kept.matrix.rows, 2);
  EXPECT_EQ(kept.matrix.weights, (std::vector<float>{0.5F, 0.5F, 0.25F, 0.75F}));
  EXPECT_EQ(kept.dropped, (std::vector<float>{0.5F, 0.5F}));
}

TEST(HardLinks, TakeTheLargestWeightAndOfEqualOnesTheFirst) {
  const AlignMatrix matrix{3, 3, {0.25F, 0.5F, 0.25F, 0.4F, 0.2F, 0.4F, 0.1F, 0.1F, 0.8F}};
  EXPECT_EQ(hard_links(matrix), (AlignLinks{{1, 0}, {0, 1}, {2, 2}}));
}

TEST(HardLinks, NeverHoldASpecialToken) {
  const AlignMatrix matrix{2, 3, {0.1F, 0.2F, 0.7F, 0.0F, 0.1F, 0.9F}};
  const Tokens source{piece(0), piece(1), special()};
  EXPECT_EQ(hard_links(matrix, source, Tokens{piece(0), special()}), (AlignLinks{{1, 0}}));
}

TEST(HardLinks, SkipRowsThatLookNowhere) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const AlignMatrix matrix{3, 2, {0.0F, 0.0F, nan, nan, nan, 0.5F}};
  EXPECT_EQ(hard_links(matrix), (AlignLinks{{1, 2}}));
}

TEST(HardLinks, StayInRangeForAnyPiecesBlanksAndMarkers) {
  std::uint32_t state = 12345;
  const auto random = [&state](std::uint32_t bound) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % bound;
  };
  const auto side = [&random] {
    Tokens tokens;
    std::int64_t word = 0;
    for (std::uint32_t n = random(12); n > 0; --n) {
      const std::uint32_t kind = random(5);
      if (kind == 0)
        tokens.push_back(blank());
      else if (kind == 1)
        tokens.push_back(piece(word++));
      else
        tokens.push_back(piece(word));
    }
    if (random(2) == 0) tokens.push_back(special());
    return tokens;
  };
  for (int round = 0; round < 500; ++round) {
    const Tokens source = side();
    const Tokens target = side();
    AlignMatrix pieces{
        static_cast<std::int64_t>(target.size()), static_cast<std::int64_t>(source.size()), {}};
    for (std::size_t i = 0; i < target.size(); ++i) {
      std::vector<float> row(source.size());
      float sum = 0.0F;
      for (float& weight : row) sum += weight = static_cast<float>(random(1000) + 1);
      for (const float weight : row) pieces.weights.push_back(weight / sum);
    }
    const Alignment words = align_words(pieces, source, target);
    for (std::int64_t r = 0; r < words.matrix.rows; ++r) {
      float sum = 0.0F;
      for (std::int64_t c = 0; c < words.matrix.cols; ++c) sum += words.matrix(r, c);
      EXPECT_NEAR(sum, words.empty[static_cast<std::size_t>(r)] != 0 ? 0.0F : 1.0F, 1e-5F);
    }
    for (const auto& [from, to] : hard_links(words.matrix)) {
      EXPECT_GE(from, 0);
      EXPECT_LT(from, count_words(source));
      EXPECT_GE(to, 0);
      EXPECT_LT(to, count_words(target));
    }
  }
}

TEST(SumPerWord, AddsPiecesAndGivesABlankToTheNextWord) {
  const Tokens tokens{piece(0), piece(0), blank(), piece(1), special()};
  const std::vector<float> values{-1.0F, -2.0F, -0.5F, -4.0F, -8.0F};
  EXPECT_EQ(sum_per_word(values, tokens), (std::vector<float>{-3.0F, -4.5F}));
}

TEST(Align, NamesSizesThatDisagree) {
  const AlignMatrix matrix{1, 2, {0.5F, 0.5F}};
  const Tokens one{piece(0)};
  const Tokens two{piece(0), piece(1)};
  EXPECT_THROW(align_words(matrix, one, one), ShapeError);
  EXPECT_THROW(align_words(matrix, two, two), ShapeError);
  EXPECT_THROW(align_pieces(matrix, one, one), ShapeError);
  EXPECT_THROW(hard_links(matrix, one, one), ShapeError);
  EXPECT_THROW(hard_links(AlignMatrix{2, 2, {1.0F}}), ShapeError);
  EXPECT_THROW(hard_links(AlignMatrix{-1, -1, {1.0F}}), ShapeError);
  EXPECT_THROW(sum_per_word(std::vector<float>{1.0F}, two), ShapeError);
}

TEST(Align, RefusesAPieceWithoutAWord) {
  EXPECT_THROW(align_words({1, 1, {1.0F}}, Tokens{piece(-1)}, Tokens{piece(0)}), ShapeError);
}

}  // namespace
}  // namespace regard
