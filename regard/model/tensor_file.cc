#include "regard/model/tensor_file.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "regard/base/checksum.h"
#include "regard/base/error.h"
#include "regard/base/file.h"

namespace regard {
namespace {

constexpr std::size_t kDataAlignment = 64;
constexpr std::string_view kStart = "{\"__metadata__\":{\"header_hash\":\"";
constexpr std::size_t kDigits = 16;
constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 26;

std::size_t round_up(std::size_t n) {
  return (n + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
}

std::string_view type_name(TensorType type) { return type == TensorType::kF32 ? "F32" : "U8"; }
std::size_t type_size(TensorType type) { return type == TensorType::kF32 ? 4 : 1; }

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The hash of everything before the data, digits as '0'.
std::uint64_t header_hash(std::span<const std::byte> head) {
  Checksum sum;
  const std::size_t digits = 8 + kStart.size();
  sum.update(head.first(digits));
  sum.update(std::string_view("0000000000000000"));
  sum.update(head.subspan(digits + kDigits));
  return sum.value();
}

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, const std::string& place)
      : bytes_(bytes), place_(place) {}

  TensorFile parse() {
    const std::span<const std::byte> header = check_header();
    const nlohmann::ordered_json json =
        nlohmann::ordered_json::parse(text_of(header), nullptr, false);
    if (!json.is_object()) damaged("its header is not JSON");
    TensorFile file;
    std::map<std::string, std::string> hashes;
    for (const auto& [key, value] : json.at("__metadata__").items()) {
      if (!value.is_string()) damaged("metadata '" + key + "' is not text");
      if (key == "header_hash") continue;
      if (key.starts_with("xxh3.")) {
        hashes[key.substr(5)] = value.get<std::string>();
      } else {
        file.metadata[key] = value.get<std::string>();
      }
    }
    data_ = bytes_.subspan(8 + header.size());
    for (const auto& [key, value] : json.items()) {
      if (key == "__metadata__") continue;
      add_tensor(file, key, value, hashes);
    }
    if (next_ != data_.size()) {
      damaged(std::to_string(data_.size() - next_) + " bytes follow the last tensor");
    }
    std::sort(file.tensors.begin(), file.tensors.end(),
              [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; });
    return file;
  }

 private:
  std::span<const std::byte> check_header() {
    if (bytes_.size() < 8) wrong_kind("it has " + std::to_string(bytes_.size()) + " bytes");
    std::uint64_t n = 0;
    for (int i = 7; i >= 0; --i)
      n = n << 8 | static_cast<std::uint64_t>(bytes_[static_cast<size_t>(i)]);
    const std::size_t shortest = kStart.size() + kDigits;
    if (n < shortest || n > kMaxHeader) wrong_kind("it does not begin with a header length");
    const bool begins =
        bytes_.size() >= 8 + shortest && text_of(bytes_.subspan(8, kStart.size())) == kStart;
    if (!begins) wrong_kind("it does not begin with our header");
    if (n > bytes_.size() - 8) {
      damaged("it is cut: the header ends at byte " + std::to_string(8 + n) +
              ", the file at byte " + std::to_string(bytes_.size()));
    }
    const auto stored = from_hex(text_of(bytes_.subspan(8 + kStart.size(), kDigits)));
    if (!stored || *stored != header_hash(bytes_.first(8 + n)))
      damaged("its header has been changed");
    return bytes_.subspan(8, n);
  }

