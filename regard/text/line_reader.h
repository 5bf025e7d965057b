// Lines of a file or of standard input.
//
// LF alone ends a line; one CR before it goes; U+2028, U+0085, VT, FF and the like are text. A last
// line without LF counts. A byte order mark at the very start goes. Plain, gzip or zstd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "regard/text/byte_source.h"

namespace regard {

class LineReader {
 public:
  // Opens `path`, "-" for standard input (a closed one has no lines).
  // Errors: std::system_error with the path if it is missing, unreadable or a directory.
  explicit LineReader(const std::string& path);

  // Reads the next line, which may hold any bytes but LF; false at the end. Holds one line and one
  // block in memory, and returns a line as soon as its LF has come.
  // Errors: FormatError (data) with file and line if compressed data is damaged or cut short;
  // std::system_error if the system fails.
  bool next(std::string& line);

  // Is a whole line at hand, so that next() will not wait for input?
  bool has_line() const;

  // The number of the line that next() gave last, from 1; at the end, the number of lines.
  std::uint64_t line_number() const { return line_number_; }

  // Was a byte order mark dropped before the first line?
  bool dropped_byte_order_mark() const { return dropped_byte_order_mark_; }

  // How messages call this input: the path, or "standard input".
  const std::string& name() const { return name_; }

  // "NAME:LINE" of the line that next() gave last.
  std::string place() const { return name_ + ":" + std::to_string(line_number_); }

 private:
  bool fill();

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> block_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t line_number_ = 0;
  bool ended_ = false;
  bool dropped_byte_order_mark_ = false;
};

// Reads all lines of `path`. Errors as LineReader.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace regard
