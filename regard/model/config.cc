#include "regard/model/config.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "regard/base/error.h"

namespace regard {
namespace {

constexpr std::array<std::string_view, 2> kCells = {"gru", "lstm"};
constexpr std::array<std::string_view, 4> kDecoders = {"fixed", "bahdanau", "conditional", "luong"};
constexpr std::array<std::string_view, 4> kAttentions = {"additive", "dot", "scaled-dot",
                                                         "general"};
constexpr std::array<std::string_view, 3> kStarts = {"last", "mean", "zero"};

int index_of(std::string_view what, std::string_view text,
             std::span<const std::string_view> names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<int>(i);
    list += (i == 0 ? "" : ", ") + std::string(names[i]);
  }
  throw ConfigError(std::string(what) + " '" + std::string(text) + "' is unknown; choose one of " +
                    list);
}

// Reads `key` as T; the error says what is wrong with the file.
template <class T>
T get(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) {
    throw FormatError(FormatError::Kind::kModel,
                      std::string("model configuration: key '") + key + "' is missing");
  }
  try {
    return it->get<T>();
  } catch (const nlohmann::json::exception&) {
    throw FormatError(FormatError::Kind::kModel,
                      std::string("model configuration: key '") + key + "' has the wrong type");
  }
}

Index get_width(const nlohmann::json& object, const char* key) {
  const Index n = get<Index>(object, key);
  if (n < 1 || n > (Index{1} << 24)) {
    throw FormatError(FormatError::Kind::kModel, std::string("model configuration: '") + key +
                                                     "' is " + std::to_string(n) +
                                                     ", wanted 1 to 16777216");
  }
  return n;
}

}  // namespace

std::string_view name(CellKind kind) { return kCells[static_cast<size_t>(kind)]; }
std::string_view name(DecoderKind kind) { return kDecoders[static_cast<size_t>(kind)]; }
std::string_view name(AttentionKind kind) { return kAttentions[static_cast<size_t>(kind)]; }
std::string_view name(DecoderStart kind) { return kStarts[static_cast<size_t>(kind)]; }

CellKind cell_from_name(std::string_view text) {
  return static_cast<CellKind>(index_of("cell", text, kCells));
}
DecoderKind decoder_from_name(std::string_view text) {
  return static_cast<DecoderKind>(index_of("decoder", text, kDecoders));
}
AttentionKind attention_from_name(std::string_view text) {
  return static_cast<AttentionKind>(index_of("attention", text, kAttentions));
}
DecoderStart start_from_name(std::string_view text) {
  return static_cast<DecoderStart>(index_of("start", text, kStarts));
}

void ModelConfig::validate() const {
  const auto positive = [](const char* option, Index n) {
    if (n < 1)
      throw ConfigError(std::string(option) + " is " + std::to_string(n) +
                        "; it must be at least 1");
  };
  positive("--embedding", source_embedding);
  positive("--embedding", target_embedding);
  positive("--hidden", hidden);
  positive("--encoder-hidden", encoder_hidden);
  positive("--readout", readout);
  positive("--layers", encoder_layers);
  positive("--layers", decoder_layers);
  if (encoder_layers > 16 || decoder_layers > 16) throw ConfigError("--layers takes at most 16");
  if (feed_context && decoder != DecoderKind::kFixed) {
    throw ConfigError(
        "--feed-context belongs to --decoder fixed; the other decoders read a context at every "
        "step anyway");
  }
  if (input_feeding && decoder != DecoderKind::kLuong) {
    throw ConfigError("--input-feeding belongs to --decoder luong");
  }
  const bool dot = attention == AttentionKind::kDot || attention == AttentionKind::kScaledDot;
  if (has_attention() && dot && memory() != hidden) {
    const std::string u = std::to_string(hidden);
    const std::string fit = bidirectional ? std::to_string(hidden / 2) : u;
    throw ConfigError(
        "--attention " + std::string(name(attention)) + " compares decoder states of width " + u +
        " with memory of width " + std::to_string(memory()) + "; give --encoder-hidden " + fit +
        " so that the widths agree, or --attention general, which has a matrix between them");
  }
  if (decoder == DecoderKind::kFixed && start == DecoderStart::kZero && !feed_context) {
    throw ConfigError(
        "--decoder fixed reads the source only through its start: --start zero needs "
        "--feed-context");
  }
  if ((tie_target || tie_all) && readout != target_embedding) {
    throw ConfigError("--tie needs a readout as wide as the embedding: --readout " +
                      std::to_string(target_embedding));
  }
  if (tie_all && (source_vocabulary != target_vocabulary || source_embedding != target_embedding)) {
    throw ConfigError("--tie all needs one vocabulary for both sides: give --joint");
  }
}

std::string to_json(const ModelConfig& c) {
  nlohmann::ordered_json j;
  j["source_vocabulary"] = c.source_vocabulary;
  j["target_vocabulary"] = c.target_vocabulary;
  j["source_embedding"] = c.source_embedding;
  j["target_embedding"] = c.target_embedding;
  j["encoder_cell"] = name(c.encoder_cell);
  j["decoder_cell"] = name(c.decoder_cell);
  j["encoder_layers"] = c.encoder_layers;
  j["decoder_layers"] = c.decoder_layers;
  j["bidirectional"] = c.bidirectional;
  j["encoder_hidden"] = c.encoder_hidden;
  j["hidden"] = c.hidden;
  j["readout"] = c.readout;
  j["start"] = name(c.start);
  j["decoder"] = name(c.decoder);
  j["feed_context"] = c.feed_context;
  j["input_feeding"] = c.input_feeding;
  j["attention"] = name(c.attention);
  j["attention_width"] = c.attention_width;
  j["tie_target"] = c.tie_target;
  j["tie_all"] = c.tie_all;
  return j.dump();
}

ModelConfig config_from_json(std::string_view text) {
  const nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object()) {
    throw FormatError(FormatError::Kind::kModel, "model configuration: not a JSON object");
  }
  ModelConfig c;
  try {
    c.source_vocabulary = get_width(j, "source_vocabulary");
    c.target_vocabulary = get_width(j, "target_vocabulary");
    c.source_embedding = get_width(j, "source_embedding");
    c.target_embedding = get_width(j, "target_embedding");
    c.encoder_cell = cell_from_name(get<std::string>(j, "encoder_cell"));
    c.decoder_cell = cell_from_name(get<std::string>(j, "decoder_cell"));
    c.encoder_layers = static_cast<int>(get_width(j, "encoder_layers"));
    c.decoder_layers = static_cast<int>(get_width(j, "decoder_layers"));
    c.bidirectional = get<bool>(j, "bidirectional");
    c.encoder_hidden = get_width(j, "encoder_hidden");
    c.hidden = get_width(j, "hidden");
    c.readout = get_width(j, "readout");
    c.start = start_from_name(get<std::string>(j, "start"));
    c.decoder = decoder_from_name(get<std::string>(j, "decoder"));
    c.feed_context = get<bool>(j, "feed_context");
    c.input_feeding = get<bool>(j, "input_feeding");
    c.attention = attention_from_name(get<std::string>(j, "attention"));
    c.attention_width = get_width(j, "attention_width");
    c.tie_target = get<bool>(j, "tie_target");
    c.tie_all = get<bool>(j, "tie_all");
    c.validate();
  } catch (const ConfigError& e) {
    throw FormatError(FormatError::Kind::kModel, std::string("model configuration: ") + e.what());
  }
  return c;
}

}  // namespace regard
