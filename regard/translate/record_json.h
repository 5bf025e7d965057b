// A Record as one line of JSON.
//
// Keys, in this order: line, source, target, score, log_prob, source_tokens, target_tokens,
// attention (rows of numbers; null for a model without attention), token_log_probs, stop ("end" or
// "max_length"), rank, flags; then links (pairs source, target) and dropped if the record has
// links, or layer and head if it shows self-attention. A blank line has empty lists and null
// scores; self-attention has the source as its target too, and null scores.
//
// Values   numbers are the shortest decimals that read back to the same float (or double); the
//          locale is not asked. What JSON has no number for (NaN, infinities) is null. Text stays
//          UTF-8 in logical order; control characters and the separators that some readers take for
//          line ends (U+0085, U+2028, U+2029) are escaped, so the result is one line for everyone.
//          Bytes that are not UTF-8 can not reach a record; should they, they become U+FFFD.
#pragma once

#include <string>

#include "regard/translate/record.h"

namespace regard {

// The line, without a line end.
//
// Errors   ShapeError if the attention's extents are not those of the token lists (rows: target,
//          columns: source), its weights do not fill it, or log-probabilities, when present, are
//          not one a target token.
// Threads  pure function.
std::string to_json(const Record& record);

}  // namespace regard
