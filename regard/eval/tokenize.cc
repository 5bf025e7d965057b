// The rules are substitutions that run one after the other over the whole line, left to right and
// without overlap. That order shows in the results ("a.,b" or a full stop after a number), so each
// is kept as a pass of its own.
#include "regard/eval/tokenize.h"

#include <array>
#include <cstddef>
#include <utility>

#include "regard/base/error.h"
#include "regard/eval/unicode.h"

namespace regard::eval {
namespace {

bool is_digit(char32_t c) { return '0' <= c && c <= '9'; }
bool is_point_or_comma(char32_t c) { return c == '.' || c == ','; }

// All of printable ASCII but letters, digits and ' , - .
bool is_always_apart(char32_t c) {
  return (' ' <= c && c <= '&') || ('(' <= c && c <= '+') || c == '/' || (':' <= c && c <= '@') ||
         ('[' <= c && c <= '`') || ('{' <= c && c <= '~');
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Puts a blank on both sides of each character for which `apart` holds.
template <typename Apart>
std::u32string surround(std::u32string_view text, Apart apart) {
  std::u32string result;
  result.reserve(2 * text.size());
  for (const char32_t c : text) {
    if (apart(c)) {
      result += {U' ', c, U' '};
    } else {
      result += c;
    }
  }
  return result;
}

// Where `first` and `second` hold for neighbours, puts a blank between them and one on the outer
// side of the mark; the search goes on behind the pair.
enum class Mark { kFirst, kSecond };
template <typename First, typename Second>
std::u32string part_neighbours(std::u32string_view text, Mark mark, First first, Second second) {
  std::u32string result;
  result.reserve(2 * text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      if (mark == Mark::kFirst) {
        result += {U' ', text[i], U' ', text[i + 1]};
      } else {
        result += {text[i], U' ', text[i + 1], U' '};
      }
      i += 2;
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::u32string apply_13a(std::u32string_view line) {
  std::u32string text(line);
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  const auto no_digit = [](char32_t c) { return !is_digit(c); };
  text = surround(U' ' + text + U' ', is_always_apart);
  text = part_neighbours(text, Mark::kSecond, no_digit, is_point_or_comma);
  text = part_neighbours(text, Mark::kFirst, is_point_or_comma, no_digit);
  return part_neighbours(text, Mark::kSecond, is_digit, [](char32_t c) { return c == '-'; });
}

// A mark between two numbers stays; so does one after a number at the end of the line, as in the
// script that this must equal.
std::u32string apply_intl(std::u32string_view line) {
  const auto no_number = [](char32_t c) { return !is_number(c); };
  std::u32string text = part_neighbours(line, Mark::kSecond, no_number, is_punctuation);
  text = part_neighbours(text, Mark::kFirst, is_punctuation, no_number);
  return surround(text, is_symbol);
}

constexpr std::array<std::pair<std::string_view, Tokenization>, 4> kNames = {{
    {"13a", Tokenization::k13a},
    {"intl", Tokenization::kIntl},
    {"char", Tokenization::kChar},
    {"none", Tokenization::kNone},
}};

}  // namespace

Tokenization parse_tokenization(std::string_view name) {
  for (const auto& [known, tokenization] : kNames) {
    if (name == known) return tokenization;
  }
  throw ConfigError("tokenize: unknown tokenisation '" + std::string(name) +
                    "'; known: 13a, intl, char, none");
}

std::vector<std::u32string> tokenize(std::u32string_view line, Tokenization tokenization) {
  // White space at the end is no neighbour of a mark.
  while (!line.empty() && is_white_space(line.back())) line.remove_suffix(1);
  switch (tokenization) {
    case Tokenization::k13a:
      return split_white_space(apply_13a(line));
    case Tokenization::kIntl:
      return split_white_space(apply_intl(line));
    case Tokenization::kChar:
      return split_white_space(surround(line, [](char32_t) { return true; }));
    case Tokenization::kNone:
      break;
  }
  return split_white_space(line);
}

}  // namespace regard::eval
