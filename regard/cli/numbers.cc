#include "regard/cli/numbers.h"

#include <array>
#include <charconv>

namespace regard::cli {

std::string shortest_number(double value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

}  // namespace regard::cli
