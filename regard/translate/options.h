// What a caller asks of a Translator. Defaults are those of the command line.
#pragma once

#include <string_view>

#include "regard/search/beam.h"

namespace regard {

// A longer source is cut: what attention and memory cost grows with its square, and no sentence has
// that many tokens. `max_source_length` of every option struct takes another limit.
inline constexpr Index kDefaultMaxSourceLength = 1000;

// "power" or "gnmt". Errors: ConfigError for any other name.
LengthFormula length_formula_from_name(std::string_view name);

struct TranslateOptions {
  Index beam = 5;   // 1 is greedy
  Index nbest = 1;  // records a line, at most `beam`
  LengthFormula formula = LengthFormula::kPower;
  double length_penalty = 1.0;  // A: score = log_prob / lp(T)
  Index min_length = 1;         // output tokens; a source that is not blank gives at least these
  Index max_length = 0;         // output tokens; 0: 3 S + 50 for S source tokens
  bool bar_unknown = false;     // `fixed` bars it always: there is nothing to copy from
  Index max_source_length = kDefaultMaxSourceLength;  // tokens; the rest is cut off, and flagged
  Index batch_tokens = 2000;                          // padded source tokens of one batch
  bool with_attention = false;
  Index first_line = 1;  // the number of lines[0] in records
};

struct ScoreOptions {
  LengthFormula formula = LengthFormula::kPower;
  double length_penalty = 1.0;
  Index max_source_length = kDefaultMaxSourceLength;
  Index batch_tokens = 2000;  // padded tokens a side
  bool with_attention = false;
  Index first_line = 1;
};

struct AlignOptions {
  bool pieces = false;  // tokens, end markers included, instead of words
  bool shift = false;   // read at the first step whose query knows the token
  Index max_source_length = kDefaultMaxSourceLength;
  Index batch_tokens = 2000;
  Index first_line = 1;
};

struct SelfAttentionOptions {
  int layer = 1;  // both from 1
  int head = 1;
  Index max_source_length = kDefaultMaxSourceLength;
};

}  // namespace regard
