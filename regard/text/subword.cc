// Candidates wait in a heap, best rank first, then leftmost. Symbols form a doubly linked list;
// merging keeps the left one. A candidate whose symbols have changed since is dropped when it comes
// up: its text is then not as long as the two symbols together, or one of them is gone.
#include "regard/text/subword.h"

#include <algorithm>
#include <queue>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

struct Symbol {
  int id;
  std::int32_t previous;
  std::int32_t next;
  std::uint32_t begin;
  std::uint32_t end;  // begin == end: merged away
};

struct Candidate {
  int id;
  std::int32_t left;
  std::int32_t right;
  std::uint32_t size;

  // For a heap that gives the lowest id first, then the leftmost.
  bool operator<(const Candidate& other) const {
    return id != other.id ? id > other.id : left > other.left;
  }
};

std::vector<Symbol> split_characters(std::string_view text, const Vocabulary& vocabulary) {
  std::vector<Symbol> symbols;
  symbols.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t begin = position;
    next_code_point(text, position);
    const int id = vocabulary.find(text.substr(begin, position - begin)).value_or(kUnknownId);
    const auto index = static_cast<std::int32_t>(symbols.size());
    symbols.push_back({id, index - 1, index + 1, static_cast<std::uint32_t>(begin),
                       static_cast<std::uint32_t>(position)});
  }
  if (!symbols.empty()) symbols.back().next = -1;
  return symbols;
}

void check_entry(std::string_view entry, bool is_merge) {
  if (find_utf8_error(entry)) throw ConfigError("subword table: an entry is not UTF-8");
  const bool is_long = count_code_points(entry) > 1;
  if (is_long != is_merge) {
    throw ConfigError("subword table: \"" + std::string(entry) +
                      (is_merge ? "\" is a merge of fewer than two characters"
                                : "\" stands with the characters, but is not one"));
  }
}

}  // namespace

SubwordSegmenter::SubwordSegmenter(const SubwordTable& table) {
  std::vector<std::string> tokens;
  const auto& characters = table.characters;
  if (std::find(characters.begin(), characters.end(), " ") == characters.end()) {
    tokens.push_back(" ");
  }
  tokens.insert(tokens.end(), characters.begin(), characters.end());
  first_merge_ = kFirstTextId + static_cast<int>(tokens.size());
  tokens.insert(tokens.end(), table.merges.begin(), table.merges.end());
  *this = SubwordSegmenter(Vocabulary::from_tokens(tokens), first_merge_);
}

SubwordSegmenter::SubwordSegmenter(Vocabulary vocabulary, int first_merge)
    : vocabulary_(std::move(vocabulary)), first_merge_(first_merge) {
  if (first_merge_ < kFirstTextId || first_merge_ > vocabulary_.size()) {
    throw ConfigError("subword table: the first merge " + std::to_string(first_merge_) +
                      " is outside the vocabulary of " + std::to_string(vocabulary_.size()));
  }
  for (int id = kFirstTextId; id < vocabulary_.size(); ++id) {
    check_entry(vocabulary_.token(id), id >= first_merge_);
  }
}

SubwordTable SubwordSegmenter::table() const {
  SubwordTable table;
  for (int id = kFirstTextId; id < vocabulary_.size(); ++id) {
    auto& part = id < first_merge_ ? table.characters : table.merges;
    part.emplace_back(vocabulary_.token(id));
  }
  return table;
}

template <typename OnMerge>
std::vector<Piece> SubwordSegmenter::run(std::string_view text, OnMerge on_merge) const {
  std::vector<Symbol> symbols = split_characters(text, vocabulary_);
  std::priority_queue<Candidate> candidates;
  const auto at = [&](std::int32_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  const auto consider = [&](std::int32_t left, std::int32_t right) {
    if (left < 0 || right < 0) return;
    const std::uint32_t size = at(right).end - at(left).begin;
    const auto id = vocabulary_.find(text.substr(at(left).begin, size));
    if (id) candidates.push({*id, left, right, size});
  };
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    consider(static_cast<std::int32_t>(i) - 1, static_cast<std::int32_t>(i));
  }
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = at(best.left);
    Symbol& right = at(best.right);
    const bool gone = left.begin == left.end || right.begin == right.end;
    if (gone || right.end - left.begin != best.size) continue;
    on_merge(best.id);
    left.id = best.id;
    left.end = right.end;
    left.next = right.next;
    right.begin = right.end;
    if (left.next >= 0) at(left.next).previous = best.left;
    consider(left.previous, best.left);
    consider(best.left, left.next);
  }
  std::vector<Piece> pieces;
  for (std::int32_t i = symbols.empty() ? -1 : 0; i >= 0; i = at(i).next) {
    const Symbol& symbol = at(i);
    if (symbol.id == kUnknownId && !pieces.empty() && pieces.back().id == kUnknownId) {
      pieces.back().end = symbol.end;
    } else {
      pieces.push_back({symbol.id, symbol.begin, symbol.end});
    }
  }
  return pieces;
}

std::vector<Piece> SubwordSegmenter::segment(std::string_view text) const {
  return run(text, [](int) {});
}

void SubwordSegmenter::count_merges(std::string_view text, std::uint64_t weight,
                                    std::vector<std::uint64_t>& uses) const {
  uses.resize(std::max(uses.size(), static_cast<std::size_t>(vocabulary_.size())));
  run(text, [&](int id) { uses[static_cast<std::size_t>(id)] += weight; });
}

SubwordTable drop_rare_merges(const SubwordTable& table, const TokenCounts& words,
                              std::uint64_t min_uses) {
  SubwordTable kept = table;
  // A dropped merge may have fed others, so this goes on until all that are left are used.
  while (true) {
    const SubwordSegmenter segmenter(kept);
    std::vector<std::uint64_t> uses(static_cast<std::size_t>(segmenter.vocabulary().size()));
    for (const auto& [word, count] : words) segmenter.count_merges(word, count, uses);
    kept = segmenter.table();
    std::size_t id = static_cast<std::size_t>(segmenter.first_merge());
    if (std::erase_if(kept.merges, [&](const auto&) { return uses[id++] < min_uses; }) == 0) {
      return kept;
    }
  }
}

}  // namespace regard
