// Checksums of bytes: XXH3-64, and its sixteen hexadecimal digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regard {

// XXH3-64 (seed 0) of all bytes at once. Finds damage, not forgery. The same on every processor.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;
std::uint64_t checksum(std::string_view text) noexcept;

// The same value for bytes that come in parts. Errors: std::bad_alloc.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void update(std::span<const std::byte> bytes) noexcept;
  void update(std::string_view text) noexcept;
  std::uint64_t value() const noexcept;  // of all bytes so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Sixteen lower-case digits, most significant first.
std::string to_hex(std::uint64_t value);

// The inverse; nothing unless the text is exactly sixteen digits (upper case is read too).
std::optional<std::uint64_t> from_hex(std::string_view text) noexcept;

}  // namespace regard
