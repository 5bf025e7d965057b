// Levenshtein distance and the error rates built on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "regard/eval/ngrams.h"

namespace regard::eval {

// The fewest insertions, deletions and substitutions of one symbol that turn `a` into `b`.
// Cost     |a| |b| steps, min(|a|, |b|) words of memory, after the common ends are taken off.
std::size_t edit_distance(std::u32string_view a, std::u32string_view b);

// 100 x edits / symbols of the nearest references, summed over a corpus.
//
// The nearest reference is the one with the fewest edits; of several the longest, which is the one
// with the lowest rate, so the order of the references is without effect. Symbols are code points
// (add) or tokens (add_tokens). Can be above 100. References without any symbol: 0 without edits,
// else 100.
class ErrorRate {
 public:
  // REQUIRES: at least one reference.
  void add(std::u32string_view hypothesis, const std::vector<std::u32string>& references);
  void add_tokens(const std::vector<std::u32string>& hypothesis,
                  const std::vector<std::vector<std::u32string>>& references);

  double score() const;
  std::int64_t edits() const { return edits_; }
  std::int64_t length() const { return length_; }

 private:
  WordIds words_;
  std::int64_t edits_ = 0;
  std::int64_t length_ = 0;
};

}  // namespace regard::eval
