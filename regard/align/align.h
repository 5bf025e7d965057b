// From attention weights to alignments: words on top of pieces, special tokens out, hard links.
//
// Rows are target tokens, columns source tokens. The steps, in this order:
//   merge   a word's row is the mean of its target pieces' rows; its column is the sum of its
//   source
//           pieces' columns. A blank's column joins the next word (the last word if none follows);
//           its row is dropped.
//   drop    the columns and rows of special tokens (end markers) go; what is left of a row is
//           divided by its sum. The mass that the special columns had is listed. With less than
//           kLeastMass left the row looks nowhere: it is zero, and marked as such.
//   link    each target is linked to the source with the largest weight.
//
// Values   sums run in double, in index order, so results have the same bits everywhere.
// Threads  pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace regard {

// Below this much left on real tokens, a row is zero and marked empty.
inline constexpr float kLeastMass = 0.01F;

// What a row or column of the matrix stands for.
enum class AlignRole : std::uint8_t {
  kPiece,    // (a part of) the word `word`
  kBlank,    // a blank between words, as character models have; `word` is not read
  kSpecial,  // an end marker or the like, no part of the text; `word` is not read
};

struct AlignToken {
  AlignRole role = AlignRole::kPiece;
  std::int64_t word = -1;  // from 0
};

// A matrix of weights, row-major.
struct AlignMatrix {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<float> weights;  // [rows, cols]

  float operator()(std::int64_t row, std::int64_t col) const {
    return weights[static_cast<std::size_t>(row * cols + col)];
  }
};

// A matrix without special tokens, and what was taken from each of its rows.
struct Alignment {
  AlignMatrix matrix;
  std::vector<float> dropped;       // [rows] mass that special columns had, before the division
  std::vector<std::uint8_t> empty;  // [rows] 1: less than kLeastMass was left, the row is zero
};

// (source, target), both from 0.
using AlignLinks = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The number of words that `tokens` name: one above the largest word of a piece.
std::int64_t count_words(std::span<const AlignToken> tokens);

// Merges pieces into words and drops special tokens.
//
// Shapes   pieces [target.size(), source.size()]; the result is
//          [count_words(target), count_words(source)].
// Values   a target word without a piece (a gap in the numbers) has an empty row, and a source word
//          without one a zero column. Without special columns rows are not divided. With no source
//          word every row is empty.
// Errors   ShapeError if sizes disagree or a piece has a negative word.
Alignment align_words(const AlignMatrix& pieces, std::span<const AlignToken> source,
                      std::span<const AlignToken> target);

// Drops special tokens only: every other token, blanks included, keeps its row or column.
// Errors   as above, but the words are not read.
Alignment align_pieces(const AlignMatrix& pieces, std::span<const AlignToken> source,
                       std::span<const AlignToken> target);

// Links each row to its column of the largest weight; of equal ones, the first. A row without any
// weight above zero has no link. Sorted by target.
// Errors   ShapeError if weights do not fill the matrix.
AlignLinks hard_links(const AlignMatrix& matrix);

// As above for a matrix that still has its special tokens: they are never linked. Links number
// tokens.
// Errors   ShapeError if sizes disagree.
AlignLinks hard_links(const AlignMatrix& matrix, std::span<const AlignToken> source,
                      std::span<const AlignToken> target);

// Adds up one value per token (log-probabilities) into one per word. A blank's value joins the next
// word, as its column does; special tokens are left out. A word without a token has 0.
// Errors   ShapeError if sizes disagree or a piece has a negative word.
std::vector<float> sum_per_word(std::span<const float> values, std::span<const AlignToken> tokens);

}  // namespace regard
