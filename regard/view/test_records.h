// Records for the tests of this folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "regard/translate/record.h"

namespace regard::testing_records {

inline std::vector<RecordToken> tokens_of(const std::vector<std::string>& words) {
  std::vector<RecordToken> tokens;
  std::uint32_t at = 0;
  for (const std::string& word : words) {
    const auto end = at + static_cast<std::uint32_t>(word.size());
    tokens.push_back({word, at, end});
    at = end + 1;
  }
  tokens.push_back({"</s>", at, at});
  return tokens;
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Weights that differ from cell to cell; the largest of row r is near the diagonal.
inline Record record_of(const std::vector<std::string>& source,
                        const std::vector<std::string>& target) {
  Record record;
  record.line = 3;
  record.source = joined(source);
  record.target = joined(target);
  record.source_tokens = tokens_of(source);
  record.target_tokens = tokens_of(target);
  record.has_attention = true;
  record.attention.rows = static_cast<std::int64_t>(record.target_tokens.size());
  record.attention.cols = static_cast<std::int64_t>(record.source_tokens.size());
  for (std::int64_t r = 0; r < record.attention.rows; ++r) {
    std::vector<float> row;
    float sum = 0;
    for (std::int64_t c = 0; c < record.attention.cols; ++c) {
      const auto far = static_cast<float>(r > c ? r - c : c - r);
      row.push_back(1.0F / (0.1F + far * far));
      sum += row.back();
    }
    for (const float weight : row) record.attention.weights.push_back(weight / sum);
  }
  return record;
}

inline Record bread() {
  Record record = record_of({"nous", "mangeons", "du", "pain"}, {"we", "are", "eating", "bread"});
  record.attention.weights = {0.93F, 0.04F, 0.01F, 0.01F, 0.01F,  //
                              0.21F, 0.72F, 0.03F, 0.02F, 0.02F,  //
                              0.02F, 0.91F, 0.04F, 0.02F, 0.01F,  //
                              0.01F, 0.03F, 0.38F, 0.57F, 0.01F,  //
                              0.00F, 0.01F, 0.02F, 0.03F, 0.94F};
  return record;
}

// Words of many scripts, among them some that try to break a picture.
inline std::vector<std::string> many_words() {
  return {"nous",
          "\u65b0\u805e",                          // Han, two columns each
          "\u0646\u0623\u0643\u0644",              // Arabic
          "he\u0301llo",                           // a combining accent
          "\U0001F469\u200D\U0001F680",            // an emoji of two, joined
          "\u05E9\u05DC\u05D5\u05DD",              // Hebrew
          "\U0001F44D\U0001F3FD",                  // an emoji with a skin tone
          "\u0928\u092E\u0938\u094D\u0924\u0947",  // Devanagari
          "\uD55C\uAE00",                          // Hangul
          "<b>&\"'",                               // mark-up
          "a\u202Eb\u200Fc\u2067d",                // direction controls
          "tab\tand\x1b[31mred",                   // control characters
          "\u0301",                                // a mark alone
          "\u200B",                                // nothing to see
          "Donaudampfschifffahrtsgesellschaftskapit\u00E4n",
          "\uFF21\uFF22"};  // full-width letters
}

// The same with one direction only, which may stand side by side.
inline std::vector<std::string> left_to_right_words() {
  return {"nous", "\u65b0\u805e", "he\u0301llo", "\U0001F44D\U0001F3FD", "\uD55C\uAE00", "du"};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    if (end == text.npos) break;
    begin = end + 1;
  }
  return lines;
}

inline bool has_direction_control(const std::string& text) {
  for (const char* control : {"\u061C", "\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D",
                              "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    if (text.find(control) != text.npos) return true;
  }
  return false;
}

}  // namespace regard::testing_records