  void add_tensor(TensorFile& file, const std::string& name, const nlohmann::ordered_json& j,
                  const std::map<std::string, std::string>& hashes) {
    TensorEntry t;
    t.name = name;
    try {
      const std::string type = j.at("dtype").get<std::string>();
      if (type != "F32" && type != "U8") damaged("tensor '" + name + "' has type " + type);
      t.type = type == "F32" ? TensorType::kF32 : TensorType::kU8;
      t.shape = j.at("shape").get<std::vector<Index>>();
      const auto offsets = j.at("data_offsets").get<std::vector<std::uint64_t>>();
      std::uint64_t want = type_size(t.type);
      for (Index extent : t.shape) {
        if (extent < 0 ||
            (extent > 0 && want > data_.size() / static_cast<std::uint64_t>(extent) + 8)) {
          cut(name);
        }
        want *= static_cast<std::uint64_t>(extent);
      }
      if (offsets.size() != 2 || offsets[0] != next_ || offsets[1] < offsets[0] ||
          offsets[1] - offsets[0] != want) {
        damaged("tensor '" + name + "' does not follow the one before it");
      }
      if (offsets[1] > data_.size()) cut(name);
      t.bytes = data_.subspan(offsets[0], want);
      next_ = offsets[1];
    } catch (const nlohmann::json::exception&) {
      damaged("tensor '" + name + "' is not described");
    }
    if (name.starts_with("_pad.")) {
      const bool zero = std::all_of(t.bytes.begin(), t.bytes.end(),
                                    [](std::byte b) { return b == std::byte{0}; });
      if (!zero) damaged("padding '" + name + "' is not zero");
      return;
    }
    const auto hash = hashes.find(name);
    if (hash == hashes.end() || hash->second != to_hex(checksum(t.bytes))) {
      damaged("tensor '" + name + "' at byte " + std::to_string(t.bytes.data() - bytes_.data()) +
              " has been changed");
    }
    file.tensors.push_back(std::move(t));
  }

  [[noreturn]] void cut(const std::string& name) const {
    damaged("it is cut: tensor '" + name + "' ends beyond the file's " +
            std::to_string(bytes_.size()) + " bytes");
  }
  [[noreturn]] void damaged(const std::string& what) const {
    throw FormatError(FormatError::Kind::kModel,
                      place_ + ": the file is damaged: " + what + "; copy or train it again");
  }
  [[noreturn]] void wrong_kind(const std::string& what) const {
    throw FormatError(FormatError::Kind::kModel, place_ + ": this is no regard model: " + what);
  }

  std::span<const std::byte> bytes_, data_;
  const std::string& place_;
  std::uint64_t next_ = 0;
};

}  // namespace

const TensorEntry* TensorFile::find(std::string_view name) const {
  for (const TensorEntry& t : tensors) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

std::string format_tensor_file(const TensorFile& file) {
  std::vector<TensorEntry> sorted = file.tensors;
  std::sort(sorted.begin(), sorted.end(),
            [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; });
  nlohmann::ordered_json header;
  nlohmann::ordered_json& metadata = header["__metadata__"];
  metadata["header_hash"] = std::string(kDigits, '0');
  for (const auto& [key, value] : file.metadata) metadata[key] = value;
  for (const TensorEntry& t : sorted) metadata["xxh3." + t.name] = to_hex(checksum(t.bytes));
  std::string data;
  int pads = 0;
  const auto describe = [&](const std::string& name, TensorType type,
                            const std::vector<Index>& shape, std::size_t bytes) {
    header[name] = {{"dtype", type_name(type)},
                    {"shape", shape},
                    {"data_offsets", {data.size(), data.size() + bytes}}};
  };
  for (size_t i = 0; i < sorted.size(); ++i) {
    const TensorEntry& t = sorted[i];
    describe(t.name, t.type, t.shape, t.bytes.size());
    data.append(text_of(t.bytes));
    const std::size_t gap = round_up(data.size()) - data.size();
    if (gap == 0 || i + 1 == sorted.size()) continue;
    describe("_pad." + std::to_string(pads++), TensorType::kU8, {static_cast<Index>(gap)}, gap);
    data.append(gap, '\0');
  }
  std::string text = header.dump();
  text.resize(round_up(8 + text.size()) - 8, ' ');
  std::string out;
  for (int i = 0; i < 8; ++i) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i) & 0xFF));
  }
  out += text;
  const std::string hash = to_hex(header_hash(as_bytes(out)));
  out.replace(8 + kStart.size(), kDigits, hash);
  return out + data;
}

TensorFile parse_tensor_file(std::span<const std::byte> bytes, const std::string& place) {
  return Parser(bytes, place).parse();
}

}  // namespace regard
