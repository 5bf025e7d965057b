#include "regard/model/model.h"

#include <charconv>
#include <cstring>

#include "regard/base/error.h"
#include "regard/base/file.h"
#include "regard/kernels/isa.h"
#include "regard/model/tensor_file.h"

namespace regard {
namespace {

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw FormatError(FormatError::Kind::kModel, place + ": " + what);
}

const std::string& metadata(const TensorFile& file, const std::string& key,
                            const std::string& place) {
  const auto it = file.metadata.find(key);
  if (it == file.metadata.end()) fail(place, "metadata '" + key + "' is missing");
  return it->second;
}

void check_version(const TensorFile& file, const std::string& place) {
  const std::string& text = metadata(file, "format_version", place);
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version < 1) {
    fail(place, "format_version is '" + text + "'");
  }
  if (version > kModelFormatVersion) {
    fail(place, "the file has format version " + text + "; this regard reads up to " +
                    std::to_string(kModelFormatVersion) + ": a newer regard is needed");
  }
}

std::vector<Index> shape_of(const ParameterInfo& p) {
  if (p.use == Use::kVector) return {p.rows * p.cols};
  return {p.rows, p.cols};
}

// Tokenizer blocks are U8 tensors "source.tokens.<block>" and "target.tokens.<block>".
using Blocks = std::map<std::string, std::vector<std::uint8_t>>;

Tokenizer read_tokenizer(const TensorFile& file, const std::string& prefix,
                         const std::string& place) {
  Blocks blocks;
  for (const TensorEntry& t : file.tensors) {
    if (!t.name.starts_with(prefix) || t.type != TensorType::kU8) continue;
    const auto* p = reinterpret_cast<const std::uint8_t*>(t.bytes.data());
    blocks[t.name.substr(prefix.size())] = std::vector<std::uint8_t>(p, p + t.bytes.size());
  }
  try {
    return Tokenizer::deserialize(blocks);
  } catch (const FormatError& e) {
    fail(place, prefix.substr(0, prefix.size() - 1) + ": " + e.what());
  }
}

void check_size(const char* side, Index configured, const Tokenizer& tokens,
                const std::string& place) {
  if (configured == tokens.size()) return;
  fail(place, std::string(side) + " vocabulary has " + std::to_string(tokens.size()) +
                  " entries, the configuration says " + std::to_string(configured));
}

}  // namespace

std::string format_model(const Model& model, const float* values) {
  TensorFile file;
  file.metadata["format_version"] = std::to_string(kModelFormatVersion);
  file.metadata["configuration"] = to_json(model.network.config());
  file.metadata["training"] = model.training_record;
  for (const ParameterInfo& p : model.network.parameters().infos()) {
    const Index n = p.rows * p.cols;
    file.tensors.push_back(
        {p.name,
         TensorType::kF32,
         shape_of(p),
         {reinterpret_cast<const std::byte*>(values + p.offset), static_cast<size_t>(n) * 4}});
  }
  const Blocks blocks[2] = {model.source_tokens.serialize(), model.target_tokens.serialize()};
  for (int side = 0; side < 2; ++side) {
    for (const auto& [name, bytes] : blocks[side]) {
      file.tensors.push_back({(side == 0 ? "source.tokens." : "target.tokens.") + name,
                              TensorType::kU8,
                              {static_cast<Index>(bytes.size())},
                              std::as_bytes(std::span(bytes))});
    }
  }
  return format_tensor_file(file);
}

void save_model(const std::string& path, const Model& model) {
  replace_file(path, format_model(model, model.network.parameters().data()));
}

std::unique_ptr<Model> load_model(const std::string& path) {
  require_isa();
  const MappedFile mapped(path);
  const TensorFile file = parse_tensor_file(mapped.bytes(), path);
  check_version(file, path);
  ModelConfig config;
  try {
    config = config_from_json(metadata(file, "configuration", path));
  } catch (const FormatError& e) {
    fail(path, e.what());
  }
  Tokenizer source = read_tokenizer(file, "source.tokens.", path);
  Tokenizer target = read_tokenizer(file, "target.tokens.", path);
  check_size("source", config.source_vocabulary, source, path);
  check_size("target", config.target_vocabulary, target, path);
  std::unique_ptr<Model> model;
  try {
    // Padding between parameters is at most 16 floats each, so the file's own size in floats and a
    // bit is a bound.
    const Index most = static_cast<Index>(mapped.bytes().size() / 4) + 16 * 1024;
    model = std::make_unique<Model>(config, std::move(source), std::move(target), most);
  } catch (const ConfigError& e) {
    fail(path, e.what());
  }
  model->training_record = metadata(file, "training", path);
  Parameters& parameters = model->network.parameters();
  for (int i = 0; i < parameters.count(); ++i) {
    const ParameterInfo& p = parameters.infos()[static_cast<size_t>(i)];
    const TensorEntry* t = file.find(p.name);
    if (t == nullptr || t->type != TensorType::kF32 || t->shape != shape_of(p)) {
      fail(path, "tensor '" + p.name + "' is missing or has another shape than the configuration");
    }
    std::memcpy(parameters.data() + p.offset, t->bytes.data(), t->bytes.size());
  }
  Threads alone;
  parameters.pack(alone, false);
  return model;
}

}  // namespace regard
