// Both merges share one idea: every token belongs to a group (a word, or itself) or to none
// (special). Columns of a group are summed, rows averaged.
#include "regard/align/align.h"

#include <algorithm>
#include <string>

#include "regard/base/error.h"

namespace regard {
namespace {

constexpr std::int64_t kNoGroup = -1;

struct Groups {
  std::vector<std::int64_t> of;  // the group of each token, or kNoGroup
  std::int64_t count = 0;
};

void require_size(const char* what, std::int64_t got, std::int64_t wanted) {
  if (got != wanted) {
    throw ShapeError(std::string("align: ") + what + " has " + std::to_string(got) +
                     " entries, wanted " + std::to_string(wanted));
  }
}

void require_filled(const AlignMatrix& matrix) {
  if (matrix.rows < 0 || matrix.cols < 0) {
    throw ShapeError("align: the matrix has negative extents");
  }
  require_size("the list of weights", static_cast<std::int64_t>(matrix.weights.size()),
               matrix.rows * matrix.cols);
}

void require_shape(const AlignMatrix& matrix, std::span<const AlignToken> source,
                   std::span<const AlignToken> target) {
  require_filled(matrix);
  require_size("the list of source tokens", static_cast<std::int64_t>(source.size()), matrix.cols);
  require_size("the list of target tokens", static_cast<std::int64_t>(target.size()), matrix.rows);
}

enum class Blanks { kJoinNext, kLeaveOut };

// One group a word.
Groups group_words(std::span<const AlignToken> tokens, Blanks blanks) {
  Groups groups{std::vector<std::int64_t>(tokens.size(), kNoGroup), count_words(tokens)};
  std::int64_t next = kNoGroup;
  for (std::size_t t = tokens.size(); t-- > 0;) {
    if (tokens[t].role == AlignRole::kPiece) {
      groups.of[t] = next = tokens[t].word;
    } else if (tokens[t].role == AlignRole::kBlank && blanks == Blanks::kJoinNext) {
      groups.of[t] = next;
    }
  }
  if (blanks == Blanks::kLeaveOut) return groups;
  std::int64_t last = kNoGroup;  // for blanks after the last word
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].role == AlignRole::kPiece) last = tokens[t].word;
    if (tokens[t].role == AlignRole::kBlank && groups.of[t] == kNoGroup) groups.of[t] = last;
  }
  return groups;
}

// One group a token, special tokens left out.
Groups group_tokens(std::span<const AlignToken> tokens) {
  Groups groups{std::vector<std::int64_t>(tokens.size(), kNoGroup), 0};
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].role != AlignRole::kSpecial) groups.of[t] = groups.count++;
  }
  return groups;
}

// Sums of weights in double: one row a target group; the special columns' mass apart.
struct Sums {
  std::vector<double> weights;     // [target groups, source groups]
  std::vector<double> special;     // [target groups]
  std::vector<std::int64_t> rows;  // [target groups] how many rows were added
};

Sums add_up(const AlignMatrix& pieces, const Groups& source, const Groups& target) {
  const auto cells = static_cast<std::size_t>(target.count * source.count);
  const auto rows = static_cast<std::size_t>(target.count);
  Sums sums{std::vector<double>(cells), std::vector<double>(rows), std::vector<std::int64_t>(rows)};
  for (std::int64_t i = 0; i < pieces.rows; ++i) {
    const std::int64_t row = target.of[static_cast<std::size_t>(i)];
    if (row == kNoGroup) continue;
    ++sums.rows[static_cast<std::size_t>(row)];
    for (std::int64_t j = 0; j < pieces.cols; ++j) {
      const std::int64_t col = source.of[static_cast<std::size_t>(j)];
      const double weight = pieces(i, j);
      if (col == kNoGroup) {
        sums.special[static_cast<std::size_t>(row)] += weight;
      } else {
        sums.weights[static_cast<std::size_t>(row * source.count + col)] += weight;
      }
    }
  }
  return sums;
}

