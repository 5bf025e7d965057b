// Names of rows and columns: tokens as a reader wants to see them.
#pragma once

#include <string>
#include <vector>

#include "regard/translate/record.h"

namespace regard {

// One label a token, safe to show (cells.h).
//
// Values   the end marker is "(end)"; a blank alone is U+2423 (`ascii`: "_"). Of subword pieces,
// which
//          hold the blank before a word, the blank goes and pieces that continue a word begin with
//          a hyphen: "eat" "-ing" (only where a line has two words or more, so that text without
//          blanks stays as it is).
std::vector<std::string> token_labels(const std::vector<RecordToken>& tokens, bool ascii = false);

// Is it the end marker, not a text that looks like one?
bool is_end_marker(const RecordToken& token);

}  // namespace regard
