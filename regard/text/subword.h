// Subwords: a table of merges, and the segmenter that runs it.
//
// Byte-pair encoding as SentencePiece's `bpe` model applies it: a line starts with a blank, is cut
// into characters, and the adjacent pair whose joint text stands first in the table is merged,
// leftmost first, until no pair is in the table. Blanks are blanks here (SentencePiece writes
// U+2581), so U+2581 in a text is an ordinary character.
//
// Source   Sennrich et al. 2016, arXiv 1508.07909v5, section 3.2; Kudo and Richardson 2018,
// arXiv 1808.06226v1
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regard/text/vocabulary.h"

namespace regard {

struct SubwordTable {
  std::vector<std::string> characters;  // every character of the training text
  std::vector<std::string> merges;  // texts of two or more characters; the first is merged first
};

// A piece of a text: bytes [begin, end).
struct Piece {
  int id = kUnknownId;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A table, ready to run. A value; safe to use from many threads.
class SubwordSegmenter {
 public:
  SubwordSegmenter() = default;

  // Ids: the control tokens, the characters in the given order (a blank first if it is missing),
  // the merges in theirs.
  // Errors: ConfigError if an entry is no UTF-8, occurs twice, a character is not one character, or
  // a merge is shorter than two.
  explicit SubwordSegmenter(const SubwordTable& table);

  // From a vocabulary whose ids from `first_merge` on are merges. Errors: ConfigError as above.
  SubwordSegmenter(Vocabulary vocabulary, int first_merge);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  int first_merge() const { return first_merge_; }
  SubwordTable table() const;

  // Cuts `text`, which has its leading blank already, into pieces that cover it. Neighbouring
  // characters that are not in the table make one unknown piece.
  // REQUIRES: well-formed UTF-8 below 2 GB. Cost: n log n for n characters.
  std::vector<Piece> segment(std::string_view text) const;

  // Adds `weight` to uses[id] for each merge that segment() makes on the way, kept or merged on.
  void count_merges(std::string_view text, std::uint64_t weight,
                    std::vector<std::uint64_t>& uses) const;

 private:
  template <typename OnMerge>
  std::vector<Piece> run(std::string_view text, OnMerge on_merge) const;

  Vocabulary vocabulary_;
  int first_merge_ = kFirstTextId;
};

// The table without the merges that `words` (each with its leading blank) make fewer than
// `min_uses` times: `words` use every merge of the result that often. The blank is among its
// characters.
SubwordTable drop_rare_merges(const SubwordTable& table, const TokenCounts& words,
                              std::uint64_t min_uses = 2);

}  // namespace regard
