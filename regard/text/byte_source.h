// Bytes of a file or of standard input, decompressed where they are gzip or zstd.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace regard {

// A stream of bytes, read once from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads 1 to `size` bytes and returns how many; 0 means the end. Waits for no more than one byte,
  // so a slow pipe is passed on as it comes.
  // Errors: std::system_error with the path if the system refuses; BrokenStream.
  virtual std::size_t read(char* out, std::size_t size) = 0;
};

// Compressed data is damaged or ends too early; the reader that knows the line makes a FormatError
// of it.
class BrokenStream : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Opens `path`; "-" is standard input, and a closed standard input is an empty one.
// gzip (also of several members) and zstd (also of several frames) are known by their first bytes;
// a name that ends in .gz or .zst whose bytes are something else is a BrokenStream at the first
// read. Errors: std::system_error with the path if it is missing, unreadable or a directory.
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

}  // namespace regard
