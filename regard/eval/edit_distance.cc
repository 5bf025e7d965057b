#include "regard/eval/edit_distance.h"

#include <algorithm>
#include <utility>

#include "regard/base/assert.h"

namespace regard::eval {

std::size_t edit_distance(std::u32string_view a, std::u32string_view b) {
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.size() < b.size()) std::swap(a, b);
  // row[j] is the distance of the part of `a` read so far and the first j symbols of `b`.
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

void ErrorRate::add(std::u32string_view hypothesis, const std::vector<std::u32string>& references) {
  REGARD_ASSERT(!references.empty());
  std::size_t fewest = 0;
  std::size_t longest = 0;
  bool first = true;
  for (const std::u32string& reference : references) {
    const std::size_t edits = edit_distance(hypothesis, reference);
    if (first || edits < fewest || (edits == fewest && reference.size() > longest)) {
      fewest = edits;
      longest = reference.size();
    }
    first = false;
  }
  edits_ += static_cast<std::int64_t>(fewest);
  length_ += static_cast<std::int64_t>(longest);
}

void ErrorRate::add_tokens(const std::vector<std::u32string>& hypothesis,
                           const std::vector<std::vector<std::u32string>>& references) {
  std::vector<std::u32string> reference_ids;
  for (const auto& reference : references) reference_ids.push_back(words_.ids(reference));
  add(words_.ids(hypothesis), reference_ids);
}

double ErrorRate::score() const {
  if (length_ == 0) return edits_ == 0 ? 0.0 : 100.0;
  return 100.0 * static_cast<double>(edits_) / static_cast<double>(length_);
}

}  // namespace regard::eval
