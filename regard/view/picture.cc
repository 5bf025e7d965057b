#include "regard/view/picture.h"

#include <string>

#include "regard/base/error.h"

namespace regard {

std::string how_to_read(const Record& record) {
  if (!record.self_attention()) return std::string(kHowToRead);
  return "Rows and columns: the sentence that the encoder read. Each row says where that word "
         "looked, in per cent, in layer " +
         std::to_string(record.layer) + ", head " + std::to_string(record.head) + ".";
}

void require_picture(const Record& record, std::string_view who) {
  if (record.blank || !record.has_attention) return;
  const auto rows = static_cast<std::int64_t>(record.target_tokens.size());
  const auto cols = static_cast<std::int64_t>(record.source_tokens.size());
  const AttentionMatrix& attention = record.attention;
  if (attention.rows == rows && attention.cols == cols &&
      static_cast<std::int64_t>(attention.weights.size()) == rows * cols) {
    return;
  }
  throw ShapeError(std::string(who) + ": attention is [" + std::to_string(attention.rows) + "," +
                   std::to_string(attention.cols) + "] with " +
                   std::to_string(attention.weights.size()) +
                   " weights, wanted target x source tokens [" + std::to_string(rows) + "," +
                   std::to_string(cols) + "]");
}

std::int64_t row_peak(const AttentionMatrix& attention, std::int64_t row) {
  std::int64_t peak = -1;
  float largest = 0.0F;
  for (std::int64_t c = 0; c < attention.cols; ++c) {
    if (attention(row, c) > largest) {
      largest = attention(row, c);
      peak = c;
    }
  }
  return peak;
}

}  // namespace regard
