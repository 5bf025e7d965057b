// Counts of n-grams over any symbols: code points, or words numbered by WordIds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace regard::eval {

// Numbers distinct words from 1 in order of first use, so that a sentence is a string of symbols.
class WordIds {
 public:
  std::u32string ids(const std::vector<std::u32string>& words);

 private:
  std::map<std::u32string, char32_t> ids_;
};

struct NgramCount {
  std::u32string_view ngram;
  std::int64_t count = 0;
};

// Distinct n-grams in ascending order. Views into the text that was counted.
using NgramCounts = std::vector<NgramCount>;

NgramCounts count_ngrams(std::u32string_view symbols, int n);

// For each n-gram the larger of its two counts.
NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b);

// Sum over the n-grams of both of the smaller count.
std::int64_t matches(const NgramCounts& a, const NgramCounts& b);

}  // namespace regard::eval
