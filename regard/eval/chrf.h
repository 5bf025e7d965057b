// Corpus chrF, equal to sacreBLEU's: an F-score of character n-grams, white space left out.
//
// Math     (1 + beta^2) P R / (beta^2 P + R), beta = 2, in per cent; P and R are the means over the
//          n-gram orders that both sides have of matches / hypothesis and matches / reference
//          n-grams. Of several references the one with the best score for its item counts.
// Source   Popovic 2015 (chrF), 2017 (chrF++: word_order = 2); sacreBLEU 2 defaults (no epsilon
//          smoothing).
// Values   0 to 100.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regard/eval/ngrams.h"

namespace regard::eval {

class Chrf {
 public:
  // 6 and 0: chrF; 6 and 2: chrF++. REQUIRES: char_order >= 1, word_order >= 0.
  explicit Chrf(int char_order = 6, int word_order = 0);

  // REQUIRES: at least one reference.
  void add(std::u32string_view hypothesis, const std::vector<std::u32string>& references);

  double score() const;

 private:
  struct Counts {
    std::int64_t hypothesis = 0;
    std::int64_t reference = 0;
    std::int64_t matched = 0;
  };
  struct Segment {
    std::u32string characters;
    std::u32string words;
  };

  Segment segment(std::u32string_view line);
  std::vector<Counts> count(const Segment& hypothesis, const Segment& reference) const;
  static double f_score(const std::vector<Counts>& counts);

  int char_order_;
  int word_order_;
  WordIds words_;
  std::vector<Counts> totals_;
};

}  // namespace regard::eval
