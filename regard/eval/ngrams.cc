#include "regard/eval/ngrams.h"

#include <algorithm>
#include <cstddef>

namespace regard::eval {

std::u32string WordIds::ids(const std::vector<std::u32string>& words) {
  std::u32string result;
  result.reserve(words.size());
  for (const std::u32string& word : words) {
    const auto next = static_cast<char32_t>(ids_.size() + 1);
    result.push_back(ids_.emplace(word, next).first->second);
  }
  return result;
}

NgramCounts count_ngrams(std::u32string_view symbols, int n) {
  const auto length = static_cast<std::size_t>(n);
  NgramCounts counts;
  if (symbols.size() < length) return counts;
  std::vector<std::u32string_view> ngrams;
  ngrams.reserve(symbols.size() - length + 1);
  for (std::size_t i = 0; i + length <= symbols.size(); ++i) {
    ngrams.push_back(symbols.substr(i, length));
  }
  std::sort(ngrams.begin(), ngrams.end());
  for (const std::u32string_view ngram : ngrams) {
    if (counts.empty() || counts.back().ngram != ngram) counts.push_back({ngram, 0});
    ++counts.back().count;
  }
  return counts;
}

NgramCounts larger_counts(const NgramCounts& a, const NgramCounts& b) {
  NgramCounts result;
  result.reserve(a.size() + b.size());
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->ngram < right->ngram)) {
      result.push_back(*left++);
    } else if (left == a.end() || right->ngram < left->ngram) {
      result.push_back(*right++);
    } else {
      result.push_back({left->ngram, std::max(left->count, right->count)});
      ++left;
      ++right;
    }
  }
  return result;
}

std::int64_t matches(const NgramCounts& a, const NgramCounts& b) {
  std::int64_t sum = 0;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (left->ngram < right->ngram) {
      ++left;
    } else if (right->ngram < left->ngram) {
      ++right;
    } else {
      sum += std::min(left->count, right->count);
      ++left;
      ++right;
    }
  }
  return sum;
}

}  // namespace regard::eval
