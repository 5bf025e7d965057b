#include "regard/base/checksum.h"

// Inlined, so that nothing has to be linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

namespace regard {

// The hash state needs 64-byte alignment, which `new` gives to a type that asks for it.
struct Checksum::State {
  XXH3_state_t xxh;
};

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum(std::string_view text) noexcept {
  return XXH3_64bits(text.data(), text.size());
}

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh); }
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::update(std::span<const std::byte> bytes) noexcept {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

void Checksum::update(std::string_view text) noexcept {
  XXH3_64bits_update(&state_->xxh, text.data(), text.size());
}

std::uint64_t Checksum::value() const noexcept { return XXH3_64bits_digest(&state_->xxh); }

std::string to_hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 0; i < 16; ++i) text[15 - i] = kDigits[value >> (4 * i) & 15];
  return text;
}

std::optional<std::uint64_t> from_hex(std::string_view text) noexcept {
  if (text.size() != 16) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, 16);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace regard
