#include "regard/eval/alignment_error.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "regard/base/error.h"

namespace regard::eval {
namespace {

constexpr std::string_view kBlanks = " \t";

// from_chars reads no sign and no blank for an unsigned number.
const char* read_number(const char* begin, const char* end, std::uint32_t& number) {
  const auto [next, error] = std::from_chars(begin, end, number);
  return error == std::errc() ? next : nullptr;
}

std::optional<GoldLink> read_link(std::string_view piece) {
  GoldLink link;
  const char* end = piece.data() + piece.size();
  const char* mark = read_number(piece.data(), end, link.words.source);
  if (mark == nullptr || mark == end) return std::nullopt;
  if (*mark != '-' && *mark != 'p' && *mark != '?') return std::nullopt;
  link.sure = *mark == '-';
  if (read_number(mark + 1, end, link.words.target) != end) return std::nullopt;
  return link;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<GoldLink> parse_gold_links(std::string_view line, std::string_view place,
                                       std::uint32_t first) {
  std::vector<GoldLink> links;
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != line.npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    const std::string_view piece = line.substr(begin, end - begin);
    std::optional<GoldLink> link = read_link(piece);
    if (!link || link->words.source < first || link->words.target < first) {
      throw FormatError(FormatError::Kind::kData,
                        std::string(place) + ": '" + std::string(piece) +
                            "' is no gold link; wanted s-t (or spt) of word numbers from " +
                            std::to_string(first));
    }
    link->words.source -= first;
    link->words.target -= first;
    links.push_back(*link);
    begin = line.find_first_not_of(kBlanks, end);
  }
  // Sure before possible, so that the former is the one that stays.
  std::sort(links.begin(), links.end(), [](const GoldLink& a, const GoldLink& b) {
    return std::pair(a.words, !a.sure) < std::pair(b.words, !b.sure);
  });
  const auto same_words = [](const GoldLink& a, const GoldLink& b) { return a.words == b.words; };
  links.erase(std::unique(links.begin(), links.end(), same_words), links.end());
  return links;
}

void AlignmentError::add(std::vector<Link> hypothesis, const std::vector<GoldLink>& gold) {
  std::sort(hypothesis.begin(), hypothesis.end());
  hypothesis.erase(std::unique(hypothesis.begin(), hypothesis.end()), hypothesis.end());
  hypothesis_ += static_cast<std::int64_t>(hypothesis.size());
  for (const GoldLink& link : gold) {
    const bool found = std::binary_search(hypothesis.begin(), hypothesis.end(), link.words);
    sure_ += link.sure ? 1 : 0;
    possible_matched_ += found ? 1 : 0;
    sure_matched_ += found && link.sure ? 1 : 0;
  }
}

double AlignmentError::score() const {
  const std::int64_t links = hypothesis_ + sure_;
  return ratio(links - sure_matched_ - possible_matched_, links);
}
double AlignmentError::precision() const { return ratio(possible_matched_, hypothesis_); }
double AlignmentError::recall() const { return ratio(sure_matched_, sure_); }

}  // namespace regard::eval