Alignment finish(const Sums& sums, std::int64_t rows, std::int64_t cols, bool divide) {
  Alignment result;
  result.matrix = {rows, cols, std::vector<float>(static_cast<std::size_t>(rows * cols))};
  result.dropped.assign(static_cast<std::size_t>(rows), 0.0F);
  result.empty.assign(static_cast<std::size_t>(rows), 0);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    if (sums.rows[r] == 0) {
      result.empty[r] = 1;
      continue;
    }
    const auto count = static_cast<double>(sums.rows[r]);
    result.dropped[r] = static_cast<float>(sums.special[r] / count);
    const std::size_t begin = r * static_cast<std::size_t>(cols);
    double left = 0.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) {
      left += sums.weights[begin + c] / count;
    }
    if (left < static_cast<double>(kLeastMass)) {
      result.empty[r] = 1;
      continue;
    }
    const double divisor = divide ? left : 1.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) {
      result.matrix.weights[begin + c] =
          static_cast<float>(sums.weights[begin + c] / count / divisor);
    }
  }
  return result;
}

Alignment merge(const AlignMatrix& pieces, const Groups& source, const Groups& target,
                bool has_special) {
  return finish(add_up(pieces, source, target), target.count, source.count, has_special);
}

bool any_special(std::span<const AlignToken> tokens) {
  return std::any_of(tokens.begin(), tokens.end(),
                     [](const AlignToken& t) { return t.role == AlignRole::kSpecial; });
}

}  // namespace

std::int64_t count_words(std::span<const AlignToken> tokens) {
  std::int64_t words = 0;
  for (const AlignToken& token : tokens) {
    if (token.role != AlignRole::kPiece) continue;
    if (token.word < 0) throw ShapeError("align: a piece belongs to no word; is it a blank?");
    words = std::max(words, token.word + 1);
  }
  return words;
}

Alignment align_words(const AlignMatrix& pieces, std::span<const AlignToken> source,
                      std::span<const AlignToken> target) {
  require_shape(pieces, source, target);
  return merge(pieces, group_words(source, Blanks::kJoinNext),
               group_words(target, Blanks::kLeaveOut), any_special(source));
}

Alignment align_pieces(const AlignMatrix& pieces, std::span<const AlignToken> source,
                       std::span<const AlignToken> target) {
  require_shape(pieces, source, target);
  return merge(pieces, group_tokens(source), group_tokens(target), any_special(source));
}

AlignLinks hard_links(const AlignMatrix& matrix) {
  const std::vector<AlignToken> source(
      static_cast<std::size_t>(std::max<std::int64_t>(matrix.cols, 0)));
  const std::vector<AlignToken> target(
      static_cast<std::size_t>(std::max<std::int64_t>(matrix.rows, 0)));
  return hard_links(matrix, source, target);
}

AlignLinks hard_links(const AlignMatrix& matrix, std::span<const AlignToken> source,
                      std::span<const AlignToken> target) {
  require_shape(matrix, source, target);
  AlignLinks links;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    if (target[static_cast<std::size_t>(i)].role == AlignRole::kSpecial) continue;
    std::int64_t best = -1;
    float largest = 0.0F;
    for (std::int64_t j = 0; j < matrix.cols; ++j) {
      if (source[static_cast<std::size_t>(j)].role == AlignRole::kSpecial) continue;
      if (matrix(i, j) > largest) {
        largest = matrix(i, j);
        best = j;
      }
    }
    if (best >= 0) links.emplace_back(best, i);
  }
  return links;
}

std::vector<float> sum_per_word(std::span<const float> values, std::span<const AlignToken> tokens) {
  require_size("the list of values", static_cast<std::int64_t>(values.size()),
               static_cast<std::int64_t>(tokens.size()));
  const Groups groups = group_words(tokens, Blanks::kJoinNext);
  std::vector<double> sums(static_cast<std::size_t>(groups.count));
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (groups.of[t] != kNoGroup) sums[static_cast<std::size_t>(groups.of[t])] += values[t];
  }
  return {sums.begin(), sums.end()};
}

}  // namespace regard
