// Counter-based random numbers: a value is a pure function of a key and a counter, whatever the
// order of the calls.
//
// Source   Philox4x32-10, Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3",
// section 3.4
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace regard {

// Four 32-bit words for one (key, counter).
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_high,
                                              std::uint64_t counter_low) noexcept {
  std::uint32_t k0 = static_cast<std::uint32_t>(key);
  std::uint32_t k1 = static_cast<std::uint32_t>(key >> 32);
  std::array<std::uint32_t, 4> c = {
      static_cast<std::uint32_t>(counter_low), static_cast<std::uint32_t>(counter_low >> 32),
      static_cast<std::uint32_t>(counter_high), static_cast<std::uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// One 64-bit value for (key, counter).
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) noexcept {
  const auto w = philox(key, 0, counter);
  return std::uint64_t{w[0]} << 32 | w[1];
}

// Uniform in [0, 1) from the top 24 bits: exact in float.
constexpr float uniform_float(std::uint32_t word) noexcept {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

// Uniform in [0, n) by multiplication; n > 0.
constexpr std::uint64_t random_below(std::uint64_t key, std::uint64_t counter,
                                     std::uint64_t n) noexcept {
  return (random_bits(key, counter) >> 32) * n >> 32;
}

// Folds a further part into a key, so that keys are built as mix(mix(seed, update), pair), ...
constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t part) noexcept {
  std::uint64_t z = key + 0x9E3779B97F4A7C15ull * (part + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}
constexpr std::uint64_t mix(std::uint64_t key, std::string_view name) noexcept {
  std::uint64_t h = 0xCBF29CE484222325ull;  // FNV-1a
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return mix(key, h);
}

}  // namespace regard
