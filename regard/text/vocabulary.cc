#include "regard/text/vocabulary.h"

#include <algorithm>
#include <limits>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

constexpr std::size_t kFirstSlots = 16;
constexpr std::size_t kMaxBytes = std::numeric_limits<std::int32_t>::max();

// FNV-1a with a final mix. It decides where a token is looked for and nothing else.
std::uint64_t hash_bytes(std::string_view bytes) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001B3U;
  }
  return hash ^ (hash >> 29);
}

void put_u32(std::vector<std::uint8_t>& out, std::size_t value) {
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

[[noreturn]] void throw_damaged(const std::string& what) {
  throw FormatError(FormatError::Kind::kModel, "vocabulary: " + what + "; the model is damaged");
}

// Takes a number off the front.
std::size_t take_u32(std::span<const std::uint8_t>& bytes) {
  if (bytes.size() < 4) throw_damaged("the table ends too early");
  std::size_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
  bytes = bytes.subspan(4);
  return value;
}

}  // namespace

Vocabulary::Vocabulary() : slots_(kFirstSlots, -1) {}

std::string_view Vocabulary::text_token(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

std::size_t Vocabulary::find_slot(std::string_view token) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_bytes(token) & mask;
  while (slots_[slot] >= 0 && text_token(static_cast<std::size_t>(slots_[slot])) != token) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void Vocabulary::rehash(std::size_t slots) {
  slots_.assign(slots, -1);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    slots_[find_slot(text_token(i))] = static_cast<std::int32_t>(i);
  }
}

// False if the token is there already.
bool Vocabulary::add(std::string_view token) {
  if (bytes_.size() + token.size() > kMaxBytes) {
    throw ConfigError("the vocabulary is larger than 2 GB");
  }
  if (2 * (ends_.size() + 1) > slots_.size()) rehash(2 * slots_.size());
  const std::size_t slot = find_slot(token);
  if (slots_[slot] >= 0) return false;
  slots_[slot] = static_cast<std::int32_t>(ends_.size());
  bytes_.append(token);
  ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  return true;
}

Vocabulary Vocabulary::from_tokens(std::span<const std::string> tokens) {
  Vocabulary vocabulary;
  for (const std::string& token : tokens) {
    if (token.empty()) throw ConfigError("a vocabulary can not hold an empty token");
    if (!vocabulary.add(token)) {
      throw ConfigError("the token \"" + token + "\" is in the vocabulary twice");
    }
  }
  return vocabulary;
}

Vocabulary Vocabulary::from_counts(const TokenCounts& counts, VocabularyLimits limits) {
  std::vector<const TokenCounts::value_type*> order;
  for (const auto& entry : counts) {
    if (entry.second >= limits.min_count && !entry.first.empty()) order.push_back(&entry);
  }
  // The map is in the order of the bytes, which a stable sort keeps among equals.
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second > b->second; });
  if (limits.max_size > 0 && order.size() > limits.max_size) order.resize(limits.max_size);
  Vocabulary vocabulary;
  for (const auto* entry : order) vocabulary.add(entry->first);
  return vocabulary;
}

std::optional<int> Vocabulary::find(std::string_view token) const {
  const std::int32_t index = slots_[find_slot(token)];
  if (index < 0) return std::nullopt;
  return kFirstTextId + index;
}

std::string_view Vocabulary::token(int id) const {
  if (id < kFirstTextId || id >= size()) {
    throw ShapeError("Vocabulary::token: id " + std::to_string(id) + " is no text token; ids are " +
                     std::to_string(kFirstTextId) + " to " + std::to_string(size() - 1));
  }
  return text_token(static_cast<std::size_t>(id - kFirstTextId));
}

std::vector<std::uint8_t> Vocabulary::serialize() const {
  std::vector<std::uint8_t> out;
  out.reserve(4 + 4 * ends_.size() + bytes_.size());
  put_u32(out, ends_.size());
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const std::string_view token = text_token(i);
    put_u32(out, token.size());
    out.insert(out.end(), token.begin(), token.end());
  }
  return out;
}

Vocabulary Vocabulary::deserialize(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kMaxBytes) throw_damaged("the table is larger than 2 GB");
  const std::size_t count = take_u32(bytes);
  if (count > bytes.size() / 5) {  // each token takes four bytes of length and one of its own
    throw_damaged("it says " + std::to_string(count) + " tokens, more than its " +
                  std::to_string(bytes.size()) + " bytes can hold");
  }
  Vocabulary vocabulary;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t length = take_u32(bytes);
    const std::string name = "token " + std::to_string(i);
    if (length == 0) throw_damaged(name + " is empty");
    if (length > bytes.size()) throw_damaged(name + " is longer than the rest of the table");
    const std::string_view token(reinterpret_cast<const char*>(bytes.data()), length);
    if (find_utf8_error(token)) throw_damaged(name + " is not UTF-8");
    if (!vocabulary.add(token)) throw_damaged(name + " occurs twice");
    bytes = bytes.subspan(length);
  }
  if (!bytes.empty()) throw_damaged(std::to_string(bytes.size()) + " bytes follow the last token");
  return vocabulary;
}

}  // namespace regard
