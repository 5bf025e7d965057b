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

namespace regard::eval {

struct Link {
  std::int64_t source = 0;  // word of the source line
  std::int64_t target = 0;
  bool sure = true;

  friend bool operator==(const Link&, const Link&) = default;
};

// One line of Pharaoh links: `s-t` is sure, `spt` or `s?t` only possible; separated by white space.
// `first` is the number of a line's first word in the file (0, or 1 in some gold files); it is
// taken off. Ascending, without duplicates; a pair given both ways is sure. Errors
// FormatError(kData) names the piece that is no link.
std::vector<Link> parse_links(std::string_view line, std::int64_t first = 0);

class AlignmentError {
 public:
  // Links as parse_links returns them; `sure` of the hypothesis is not looked at.
  void add(const std::vector<Link>& hypothesis, const std::vector<Link>& gold);

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
