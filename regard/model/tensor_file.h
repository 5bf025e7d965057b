// The file form: safetensors with checksums, read by other readers of that format. Knows nothing of
// models.
//
//   8 bytes N (little-endian) | N bytes of JSON header, padded with blanks | data, each tensor at a
//   multiple of 64
//
// The header begins with {"__metadata__":{"header_hash":"<16 digits>", which is the XXH3-64 of
// bytes 0 to 8+N with these digits as '0'. Each tensor's own hash is metadata "xxh3.<name>". Gaps
// are U8 tensors "_pad.<n>" of zero bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "regard/tensor/view.h"

namespace regard {

enum class TensorType { kF32, kU8 };

struct TensorEntry {
  std::string name;
  TensorType type = TensorType::kU8;
  std::vector<Index> shape;
  std::span<const std::byte> bytes;  // borrowed
};

struct TensorFile {
  std::map<std::string, std::string> metadata;  // without hashes
  std::vector<TensorEntry> tensors;             // sorted by name, padding left out

  // Null if there is no such tensor.
  const TensorEntry* find(std::string_view name) const;
};

// The whole file as bytes; the same input gives the same bytes. Throws std::bad_alloc.
std::string format_tensor_file(const TensorFile& file);

// Views into `bytes`, which outlive the result; every hash, offset and padding byte is checked.
// Errors  FormatError (model) naming `place`, what was found, and whether the file is of another
// kind, cut or damaged
TensorFile parse_tensor_file(std::span<const std::byte> bytes, const std::string& place);

}  // namespace regard
