#include "regard/text/line_reader.h"

#include <cstring>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr std::size_t kBlock = 1 << 16;

}  // namespace

LineReader::LineReader(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      source_(open_byte_source(path)),
      block_(kBlock) {}

bool LineReader::fill() {
  if (ended_) return false;
  used_ = 0;
  try {
    filled_ = source_->read(block_.data(), block_.size());
  } catch (const BrokenStream& broken) {
    throw FormatError(FormatError::Kind::kData,
                      name_ + ":" + std::to_string(line_number_ + 1) + ": " + broken.what());
  }
  ended_ = filled_ == 0;
  return !ended_;
}

bool LineReader::next(std::string& line) {
  line.clear();
  bool found_end = false;
  while (!found_end && (used_ < filled_ || fill())) {
    const char* begin = block_.data() + used_;
    const std::size_t left = filled_ - used_;
    const void* end = std::memchr(begin, '\n', left);
    found_end = end != nullptr;
    const std::size_t length =
        found_end ? static_cast<std::size_t>(static_cast<const char*>(end) - begin) : left;
    line.append(begin, length);
    used_ += length + (found_end ? 1 : 0);
  }
  if (line_number_ == 0 && !dropped_byte_order_mark_ && line.starts_with(kByteOrderMark)) {
    line.erase(0, kByteOrderMark.size());
    dropped_byte_order_mark_ = true;
  }
  if (!found_end && line.empty()) return false;
  if (found_end && line.ends_with('\r')) line.pop_back();
  ++line_number_;
  return true;
}

bool LineReader::has_line() const {
  return used_ < filled_ && std::memchr(block_.data() + used_, '\n', filled_ - used_) != nullptr;
}

std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

}  // namespace regard
