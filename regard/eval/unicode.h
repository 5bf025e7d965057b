// Code points, as the metrics see text: the classes and mappings that Python's str has, since the
// reference scorers are Python programs.
//
// Version  the Unicode of utf8proc (2.8: 15); characters assigned later count as unassigned.
// Threads  pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard::eval {

// UTF-8 to code points; faulty pieces become U+FFFD as repair_utf8 has it.
std::u32string decode_utf8(std::string_view bytes);

// True for the characters that str.split() splits at: not only blanks, also NBSP, U+0085, U+2028...
bool is_white_space(char32_t c) noexcept;

// Unicode general category P*, S* or N*.
bool is_punctuation(char32_t c) noexcept;
bool is_symbol(char32_t c) noexcept;
bool is_number(char32_t c) noexcept;

// str.lower(): simple lower-case mapping, with a dotted capital I as two characters and a capital
// sigma at the end of a word as the final form.
std::u32string lower_case(std::u32string_view text);

// The pieces between runs of white space; none of them is empty.
std::vector<std::u32string> split_white_space(std::u32string_view text);

}  // namespace regard::eval
