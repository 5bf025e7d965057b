#include "regard/model/tensor_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "regard/base/checksum.h"
#include "regard/base/error.h"
#include "regard/base/file.h"

namespace regard {
namespace {

constexpr std::size_t kDataAlignment = 64;
constexpr std::string_view kStart = "{\"__metadata__\":{\"header_hash\":\"";
constexpr std::size_t kDigits = 16;
constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 26;
constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 48;
constexpr int kDepth = 4;

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
    const nlohmann::json json = read_json(text_of(header));
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
    std::vector<Described> found;
    for (const auto& [key, value] : json.items()) {
      if (key != "__metadata__") found.push_back(describe(key, value));
    }
    std::sort(found.begin(), found.end(), [](const Described& a, const Described& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    for (Described& t : found) place_tensor(file, t, hashes);
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
    // As text: capital digits would be a change that the hash does not see.
    if (text_of(bytes_.subspan(8 + kStart.size(), kDigits)) !=
        to_hex(header_hash(bytes_.first(8 + n)))) {
      damaged("its header has been changed");
    }
    return bytes_.subspan(8, n);
  }

  // A parser of its own would be smaller, but this one is tested. It keeps the last of equal keys
  // and any depth of nesting; we want neither.
  nlohmann::json read_json(std::string_view text) const {
    std::set<std::string> keys;
    std::string group;
    std::optional<std::string> twice;
    bool deep = false;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      if (depth > kDepth) deep = true;
      if (event == nlohmann::json::parse_event_t::key && depth <= 2) {
        const auto key = value.get<std::string>();
        if (depth == 1) group = key;
        if (!keys.insert(depth == 1 ? key : group + '\n' + key).second && !twice) twice = key;
      }
      return !deep;
    };
    nlohmann::json json = nlohmann::json::parse(text, watch, false);
    if (deep) damaged("its header is nested too deep");
    if (twice) damaged("its header has '" + *twice + "' twice");
    if (!json.is_object()) damaged("its header is not JSON");
    return json;
  }

  struct Described {
    TensorEntry entry;
    std::uint64_t begin = 0, end = 0;
  };

  std::vector<std::uint64_t> numbers(const std::string& tensor, const nlohmann::json& j) const {
    std::vector<std::uint64_t> out;
    if (!j.is_array()) damaged("tensor '" + tensor + "' is not described");
    for (const nlohmann::json& number : j) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMaxExtent) {
        damaged("tensor '" + tensor + "' has an extent or offset that can't be");
      }
      out.push_back(number.get<std::uint64_t>());
    }
    return out;
  }

  Described describe(const std::string& name, const nlohmann::json& j) const {
    Described t;
    t.entry.name = name;
    const bool described = j.is_object() && j.contains("dtype") && j["dtype"].is_string() &&
                           j.contains("shape") && j.contains("data_offsets");
    if (!described) damaged("tensor '" + name + "' is not described");
    const auto type = j["dtype"].get<std::string>();
    if (type != "F32" && type != "U8") damaged("tensor '" + name + "' has type " + type);
    t.entry.type = type == "F32" ? TensorType::kF32 : TensorType::kU8;
    const std::vector<std::uint64_t> shape = numbers(name, j["shape"]);
    t.entry.shape.assign(shape.begin(), shape.end());
    const bool none = std::find(shape.begin(), shape.end(), 0u) != shape.end();
    std::uint64_t want = none ? 0 : type_size(t.entry.type);
    for (std::uint64_t extent : shape) {
      if (!none && want > data_.size() / extent) cut(name);
      want *= extent;
    }
    const std::vector<std::uint64_t> offsets = numbers(name, j["data_offsets"]);
    if (offsets.size() != 2 || offsets[1] < offsets[0] || offsets[1] - offsets[0] != want) {
      damaged("tensor '" + name + "' has offsets that don't fit its shape");
    }
    t.begin = offsets[0];
    t.end = offsets[1];
    return t;
  }

  void place_tensor(TensorFile& file, Described& t,
                    const std::map<std::string, std::string>& hashes) {
    const std::string& name = t.entry.name;
    if (t.begin != next_) damaged("tensor '" + name + "' does not follow the one before it");
    if (t.end > data_.size()) cut(name);
    next_ = t.end;
    const std::span<const std::byte> bytes = data_.subspan(t.begin, t.end - t.begin);
    t.entry.bytes = bytes;
    if (name.starts_with("_pad.")) {
      const bool zero =
          std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
      if (!zero) damaged("padding '" + name + "' is not zero");
      return;
    }
    const auto hash = hashes.find(name);
    if (hash == hashes.end() || hash->second != to_hex(checksum(bytes))) {
      damaged("tensor '" + name + "' at byte " + std::to_string(bytes.data() - bytes_.data()) +
              " has been changed");
    }
    file.tensors.push_back(std::move(t.entry));
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
