// What a model is made of: the choices of docs/models.md, checked together, and their names on
// the command line and in the model file.
#pragma once

#include <string>
#include <string_view>

#include "regard/tensor/view.h"

namespace regard {

enum class EncoderKind { kRecurrent, kSelfAttention };
enum class CellKind { kGru, kLstm };
// How a self-attention encoder knows the order of its source.
enum class PositionKind {
  kNone,        // it doesn't
  kSinusoidal,  // sines and cosines added to the embeddings
  kRelative,    // a learned bias of each head by distance, up to 16 positions apart
};
enum class DecoderKind { kFixed, kBahdanau, kConditional, kLuong };
enum class AttentionKind {
  kAdditive,
  kDot,
  kScaledDot,
  kGeneral,
  kConcat,
  kCosine,
  kLocation,
  kLocationSensitive,
  kCoverage,
};
// How scores become weights: the normalisers of attention/normalizer.h, and Luong's two windows.
enum class WeightsKind {
  kSoftmax,
  kSparsemax,
  kEntmax15,
  kEntmax,
  kHardmax,
  kSigmoid,
  kMonotonic,
  kMocha,
  kLocalP,  // a window around a place that the model predicts, with a Gaussian in it
  kLocalM,  // softmax over a window around min(i, S - 1)
};
enum class DecoderStart { kLast, kMean, kZero };

// Widths: E embedding, H encoder (one direction), U decoder, M memory = H or 2H, A additive layer.
struct ModelConfig {
  Index source_vocabulary = 0;  // control tokens included
  Index target_vocabulary = 0;
  Index source_embedding = 128;
  Index target_embedding = 128;
  EncoderKind encoder = EncoderKind::kRecurrent;
  CellKind encoder_cell = CellKind::kGru;  // of recurrent encoders
  CellKind decoder_cell = CellKind::kGru;
  int encoder_layers = 1;
  int decoder_layers = 1;
  bool bidirectional = true;
  Index encoder_hidden = 256;  // H; self-attention: M
  // Of self-attention encoders alone; 0 and none elsewhere.
  Index encoder_heads = 0;
  Index feed_forward = 0;  // width inside the feed-forward part of a layer
  PositionKind positions = PositionKind::kNone;
  Index hidden = 256;   // U
  Index readout = 256;  // width of t_i
  DecoderStart start = DecoderStart::kLast;
  DecoderKind decoder = DecoderKind::kLuong;
  bool feed_context = false;  // fixed: c at every step
  bool input_feeding = true;  // luong: a_{i-1} at every step
  AttentionKind attention = AttentionKind::kAdditive;
  Index attention_width = 256;  // A: additive and its kin, projected queries and keys
  WeightsKind normalizer = WeightsKind::kSoftmax;
  double temperature = 1.0;       // scores are divided by it
  Index window = 0;               // local-p, local-m: half-width D; mocha: width of a chunk
  Index heads = 1;                // N
  bool projections = false;       // W_Q, W_K, W_V and an output projection
  bool weight_norm = false;       // scores with a v: g v / |v|, and a bias before the tanh
  bool straight_through = false;  // hardmax: backward as softmax
  Index location_channels = 8;    // location-sensitive: filters
  Index location_taps = 7;        // and their width, odd
  Index longest_source = 0;       // location: Smax, end marker included
  bool tie_target = false;        // W_o is the target embedding
  bool tie_all = false;           // and the source embedding too (joint vocabulary)

  bool self_attention() const { return encoder == EncoderKind::kSelfAttention; }
  Index memory() const {
    return bidirectional && !self_attention() ? 2 * encoder_hidden : encoder_hidden;
  }
  bool has_attention() const { return decoder != DecoderKind::kFixed; }
  // Attention rows sum to 1; other normalisers keep the sum that their equation gives.
  bool rows_sum_to_one() const {
    return normalizer != WeightsKind::kSigmoid && normalizer != WeightsKind::kMonotonic &&
           normalizer != WeightsKind::kMocha && normalizer != WeightsKind::kLocalP;
  }
  // The temperature is part of the scores, for normalisers that have none of their own; else it
  // comes after them.
  bool divides_scores() const {
    return normalizer != WeightsKind::kSoftmax && normalizer != WeightsKind::kHardmax &&
           normalizer != WeightsKind::kLocalP && normalizer != WeightsKind::kLocalM;
  }

  // Throws ConfigError that says why a combination has no meaning and what would do instead.
  void validate() const;
};

// Throws ConfigError: a loss of coverage where no coverage is kept.
void require_coverage(const ModelConfig& config);

// The words of the options; from_name throws ConfigError listing the choices.
std::string_view name(EncoderKind kind);
std::string_view name(CellKind kind);
std::string_view name(PositionKind kind);
std::string_view name(DecoderKind kind);
std::string_view name(AttentionKind kind);
std::string_view name(WeightsKind kind);
std::string_view name(DecoderStart kind);
EncoderKind encoder_from_name(std::string_view text);
CellKind cell_from_name(std::string_view text);
PositionKind positions_from_name(std::string_view text);
DecoderKind decoder_from_name(std::string_view text);
AttentionKind attention_from_name(std::string_view text);
WeightsKind normalizer_from_name(std::string_view text);
DecoderStart start_from_name(std::string_view text);

// The configuration as one JSON object, keys in a fixed order. from_json throws FormatError (model)
// naming the key; those of attention and encoder that older files lack keep their defaults.
std::string to_json(const ModelConfig& config);
ModelConfig config_from_json(std::string_view json);

}  // namespace regard
