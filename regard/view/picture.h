// What all pictures of a record share: its checks, the peak of a row, and the sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "regard/translate/record.h"

namespace regard {

inline constexpr std::string_view kBlankLine = "(a blank line: nothing to show)";
inline constexpr std::string_view kNoAttention =
    "No attention to show: this model has the `fixed` decoder. It read the sentence once into one "
    "vector of fixed size, and wrote every word from that vector alone.";
inline constexpr std::string_view kHowToRead =
    "Columns: what the model read. Rows: what it wrote. Each row says where it looked, in per "
    "cent, "
    "while it wrote that word.";

// kHowToRead, or the same for self-attention, naming layer and head.
std::string how_to_read(const Record& record);

// Throws ShapeError, naming `who`, unless the attention (if any) has a row a target token and a
// column a source token.
void require_picture(const Record& record, std::string_view who);

// The column of the largest weight above 0 in a row, the first of equal ones; -1 if there is none.
std::int64_t row_peak(const AttentionMatrix& attention, std::int64_t row);

}  // namespace regard
