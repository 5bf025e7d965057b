#include "regard/eval/bleu.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "regard/base/assert.h"
#include "regard/base/math.h"

namespace regard::eval {

void Bleu::add(const Tokens& hypothesis, const std::vector<Tokens>& references) {
  REGARD_ASSERT(!references.empty());
  const std::u32string hypothesis_ids = words_.ids(hypothesis);
  std::vector<std::u32string> reference_ids;
  for (const Tokens& reference : references) reference_ids.push_back(words_.ids(reference));

  const auto length = static_cast<std::int64_t>(hypothesis_ids.size());
  const auto nearer = [length](const std::u32string& a, const std::u32string& b) {
    const auto size_a = static_cast<std::int64_t>(a.size());
    const auto size_b = static_cast<std::int64_t>(b.size());
    const std::int64_t gap_a = std::abs(size_a - length);
    const std::int64_t gap_b = std::abs(size_b - length);
    return gap_a != gap_b ? gap_a < gap_b : size_a < size_b;
  };
  const auto nearest = std::min_element(reference_ids.begin(), reference_ids.end(), nearer);
  hypothesis_length_ += length;
  reference_length_ += static_cast<std::int64_t>(nearest->size());

  for (int n = 1; n <= kBleuOrder; ++n) {
    const auto order = static_cast<std::size_t>(n - 1);
    NgramCounts wanted;
    for (const std::u32string& reference : reference_ids) {
      wanted = larger_counts(wanted, count_ngrams(reference, n));
    }
    matched_[order] += matches(count_ngrams(hypothesis_ids, n), wanted);
    total_[order] += std::max<std::int64_t>(0, length - n + 1);
  }
}

double Bleu::brevity_penalty() const {
  if (hypothesis_length_ >= reference_length_) return 1.0;
  if (hypothesis_length_ == 0) return 0.0;
  return exp_double(1.0 - static_cast<double>(reference_length_) /
                              static_cast<double>(hypothesis_length_));
}

double Bleu::score() const {
  const bool any_match =
      std::any_of(matched_.begin(), matched_.end(), [](auto m) { return m > 0; });
  if (!any_match || total_.back() == 0) return 0.0;
  double log_sum = 0;
  double smoothing = 1;
  for (std::size_t order = 0; order < matched_.size(); ++order) {
    double matched = static_cast<double>(matched_[order]);
    if (matched_[order] == 0) {
      smoothing *= 2;
      matched = 1 / smoothing;
    }
    log_sum += log_double(100.0 * matched / static_cast<double>(total_[order]));
  }
  return brevity_penalty() * exp_double(log_sum / kBleuOrder);
}

}  // namespace regard::eval
