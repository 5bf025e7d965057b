// The file form: round trip, layout, and every kind of damage.
#include "regard/model/tensor_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "regard/base/checksum.h"
#include "regard/base/error.h"
#include "regard/base/file.h"
#include "regard/base/random.h"

namespace regard {
namespace {

using Json = nlohmann::ordered_json;

std::span<const std::byte> bytes_of(const std::string& text) { return as_bytes(text); }

// Tensors of awkward sizes: below, at and above a multiple of 64 bytes, and none at all.
struct Sample {
  std::vector<float> floats;
  std::string text = "\xC3\xA9t\xC3\xA9";
  TensorFile file;

  Sample() {
    for (int i = 0; i < 35; ++i) floats.push_back(static_cast<float>(i) / 3.0f - 5.0f);
    file.metadata = {{"format_version", "1"}, {"configuration", "{\"a\":\"b \\\" \xC3\xA9\"}"}};
    const auto add = [&](const char* name, std::vector<Index> shape, Index n) {
      file.tensors.push_back({name, TensorType::kF32, std::move(shape),
                              std::as_bytes(std::span(floats).first(static_cast<size_t>(n)))});
    };
    add("z.last", {7, 5}, 35);
    add("b.sixteen", {16}, 16);
    add("a.one", {1, 1}, 1);
    add("none", {0, 9}, 0);
    file.tensors.push_back({"tokens", TensorType::kU8, {5}, bytes_of(text)});
  }
  std::string bytes() const { return format_tensor_file(file); }
};

std::uint64_t header_length(const std::string& file) {
  std::uint64_t n = 0;
  for (int i = 7; i >= 0; --i)
    n = n << 8 | static_cast<unsigned char>(file[static_cast<size_t>(i)]);
  return n;
}

// The message of the FormatError that parsing must give.
std::string refusal(const std::string& bytes) {
  try {
    parse_tensor_file(as_bytes(bytes), "some/model");
  } catch (const FormatError& e) {
    EXPECT_EQ(e.kind(), FormatError::Kind::kModel);
    EXPECT_EQ(std::string(e.what()).find("some/model: "), 0u) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "parsed";
  return "";
}
void expect_refusal(const std::string& bytes, const std::string& words) {
  const std::string message = refusal(bytes);
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

// A file with this header and a hash that is right for it: what an attacker would write.
std::string hostile(std::string header, const std::string& data = std::string(64, '\0')) {
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  out += header;
  const size_t digits = out.find("0000000000000000");
  if (digits != std::string::npos) out.replace(digits, 16, to_hex(checksum(out)));
  return out + data;
}
std::string hostile_tensors(const std::string& tensors, const std::string& metadata = "") {
  return hostile("{\"__metadata__\":{\"header_hash\":\"0000000000000000\"" + metadata + "}" +
                 tensors + "}");
}

TEST(TensorFile, ComesBackAsItWentOut) {
  const Sample sample;
  const std::string bytes = sample.bytes();
  const TensorFile file = parse_tensor_file(as_bytes(bytes), "place");
  EXPECT_EQ(file.metadata, sample.file.metadata);
  ASSERT_EQ(file.tensors.size(), 5u);
  EXPECT_EQ(file.tensors[0].name, "a.one");  // by name
  EXPECT_EQ(file.tensors[4].name, "z.last");
  for (const TensorEntry& want : sample.file.tensors) {
    const TensorEntry* got = file.find(want.name);
    ASSERT_NE(got, nullptr) << want.name;
    EXPECT_EQ(got->type, want.type);
    EXPECT_EQ(got->shape, want.shape);
    ASSERT_EQ(got->bytes.size(), want.bytes.size());
    EXPECT_TRUE(std::equal(got->bytes.begin(), got->bytes.end(), want.bytes.begin()));
  }
  EXPECT_EQ(file.find("absent"), nullptr);
  EXPECT_EQ(file.find("_pad.0"), nullptr);
  EXPECT_EQ(format_tensor_file(file), bytes);
}

TEST(TensorFile, TheOrderGivenDoesNotMatter) {
  Sample sample;
  const std::string bytes = sample.bytes();
  std::reverse(sample.file.tensors.begin(), sample.file.tensors.end());
  EXPECT_EQ(sample.bytes(), bytes);
}

TEST(TensorFile, EveryTensorStartsAtAMultipleOf64AndTheFileEndsWithTheLast) {
  const std::string bytes = Sample().bytes();
  const size_t start = 8 + header_length(bytes);
  EXPECT_EQ(start % 64, 0u);
  const TensorFile file = parse_tensor_file(as_bytes(bytes), "place");
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  for (const TensorEntry& t : file.tensors) EXPECT_EQ((t.bytes.data() - begin) % 64, 0) << t.name;
  const TensorEntry& last = file.tensors.back();
  EXPECT_EQ(last.bytes.data() + last.bytes.size(), begin + bytes.size());
}

TEST(TensorFile, TheHeaderIsSafetensors) {
  const std::string bytes = Sample().bytes();
  const std::string header = bytes.substr(8, header_length(bytes));
  EXPECT_EQ(header.find("{\"__metadata__\":{\"header_hash\":\""), 0u);
  const Json json = Json::parse(header);
  for (const auto& [key, value] : json["__metadata__"].items())
    EXPECT_TRUE(value.is_string()) << key;
  EXPECT_EQ(json["z.last"]["dtype"], "F32");
  EXPECT_EQ(json["z.last"]["shape"], Json::parse("[7,5]"));
  EXPECT_EQ(json["tokens"]["dtype"], "U8");
  std::uint64_t next = 0;
  for (const auto& [key, value] : json.items()) {
    if (key == "__metadata__") continue;
    EXPECT_EQ(value["data_offsets"][0], next) << key;
    next = value["data_offsets"][1];
  }
  EXPECT_EQ(next, bytes.size() - 8 - header.size());
  EXPECT_EQ(json["__metadata__"]["xxh3.tokens"], to_hex(checksum(Sample().text)));
}

TEST(TensorFile, ABitFlippedAnywhereIsFound) {
  const std::string bytes = Sample().bytes();
  const std::uint64_t bits = bytes.size() * 8;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint64_t bit = random_below(7, i, bits);
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(refusal(damaged), "") << "bit " << bit;
  }
  // And every bit of the header's own hash.
  const size_t digits = 8 + std::strlen("{\"__metadata__\":{\"header_hash\":\"");
  for (size_t bit = digits * 8; bit < (digits + 16) * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(refusal(damaged), "") << "bit " << bit;
  }
}

TEST(TensorFile, ACutAnywhereIsFoundAndBytesThatFollowToo) {
  const std::string bytes = Sample().bytes();
  for (std::uint64_t i = 0; i < 200; ++i) {
    EXPECT_NE(refusal(bytes.substr(0, random_below(8, i, bytes.size()))), "");
  }
  for (size_t n = 0; n < 48; ++n) EXPECT_NE(refusal(bytes.substr(0, n)), "");
  expect_refusal(bytes.substr(0, bytes.size() - 1), "cut");
  expect_refusal(bytes.substr(0, 100), "cut");
  expect_refusal(bytes + '\0', "1 bytes follow");
  expect_refusal(bytes + bytes, "follow");
}

TEST(TensorFile, BlocksThatChangePlacesOrBecomeZeroAreFound) {
  const std::string bytes = Sample().bytes();
  const size_t start = 8 + header_length(bytes);
  for (size_t at = start; at + 64 <= bytes.size(); at += 64) {
    std::string damaged = bytes;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), 64, '\0');
    EXPECT_NE(refusal(damaged), "") << at;
    const size_t other = at == start ? start + 64 : start;
    damaged = bytes;
    std::swap_ranges(damaged.begin() + static_cast<std::ptrdiff_t>(at),
                     damaged.begin() + static_cast<std::ptrdiff_t>(at) + 64,
                     damaged.begin() + static_cast<std::ptrdiff_t>(other));
    EXPECT_NE(refusal(damaged), "") << at;
  }
  for (size_t at = 0; at + 64 <= start; at += 64) {
    std::string damaged = bytes;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), 64, '\0');
    EXPECT_NE(refusal(damaged), "") << at;
  }
}

