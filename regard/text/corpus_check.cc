#include "regard/text/corpus_check.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace regard {
namespace {

// Sets and maps here are only looked into, never walked, so their order reaches nothing.
using PairSet = std::unordered_set<std::string>;

// Lines hold no line feed, so it keeps the sides apart.
std::string key_of(const Pair& pair) { return pair.source + "\n" + pair.target; }

}  // namespace

CorpusCheck check_pairs(std::span<const Pair> train, std::span<const Pair> dev) {
  struct Targets {
    std::string_view first;
    bool conflict = false;
  };
  CorpusCheck check;
  PairSet seen;
  std::unordered_map<std::string_view, Targets> targets;
  for (const Pair& pair : train) {
    ++check.pairs;
    if (!seen.insert(key_of(pair)).second) ++check.duplicates;
    const auto [entry, is_new] = targets.try_emplace(pair.source, Targets{pair.target});
    if (!is_new && !entry->second.conflict && entry->second.first != pair.target) {
      entry->second.conflict = true;
      ++check.conflicting_sources;
    }
  }
  for (const Pair& pair : dev) {
    ++check.dev_pairs;
    check.dev_pairs_in_train += seen.count(key_of(pair));
    check.dev_sources_in_train += targets.count(pair.source);
  }
  return check;
}

std::vector<Pair> without_duplicates(std::span<const Pair> pairs) {
  PairSet seen;
  std::vector<Pair> kept;
  for (const Pair& pair : pairs) {
    if (seen.insert(key_of(pair)).second) kept.push_back(pair);
  }
  return kept;
}

}  // namespace regard
