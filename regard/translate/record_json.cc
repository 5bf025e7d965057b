// Written by hand because the bytes are a promise: order of keys, form of numbers, one line.
#include "regard/translate/record_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

class JsonLine {
 public:
  std::string take() { return std::move(text_); }

  void open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void key(std::string_view name) {
    string(name);
    text_ += ':';
    first_ = true;
  }
  void null() {
    separate();
    text_ += "null";
  }
  void string(std::string_view value) {
    separate();
    text_ += '"';
    if (!find_utf8_error(value)) {
      escape(value);
    } else {
      std::string repaired(value);
      repair_utf8(repaired);
      escape(repaired);
    }
    text_ += '"';
  }
  template <typename Number>
  void number(Number value) {
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(value)) {
        null();
        return;
      }
    }
    separate();
    std::array<char, 64> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    static_cast<void>(error);  // 64 bytes hold any number
    text_.append(digits.data(), end);
  }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  void escape(std::string_view value) {
    constexpr std::string_view kShort = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    std::size_t position = 0;
    while (position < value.size()) {
      const std::size_t begin = position;
      const char32_t c = next_code_point(value, position);
      const std::size_t known = c < 0x80 ? kShort.find(static_cast<char>(c)) : kShort.npos;
      if (known != kShort.npos) {
        text_ += '\\';
        text_ += kLetters[known];
      } else if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029) {
        constexpr std::string_view kHex = "0123456789abcdef";
        text_ += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) text_ += kHex[(c >> shift) & 15U];
      } else {
        text_.append(value, begin, position - begin);
      }
    }
  }

  std::string text_;
  bool first_ = true;  // no comma before the next value
};

void require_shape(const Record& record) {
  const auto rows = static_cast<std::int64_t>(record.target_tokens.size());
  const auto cols = static_cast<std::int64_t>(record.source_tokens.size());
  const AttentionMatrix& attention = record.attention;
  if (record.has_attention && !record.blank &&
      (attention.rows != rows || attention.cols != cols ||
       static_cast<std::int64_t>(attention.weights.size()) != rows * cols)) {
    throw ShapeError("to_json: line " + std::to_string(record.line) + ": attention is [" +
                     std::to_string(attention.rows) + "," + std::to_string(attention.cols) +
                     "] with " + std::to_string(attention.weights.size()) +
                     " weights, wanted target x source tokens [" + std::to_string(rows) + "," +
                     std::to_string(cols) + "]");
  }
  if (!record.token_log_probs.empty() &&
      record.token_log_probs.size() != static_cast<std::size_t>(rows)) {
    throw ShapeError("to_json: line " + std::to_string(record.line) + ": " +
                     std::to_string(record.token_log_probs.size()) +
                     " token log-probabilities, wanted " + std::to_string(rows));
  }
}

void write_tokens(JsonLine& json, std::string_view key, const std::vector<RecordToken>& tokens) {
  json.key(key);
  json.open('[');
  for (const RecordToken& token : tokens) json.string(token.text);
  json.close(']');
}

void write_floats(JsonLine& json, std::string_view key, const std::vector<float>& values) {
  json.key(key);
  json.open('[');
  for (const float value : values) json.number(value);
  json.close(']');
}

void write_attention(JsonLine& json, const Record& record) {
  json.key("attention");
  if (!record.has_attention && !record.blank) {
    json.null();
    return;
  }
  json.open('[');
  for (std::int64_t r = 0; r < (record.blank ? 0 : record.attention.rows); ++r) {
    json.open('[');
    for (std::int64_t c = 0; c < record.attention.cols; ++c) json.number(record.attention(r, c));
    json.close(']');
  }
  json.close(']');
}

void write_links(JsonLine& json, const Record& record) {
  json.key("links");
  json.open('[');
  for (const auto& [source, target] : record.links) {
    json.open('[');
    json.number(source);
    json.number(target);
    json.close(']');
  }
  json.close(']');
  write_floats(json, "dropped", record.dropped);
}

}  // namespace

std::string to_json(const Record& record) {
  require_shape(record);
  JsonLine json;
  json.open('{');
  json.key("line");
  json.number(record.line);
  json.key("source");
  json.string(record.source);
  json.key("target");
  json.string(record.target);
  const bool scored = !record.blank && !record.self_attention();
  json.key("score");
  scored ? json.number(record.score) : json.null();
  json.key("log_prob");
  scored ? json.number(record.log_prob) : json.null();
  write_tokens(json, "source_tokens", record.source_tokens);
  write_tokens(json, "target_tokens", record.target_tokens);
  write_attention(json, record);
  write_floats(json, "token_log_probs", record.token_log_probs);
  json.key("stop");
  json.string(record.stop == StopReason::kEnd ? "end" : "max_length");
  json.key("rank");
  json.number(record.rank);
  json.key("flags");
  json.open('[');
  for (const std::string& flag : record.flags) json.string(flag);
  json.close(']');
  if (record.has_links) write_links(json, record);
  if (record.self_attention()) {
    json.key("layer");
    json.number(record.layer);
    json.key("head");
    json.number(record.head);
  }
  json.close('}');
  return json.take();
}

}  // namespace regard
