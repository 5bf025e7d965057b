#include "regard/text/links.h"

#include <charconv>

#include "regard/base/error.h"

namespace regard {
namespace {

// "s-t", nothing before, between or after.
bool parse_link(std::string_view text, Link& link) {
  const char* const end = text.data() + text.size();
  const auto source = std::from_chars(text.data(), end, link.source);
  if (source.ec != std::errc() || source.ptr == end || *source.ptr != '-') return false;
  const auto target = std::from_chars(source.ptr + 1, end, link.target);
  return target.ec == std::errc() && target.ptr == end;
}

}  // namespace

std::vector<Link> parse_links(std::string_view line, std::string_view place) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<Link> links;
  std::size_t begin = line.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    Link link;
    if (!parse_link(line.substr(begin, end - begin), link)) {
      throw FormatError(FormatError::Kind::kData,
                        std::string(place) + ": byte offset " + std::to_string(begin) +
                            ": wanted a link such as 0-2 (source word, target word, from 0)");
    }
    links.push_back(link);
    begin = line.find_first_not_of(kBlanks, end);
  }
  return links;
}

std::string format_links(std::span<const Link> links) {
  std::string line;
  for (const Link& link : links) {
    if (!line.empty()) line.push_back(' ');
    line += std::to_string(link.source) + "-" + std::to_string(link.target);
  }
  return line;
}

}  // namespace regard
