// Word alignments as Pharaoh link lists: "0-0 1-2 2-1", source word then target word, both from 0.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regard {

struct Link {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  auto operator<=>(const Link&) const = default;
};

// Reads one line; blanks and TABs separate links, a blank line has none. The order stays.
// Errors: FormatError (data) for anything else; `place` ("file:line") starts its message.
std::vector<Link> parse_links(std::string_view line, std::string_view place);

// One line, without LF, in the order given.
std::string format_links(std::span<const Link> links);

}  // namespace regard
