// Alignment error rate of word links against sure and possible gold links.
//
// Math     AER = 1 - (|A and S| + |A and P|) / (|A| + |S|), precision = |A and P| / |A|,
//          recall = |A and S| / |S|, all in per cent; S is a part of P; counts are of the whole
//          corpus.
// Source   Och and Ney 2003, Computational Linguistics 29(1), section 3.3.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "regard/text/links.h"

namespace regard::eval {

struct GoldLink {
  Link words;
  bool sure = true;

  friend bool operator==(const GoldLink&, const GoldLink&) = default;
};

// One line of gold links: `s-t` is sure, `spt` or `s?t` only possible; separated by blanks or TABs.
// `first` is the number of a line's first word in the file (0, or 1 in some gold files); it is
// taken off. Ascending, without duplicates; a pair given both ways is sure.
// Errors   FormatError(kData) if a piece is no link; `place` ("file:line") starts its message.
std::vector<GoldLink> parse_gold_links(std::string_view line, std::string_view place,
                                       std::uint32_t first = 0);

class AlignmentError {
 public:
  // A link that the hypothesis has twice counts once. REQUIRES: gold as parse_gold_links has it.
  void add(std::vector<Link> hypothesis, const std::vector<GoldLink>& gold);

  double score() const;  // 0 where neither side has a link
  double precision() const;
  double recall() const;

 private:
  std::int64_t hypothesis_ = 0;
  std::int64_t sure_ = 0;
  std::int64_t sure_matched_ = 0;
  std::int64_t possible_matched_ = 0;
};

}  // namespace regard::eval
