#include "regard/translate/flags.h"

namespace regard::flag {

bool is_repetitive(std::span<const std::int32_t> ids) {
  constexpr std::size_t kLongest = 8;
  constexpr std::size_t kTimes = 4;
  constexpr std::size_t kLeast = 12;
  for (std::size_t period = 1; period <= kLongest; ++period) {
    std::size_t run = period;  // tokens that the repetition covers so far
    for (std::size_t i = period; i < ids.size(); ++i) {
      run = ids[i] == ids[i - period] ? run + 1 : period;
      if (run >= kTimes * period && run >= kLeast) return true;
    }
  }
  return false;
}

}  // namespace regard::flag
