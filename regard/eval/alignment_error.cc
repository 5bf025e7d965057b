#include "regard/eval/alignment_error.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <tuple>

#include "regard/base/error.h"

namespace regard::eval {
namespace {

constexpr std::string_view kBlanks = " \t\r";

bool same_words(const Link& a, const Link& b) {
  return a.source == b.source && a.target == b.target;
}

Link parse_link(std::string_view piece, std::int64_t first) {
  Link link;
  const char* end = piece.data() + piece.size();
  auto [mark, error] = std::from_chars(piece.data(), end, link.source);
  bool good = error == std::errc() && mark != end;
  if (good) {
    const char kind = *mark;
    good = kind == '-' || kind == 'p' || kind == '?';
    link.sure = kind == '-';
  }
  if (good) {
    const auto target = std::from_chars(mark + 1, end, link.target);
    good = target.ec == std::errc() && target.ptr == end;
  }
  if (!good || link.source < first || link.target < first) {
    throw FormatError(FormatError::Kind::kData, "parse_links: '" + std::string(piece) +
                                                    "' is no link; wanted s-t (or spt) of " +
                                                    "word numbers from " + std::to_string(first));
  }
  link.source -= first;
  link.target -= first;
  return link;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<Link> parse_links(std::string_view line, std::int64_t first) {
  std::vector<Link> links;
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != line.npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    links.push_back(parse_link(line.substr(begin, end - begin), first));
    begin = line.find_first_not_of(kBlanks, end);
  }
  // Sure before possible, so that the former is the one that stays.
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tuple(a.source, a.target, !a.sure) < std::tuple(b.source, b.target, !b.sure);
  });
  links.erase(std::unique(links.begin(), links.end(), same_words), links.end());
  return links;
}

void AlignmentError::add(const std::vector<Link>& hypothesis, const std::vector<Link>& gold) {
  for (const Link& link : gold) sure_ += link.sure ? 1 : 0;
  hypothesis_ += static_cast<std::int64_t>(hypothesis.size());
  for (const Link& link : hypothesis) {
    const auto found = std::find_if(gold.begin(), gold.end(),
                                    [&link](const Link& g) { return same_words(g, link); });
    if (found == gold.end()) continue;
    ++possible_matched_;
    sure_matched_ += found->sure ? 1 : 0;
  }
}

double AlignmentError::score() const {
  const std::int64_t links = hypothesis_ + sure_;
  return ratio(links - sure_matched_ - possible_matched_, links);
}
double AlignmentError::precision() const { return ratio(possible_matched_, hypothesis_); }
double AlignmentError::recall() const { return ratio(sure_matched_, sure_); }

}  // namespace regard::eval
