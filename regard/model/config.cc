#include "regard/model/config.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "regard/base/error.h"

namespace regard {
namespace {

constexpr std::array<std::string_view, 2> kEncoders = {"recurrent", "self-attention"};
constexpr std::array<std::string_view, 3> kPositions = {"none", "sinusoidal", "relative"};
constexpr std::array<std::string_view, 2> kCells = {"gru", "lstm"};
constexpr std::array<std::string_view, 4> kDecoders = {"fixed", "bahdanau", "conditional", "luong"};
constexpr std::array<std::string_view, 9> kAttentions = {
    "additive", "dot",      "scaled-dot",         "general", "concat",
    "cosine",   "location", "location-sensitive", "coverage"};
constexpr std::array<std::string_view, 10> kNormalizers = {
    "softmax", "sparsemax", "entmax15", "entmax",  "hardmax",
    "sigmoid", "monotonic", "mocha",    "local-p", "local-m"};
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

Index get_width(const nlohmann::json& object, const char* key, Index least = 1) {
  const Index n = get<Index>(object, key);
  if (n < least || n > (Index{1} << 24)) {
    throw FormatError(FormatError::Kind::kModel, std::string("model configuration: '") + key +
                                                     "' is " + std::to_string(n) + ", wanted " +
                                                     std::to_string(least) + " to 16777216");
  }
  return n;
}

// What files that are older than the other normalisers lack.
void read_attention(const nlohmann::json& j, ModelConfig& c) {
  if (!j.contains("normalizer")) return;
  c.normalizer = normalizer_from_name(get<std::string>(j, "normalizer"));
  c.temperature = get<double>(j, "temperature");
  c.window = get_width(j, "window", 0);
  c.heads = get_width(j, "heads");
  c.projections = get<bool>(j, "projections");
  c.weight_norm = get<bool>(j, "weight_norm");
  c.straight_through = get<bool>(j, "straight_through");
  c.location_channels = get_width(j, "location_channels");
  c.location_taps = get_width(j, "location_taps");
  c.longest_source = get_width(j, "longest_source", 0);
}

// What files that are older than encoders of self-attention lack.
void read_encoder(const nlohmann::json& j, ModelConfig& c) {
  if (!j.contains("encoder")) return;
  c.encoder = encoder_from_name(get<std::string>(j, "encoder"));
  c.encoder_heads = get_width(j, "encoder_heads", 0);
  c.feed_forward = get_width(j, "feed_forward", 0);
  c.positions = positions_from_name(get<std::string>(j, "positions"));
}

bool has_v(AttentionKind kind) {
  return kind == AttentionKind::kAdditive || kind == AttentionKind::kConcat ||
         kind == AttentionKind::kLocationSensitive || kind == AttentionKind::kCoverage;
}

// Compares s and h as they are, unless they are projected.
bool compares_states(AttentionKind kind) {
  return kind == AttentionKind::kDot || kind == AttentionKind::kScaledDot ||
         kind == AttentionKind::kCosine;
}

std::string option(AttentionKind kind) { return "--attention " + std::string(name(kind)); }
std::string option(WeightsKind kind) { return "--normalizer " + std::string(name(kind)); }

void check_score(const ModelConfig& c) {
  if (compares_states(c.attention) && !c.projections && c.memory() != c.hidden) {
    const std::string u = std::to_string(c.hidden);
    const std::string fit = c.memory() > c.encoder_hidden ? std::to_string(c.hidden / 2) : u;
    throw ConfigError(option(c.attention) + " compares decoder states of width " + u +
                      " with memory of width " + std::to_string(c.memory()) +
                      "; give --encoder-hidden " + fit +
                      " so that the widths agree, or --attention general, which has a matrix "
                      "between them, or --projections, which has one on each side");
  }
  if (c.attention == AttentionKind::kGeneral && c.projections) {
    throw ConfigError(
        "--attention general has a matrix between state and memory already; projected, it is "
        "--attention dot --projections");
  }
  if (c.attention == AttentionKind::kLocation && c.longest_source < 1) {
    throw ConfigError(
        "--attention location learns a score for each place of a source and needs to know how many "
        "there are");
  }
  if (c.location_taps % 2 == 0) {
    throw ConfigError("the filters of --attention location-sensitive have " +
                      std::to_string(c.location_taps) +
                      " taps; it has to be an odd number, with a middle");
  }
  if (c.weight_norm && !has_v(c.attention)) {
    throw ConfigError("--weight-norm is for scores of the form v . tanh(...); " +
                      option(c.attention) + " has no v");
  }
}

void check_encoder(const ModelConfig& c) {
  if (!c.self_attention()) {
    if (c.encoder_heads != 0 || c.feed_forward != 0 || c.positions != PositionKind::kNone) {
      throw ConfigError(
          "--encoder-heads, --feed-forward and --positions belong to --encoder self-attention; "
          "recurrent encoders have neither heads nor a need of positions");
    }
    return;
  }
  if (!c.bidirectional) {
    throw ConfigError(
        "--unidirectional belongs to recurrent encoders; --encoder self-attention has no "
        "direction: every position looks at all of them");
  }
  if (c.feed_forward < 1) {
    throw ConfigError("--feed-forward is " + std::to_string(c.feed_forward) +
                      "; --encoder self-attention needs at least 1");
  }
  if (c.encoder_heads < 1 || c.encoder_hidden % c.encoder_heads != 0) {
    throw ConfigError("--encoder-heads is " + std::to_string(c.encoder_heads) +
                      "; it has to be a number that divides the encoder's width, " +
                      std::to_string(c.encoder_hidden) + " (--encoder-hidden)");
  }
}

void check_heads(const ModelConfig& c) {
  if (c.heads < 1) {
    throw ConfigError("--heads is " + std::to_string(c.heads) + "; it must be at least 1");
  }
  if (c.heads == 1) return;
  const std::string n = "--heads " + std::to_string(c.heads);
  if (!c.projections) {
    throw ConfigError(n + " needs --projections: each head looks through matrices of its own");
  }
  if (c.memory() % c.heads != 0) {
    throw ConfigError(n + " splits a memory of width " + std::to_string(c.memory()) +
                      ", which is no multiple of it: give another --encoder-hidden or --heads");
  }
  if (c.attention != AttentionKind::kLocation && c.attention_width % c.heads != 0) {
    throw ConfigError(n + " splits queries and keys of width " + std::to_string(c.attention_width) +
                      ", which is no multiple of it: give another --hidden or --heads");
  }
}

bool has_window(WeightsKind kind) {
  return kind == WeightsKind::kMocha || kind == WeightsKind::kLocalP ||
         kind == WeightsKind::kLocalM;
}

void check_normalizer(const ModelConfig& c) {
  if (!(c.temperature > 0.0 && c.temperature <= 1e6 && c.temperature >= 1e-6)) {
    throw ConfigError("--temperature is " + std::to_string(c.temperature) +
                      "; wanted 0.000001 to 1000000");
  }
  if (has_window(c.normalizer) != (c.window > 0)) {
    throw ConfigError(has_window(c.normalizer)
                          ? option(c.normalizer) + " needs --window of at least 1"
                          : "--window belongs to --normalizer local-p, local-m and mocha");
  }
  if (c.straight_through != (c.normalizer == WeightsKind::kHardmax)) {
    throw ConfigError(c.straight_through
                          ? "--straight-through belongs to --normalizer hardmax"
                          : "--normalizer hardmax has gradient 0, so it can't be learnt: give "
                            "--straight-through, which lets gradients pass as softmax does, or "
                            "--normalizer sparsemax");
  }
  const bool monotonic =
      c.normalizer == WeightsKind::kMonotonic || c.normalizer == WeightsKind::kMocha;
  if (c.attention == AttentionKind::kCoverage && monotonic) {
    throw ConfigError("--attention coverage keeps the sum of all weights and " +
                      option(c.normalizer) +
                      " the weights of the step before, and one state can't be both: take "
                      "--attention location-sensitive with monotonic, or softmax");
  }
  if (c.attention == AttentionKind::kLocationSensitive && c.normalizer == WeightsKind::kMocha) {
    throw ConfigError(
        "--attention location-sensitive keeps the weights of the step before and --normalizer "
        "mocha their monotonic part, and one state can't be both: take --normalizer monotonic, or "
        "softmax");
  }
}

void check_attention(const ModelConfig& c) {
  if (!c.has_attention()) {
    if (c.normalizer != WeightsKind::kSoftmax || c.heads != 1 || c.projections || c.weight_norm ||
        c.window != 0 || c.straight_through) {
      throw ConfigError(
          "--decoder fixed has no attention: --normalizer, --heads, --projections, --weight-norm, "
          "--window and --straight-through belong to the others");
    }
    return;
  }
  check_score(c);
  check_heads(c);
  check_normalizer(c);
}

}  // namespace

std::string_view name(EncoderKind kind) { return kEncoders[static_cast<size_t>(kind)]; }
std::string_view name(PositionKind kind) { return kPositions[static_cast<size_t>(kind)]; }
std::string_view name(CellKind kind) { return kCells[static_cast<size_t>(kind)]; }
std::string_view name(DecoderKind kind) { return kDecoders[static_cast<size_t>(kind)]; }
std::string_view name(AttentionKind kind) { return kAttentions[static_cast<size_t>(kind)]; }
std::string_view name(WeightsKind kind) { return kNormalizers[static_cast<size_t>(kind)]; }
std::string_view name(DecoderStart kind) { return kStarts[static_cast<size_t>(kind)]; }

EncoderKind encoder_from_name(std::string_view text) {
  return static_cast<EncoderKind>(index_of("encoder", text, kEncoders));
}
PositionKind positions_from_name(std::string_view text) {
  return static_cast<PositionKind>(index_of("positions", text, kPositions));
}
CellKind cell_from_name(std::string_view text) {
  return static_cast<CellKind>(index_of("cell", text, kCells));
}
DecoderKind decoder_from_name(std::string_view text) {
  return static_cast<DecoderKind>(index_of("decoder", text, kDecoders));
}
AttentionKind attention_from_name(std::string_view text) {
  return static_cast<AttentionKind>(index_of("attention", text, kAttentions));
}
WeightsKind normalizer_from_name(std::string_view text) {
  return static_cast<WeightsKind>(index_of("normalizer", text, kNormalizers));
}
DecoderStart start_from_name(std::string_view text) {
  return static_cast<DecoderStart>(index_of("start", text, kStarts));
}

void require_coverage(const ModelConfig& config) {
  if (config.has_attention() && config.attention == AttentionKind::kCoverage) return;
  throw ConfigError(
      "--coverage-loss needs a sum of past weights to compare with: give --attention coverage");
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
  check_encoder(*this);
  check_attention(*this);
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
  j["encoder"] = name(c.encoder);
  j["encoder_heads"] = c.encoder_heads;
  j["feed_forward"] = c.feed_forward;
  j["positions"] = name(c.positions);
  j["hidden"] = c.hidden;
  j["readout"] = c.readout;
  j["start"] = name(c.start);
  j["decoder"] = name(c.decoder);
  j["feed_context"] = c.feed_context;
  j["input_feeding"] = c.input_feeding;
  j["attention"] = name(c.attention);
  j["attention_width"] = c.attention_width;
  j["normalizer"] = name(c.normalizer);
  j["temperature"] = c.temperature;
  j["window"] = c.window;
  j["heads"] = c.heads;
  j["projections"] = c.projections;
  j["weight_norm"] = c.weight_norm;
  j["straight_through"] = c.straight_through;
  j["location_channels"] = c.location_channels;
  j["location_taps"] = c.location_taps;
  j["longest_source"] = c.longest_source;
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
    read_encoder(j, c);
    c.hidden = get_width(j, "hidden");
    c.readout = get_width(j, "readout");
    c.start = start_from_name(get<std::string>(j, "start"));
    c.decoder = decoder_from_name(get<std::string>(j, "decoder"));
    c.feed_context = get<bool>(j, "feed_context");
    c.input_feeding = get<bool>(j, "input_feeding");
    c.attention = attention_from_name(get<std::string>(j, "attention"));
    c.attention_width = get_width(j, "attention_width");
    read_attention(j, c);
    c.tie_target = get<bool>(j, "tie_target");
    c.tie_all = get<bool>(j, "tie_all");
    c.validate();
  } catch (const ConfigError& e) {
    throw FormatError(FormatError::Kind::kModel, std::string("model configuration: ") + e.what());
  }
  return c;
}

}  // namespace regard