TEST(TensorFile, DamageIsTold) {
  const Sample sample;
  std::string bytes = sample.bytes();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  expect_refusal(bytes, "tensor 'z.last' at byte");
  bytes = sample.bytes();
  bytes[8 + header_length(bytes) + 10] = 1;  // after a.one's four bytes
  expect_refusal(bytes, "padding '_pad.0' is not zero");
  bytes = sample.bytes();
  bytes[8 + header_length(bytes) - 1] = '\n';
  expect_refusal(bytes, "header has been changed");
}

TEST(TensorFile, FilesOfOtherKindsAreNoModels) {
  const std::string png("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x02\0\0\0", 29);
  std::string other_safetensors =
      "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  other_safetensors = std::string(1, static_cast<char>(other_safetensors.size())) +
                      std::string(7, '\0') + other_safetensors + std::string(4, '\0');
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string("eat\tmanger\ndrink\tboire\n"), png,
        std::string(1000, '\0'), std::string(1000, '\xFF'), other_safetensors}) {
    expect_refusal(bytes, "this is no regard model");
  }
}

TEST(TensorFile, HostileHeadersAreRefused) {
  expect_refusal(hostile_tensors(""), "64 bytes follow");
  const std::string zeros(64, '\0');
  const std::string hash = ",\"xxh3.a\":\"" + to_hex(checksum(zeros)) + "\"";
  const auto described = [](const std::string& name, const std::string& type,
                            const std::string& shape, const std::string& offsets) {
    return ",\"" + name + "\":{\"dtype\":" + type + ",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  const auto a = [&](const std::string& type, const std::string& shape,
                     const std::string& offsets) {
    return hostile_tensors(described("a", type, shape, offsets), hash);
  };
  EXPECT_NO_THROW(parse_tensor_file(as_bytes(a("\"F32\"", "[16]", "[0,64]")), "fine"));
  for (const char* shape : {"[17]", "[-16]", "[16.0]", "[\"16\"]", "[true]", "[null]", "[]", "{}",
                            "16", "[[16]]", "[4611686018427387904]", "[4611686018427387904,4]",
                            "[18446744073709551615]", "[99999999999999999999999]",
                            "[65536,65536,65536,65536]", "[0]", "[0,18446744073709551615]"}) {
    SCOPED_TRACE(shape);
    EXPECT_NE(refusal(a("\"F32\"", shape, "[0,64]")), "");
    EXPECT_NE(refusal(a("\"F32\"", shape, "[0,0]")), "");
  }
  for (const char* offsets : {"[0,63]", "[1,65]", "[64,0]", "[-64,0]", "[0]", "[0,64,64]",
                              "[0,18446744073709551615]", "[64,128]", "{}", "[0.0,64.0]"}) {
    EXPECT_NE(refusal(a("\"F32\"", "[16]", offsets)), "") << offsets;
  }
  for (const char* type : {"\"F64\"", "\"f32\"", "1", "null", "{}"})
    EXPECT_NE(refusal(a(type, "[16]", "[0,64]")), "") << type;
  expect_refusal(hostile_tensors(",\"a\":5", hash), "not described");
  expect_refusal(hostile_tensors(",\"a\":{}", hash), "not described");
  // Overlaps, gaps, names twice, no hash, a hash for nothing else.
  expect_refusal(hostile_tensors(described("a", "\"U8\"", "[64]", "[0,64]") +
                                     described("b", "\"U8\"", "[32]", "[32,64]"),
                                 hash),
                 "does not follow");
  expect_refusal(hostile_tensors(described("a", "\"U8\"", "[32]", "[32,64]"), hash),
                 "does not follow");
  const std::string fine = described("a", "\"U8\"", "[64]", "[0,64]");
  expect_refusal(hostile_tensors(fine + fine, hash), "'a' twice");
  expect_refusal(hostile_tensors(fine, hash + hash), "'xxh3.a' twice");
  const std::string nameless = described("", "\"U8\"", "[64]", "[0,64]");
  expect_refusal(hostile_tensors(nameless + nameless, hash), "'' twice");
  expect_refusal(hostile_tensors(fine + ",\"__metadata__\":{}", hash), "twice");
  expect_refusal(hostile_tensors(fine + ",\"__metadata__\":7", hash), "twice");
  expect_refusal(hostile_tensors(fine), "has been changed");
  expect_refusal(hostile_tensors(fine, hash + ",\"x\":5"), "metadata 'x' is not text");
  expect_refusal(hostile_tensors(fine, hash + ",\"x\":{\"y\":[]}"), "metadata 'x' is not text");
}

