// The tokenisations that BLEU is defined on.
//
// Source   sacreBLEU 2 (Post 2018, arXiv 1804.08771); its rules are those of the NIST scripts
//          mteval-v13a (`13a`) and mteval-v14 --international-tokenization (`intl`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace regard::eval {

enum class Tokenization {
  k13a,   // Western punctuation apart, . and , kept inside numbers; four HTML entities undone
  kIntl,  // every Unicode punctuation mark (but between numbers) and symbol apart
  kChar,  // every code point that is not white space
  kNone,  // the text is tokenised already
};

// Errors   ConfigError for a name that is none of 13a, intl, char, none.
Tokenization parse_tokenization(std::string_view name);

// The tokens of one line, split at white space after the rules were applied.
std::vector<std::u32string> tokenize(std::u32string_view line, Tokenization tokenization);

}  // namespace regard::eval
