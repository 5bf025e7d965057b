// The exceptions that regard throws. Everything derives from regard::Error.
//
// A message answers: where (function, file, line or byte), what was found, what was wanted, what to
// do. Resources (files, memory, locks) throw std::system_error with the path instead.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace regard {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A buffer's extents, strides or aliasing do not fit the call.
class ShapeError : public Error {
 public:
  using Error::Error;
};

// Options that have no meaning, alone or together. Exit code 2.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// Bytes that are not what they should be. Says whether data (exit code 3) or a model (4) is at
// fault.
class FormatError : public Error {
 public:
  enum class Kind { kData, kModel };
  FormatError(Kind kind, const std::string& message) : Error(message), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

// Training was stopped by a NaN or Inf. Exit code 6.
class NumericError : public Error {
 public:
  using Error::Error;
};

}  // namespace regard