TEST(TensorFile, HeadersThatAreNoJsonAreRefused) {
  const std::string start = "{\"__metadata__\":{\"header_hash\":\"0000000000000000\"";
  for (const char* rest : {"", "}", "}}x", "}}{}", "},\"a\":", "}]", ",\"\xFF\":\"\"}}",
                           ",\"x\":\"\xC3\"}}", ",\"x\":\"\\ud800\"}}"}) {
    EXPECT_NE(refusal(hostile(start + rest)), "") << rest;
  }
}

TEST(TensorFile, LargeAndDeepHeadersAreRefusedAtOnce) {
  // Depth that would end a recursive parser.
  expect_refusal(hostile_tensors(",\"a\":" + std::string(1000000, '[')), "deep");
  expect_refusal(hostile_tensors(",\"a\":" + std::string(1000000, '[') + std::string(1000000, ']')),
                 "deep");
  std::string objects;
  for (int i = 0; i < 200000; ++i) objects += "{\"a\":";
  expect_refusal(hostile_tensors(",\"a\":" + objects), "deep");
  // Many names, which must not take time by their square.
  std::string names;
  for (int i = 0; i < 100000; ++i) names += ",\"" + std::to_string(i) + "\":0";
  expect_refusal(hostile_tensors(names), "not described");
  // Lengths beyond the file and beyond what a header may have.
  std::string bytes = Sample().bytes();
  for (const std::uint64_t n :
       {std::uint64_t{1} << 25, std::uint64_t{1} << 27, std::uint64_t{1} << 63, ~std::uint64_t{0},
        ~std::uint64_t{0} - 7, std::uint64_t{0}, std::uint64_t{40}}) {
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(n >> (8 * i) & 0xFF);
    EXPECT_NE(refusal(bytes), "") << n;
  }
}

}  // namespace
}  // namespace regard
