// What a record's `flags` say, and the rule for repetition.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace regard::flag {

inline constexpr std::string_view kCutSource = "cut_source";  // only its first tokens were read
inline constexpr std::string_view kUnknown = "unknown";  // an unknown token was replaced by a copy
inline constexpr std::string_view kMaxLength = "max_length";  // stopped by the length limit
inline constexpr std::string_view kRepeated = "repeated";     // see is_repetitive()
inline constexpr std::string_view kEmpty = "empty";  // no text for a source that is not blank
// Attention rows need not sum to 1: sigmoid, monotonic, mocha, local-p.
inline constexpr std::string_view kFreeRowSums = "free_row_sums";
inline constexpr std::string_view kLooksNowhere =
    "looks_nowhere";  // align: a word's row is zero, see kLeastMass of align/align.h

// True if the same 1 to 8 tokens stand at least four times in a row, over at least 12 tokens.
bool is_repetitive(std::span<const std::int32_t> ids);

}  // namespace regard::flag
