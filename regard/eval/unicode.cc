#include "regard/eval/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "regard/text/utf8.h"

namespace regard::eval {
namespace {

constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kDotAbove = 0x307;
constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;

utf8proc_category_t category(char32_t c) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_between(char32_t c, char32_t first, char32_t last) noexcept {
  return first <= c && c <= last;
}

// Property Cased without the modifier letters, which are skipped before it is asked.
bool is_cased(char32_t c) noexcept {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:  // ordinal indicators, Roman numerals, circled and squared letters
      return c == 0xAA || c == 0xBA || is_between(c, 0x2160, 0x217F) ||
             is_between(c, 0x24B6, 0x24E9) || is_between(c, 0x1F130, 0x1F149) ||
             is_between(c, 0x1F150, 0x1F169) || is_between(c, 0x1F170, 0x1F189);
  }
}

// Property Case_Ignorable: marks, formats, modifiers, and punctuation inside words.
bool is_case_ignorable(char32_t c) noexcept {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  constexpr std::array<char32_t, 17> kInsideWords = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                                     0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                                     0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  return std::find(kInsideWords.begin(), kInsideWords.end(), c) != kInsideWords.end();
}

// True if the sigma at `at` ends a word: a cased character before it and none after it.
bool is_final_sigma(std::u32string_view text, std::size_t at) noexcept {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

std::u32string decode_utf8(std::string_view bytes) {
  std::string well_formed(bytes);
  repair_utf8(well_formed);
  std::u32string text;
  text.reserve(well_formed.size());
  std::size_t position = 0;
  while (position < well_formed.size()) text.push_back(next_code_point(well_formed, position));
  return text;
}

bool is_white_space(char32_t c) noexcept {
  return is_between(c, 0x09, 0x0D) || is_between(c, 0x1C, 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || is_between(c, 0x2000, 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_punctuation(char32_t c) noexcept {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return true;
    default:
      return false;
  }
}

bool is_symbol(char32_t c) noexcept {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
      return true;
    default:
      return false;
  }
}

bool is_number(char32_t c) noexcept {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

std::u32string lower_case(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == kDottedCapitalI) {
      lower.push_back('i');
      lower.push_back(kDotAbove);
    } else if (c == kCapitalSigma && is_final_sigma(text, i)) {
      lower.push_back(kFinalSigma);
    } else {
      lower.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return lower;
}

std::vector<std::u32string> split_white_space(std::u32string_view text) {
  std::vector<std::u32string> pieces;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_white_space(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !is_white_space(text[at])) ++at;
    if (at > begin) pieces.emplace_back(text.substr(begin, at - begin));
  }
  return pieces;
}

}  // namespace regard::eval
