// Corpus BLEU, equal to sacreBLEU's.
//
// Math     100 BP exp(1/4 sum_{n=1..4} log p_n), BP = min(1, exp(1 - ref_length / hyp_length)).
//          p_n = matched n-grams / n-grams of the hypotheses, a match clipped at the largest count
//          in any one reference; ref_length sums the lengths nearest to the hypothesis (the shorter
//          of two equally near).
// Source   Papineni et al. 2002; sacreBLEU 2 defaults: the k-th order without a match counts
//          1 / (2^k total_n) (NIST's `exp` smoothing), no effective order.
// Values   0 to 100. 0 if nothing matches or if no hypothesis has four tokens.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "regard/eval/ngrams.h"

namespace regard::eval {

inline constexpr int kBleuOrder = 4;

// Collects the counts of a corpus, item by item; the order of the items is without effect.
class Bleu {
 public:
  using Tokens = std::vector<std::u32string>;

  // REQUIRES: at least one reference.
  void add(const Tokens& hypothesis, const std::vector<Tokens>& references);

  double score() const;

  // What the score is made of.
  std::int64_t hypothesis_length() const { return hypothesis_length_; }
  std::int64_t reference_length() const { return reference_length_; }
  double brevity_penalty() const;

 private:
  WordIds words_;
  std::array<std::int64_t, kBleuOrder> matched_{};
  std::array<std::int64_t, kBleuOrder> total_{};
  std::int64_t hypothesis_length_ = 0;
  std::int64_t reference_length_ = 0;
};

}  // namespace regard::eval
