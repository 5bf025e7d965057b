#include "regard/eval/chrf.h"

#include <cstddef>
#include <utility>

#include "regard/base/assert.h"
#include "regard/eval/unicode.h"

namespace regard::eval {
namespace {

constexpr double kBetaSquared = 4;

bool is_ascii_punctuation(char32_t c) {
  return ('!' <= c && c <= '/') || (':' <= c && c <= '@') || ('[' <= c && c <= '`') ||
         ('{' <= c && c <= '~');
}

// Words with one ASCII mark taken off the end, or else off the beginning ("(hi)" is "(hi" and ")").
std::vector<std::u32string> words_of(std::u32string_view line) {
  std::vector<std::u32string> words;
  for (const std::u32string& word : split_white_space(line)) {
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

}  // namespace

Chrf::Chrf(int char_order, int word_order)
    : char_order_(char_order),
      word_order_(word_order),
      totals_(static_cast<std::size_t>(char_order + word_order)) {
  REGARD_ASSERT(char_order >= 1 && word_order >= 0);
}

Chrf::Segment Chrf::segment(std::u32string_view line) {
  Segment result;
  for (const char32_t c : line) {
    if (!is_white_space(c)) result.characters.push_back(c);
  }
  if (word_order_ > 0) result.words = words_.ids(words_of(line));
  return result;
}

std::vector<Chrf::Counts> Chrf::count(const Segment& hypothesis, const Segment& reference) const {
  std::vector<Counts> counts;
  const auto count_order = [&counts](std::u32string_view hyp, std::u32string_view ref, int n) {
    const auto size = [n](std::u32string_view text) {
      const auto grams = static_cast<std::int64_t>(text.size()) - n + 1;
      return grams > 0 ? grams : 0;
    };
    Counts c{size(hyp), size(ref), 0};
    // N-grams of an order that the reference lacks are no misses.
    if (c.reference == 0) c.hypothesis = 0;
    if (c.hypothesis > 0) c.matched = matches(count_ngrams(hyp, n), count_ngrams(ref, n));
    counts.push_back(c);
  };
  for (int n = 1; n <= char_order_; ++n) {
    count_order(hypothesis.characters, reference.characters, n);
  }
  for (int n = 1; n <= word_order_; ++n) count_order(hypothesis.words, reference.words, n);
  return counts;
}

double Chrf::f_score(const std::vector<Counts>& counts) {
  double precision = 0;
  double recall = 0;
  int orders = 0;
  for (const Counts& c : counts) {
    if (c.hypothesis == 0 || c.reference == 0) continue;
    precision += static_cast<double>(c.matched) / static_cast<double>(c.hypothesis);
    recall += static_cast<double>(c.matched) / static_cast<double>(c.reference);
    ++orders;
  }
  if (orders == 0 || precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 100 * (1 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
}

void Chrf::add(std::u32string_view hypothesis, const std::vector<std::u32string>& references) {
  REGARD_ASSERT(!references.empty());
  const Segment left = segment(hypothesis);
  std::vector<Counts> best;
  double best_score = -1;
  for (const std::u32string& reference : references) {
    std::vector<Counts> counts = count(left, segment(reference));
    const double score = f_score(counts);
    if (score > best_score) {
      best_score = score;
      best = std::move(counts);
    }
  }
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    totals_[i].hypothesis += best[i].hypothesis;
    totals_[i].reference += best[i].reference;
    totals_[i].matched += best[i].matched;
  }
}

double Chrf::score() const { return f_score(totals_); }

}  // namespace regard::eval
