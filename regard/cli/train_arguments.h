// The options of `regard train`, which `compare` shares, each declared once, and what they mean:
// data, model configuration, rates of dropout.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "regard/train/prepare.h"
#include "regard/train/trainer.h"

namespace CLI {
class App;
}

namespace regard::cli {

struct TrainArguments {
  PairInput train, dev;
  std::string model;
  bool swap = false, lenient = false, fresh = false;
  // Text.
  std::string tokens = "auto", source_tokens, target_tokens;
  bool joint = false;
  std::uint64_t min_count = 1, vocabulary_size = 0;
  Index max_source_length = 0;
  // Model.
  std::string cell = "gru", encoder, decoder = "luong", attention = "additive", start = "last", tie;
  int layers = 1;
  Index embedding = 128, hidden = 256, encoder_hidden = 0, readout = 0;
  // Of a self-attention encoder; 0 and empty: by the kind of encoder.
  int encoder_layers = 0;
  Index encoder_heads = 0, feed_forward = 0;
  std::string positions;
  bool unidirectional = false, feed_context = false, input_feeding = true;
  // Attention; 0: by the score or the normaliser.
  std::string normalizer = "softmax";
  double temperature = 0;
  Index window = 0, heads = 1;
  bool projections = false, weight_norm = false, straight_through = false;
  // Run.
  double dropout = 0.2, dropout_embedding = -1, dropout_layer = -1, dropout_memory = -1,
         dropout_readout = -1, attention_dropout = 0, coverage_loss = 0;
  TrainOptions options;
  std::string log_json;
};

// Data, model (without --attention and --normalizer) and run. `a` holds the defaults.
void add_training_options(CLI::App& command, TrainArguments& a);

// Hides all options but `everyday` from -h, so that it fits one screen; --help-all shows them.
void split_help(CLI::App& command, std::span<const std::string_view> everyday);

struct TrainingData {
  Tokenizers tokens;
  EncodedPairs train, dev;

  // Tokens of the longest source of both parts, end marker included.
  Index longest_source() const;
};
// Reads, holds out a dev part unless one is given, builds tokenizers, encodes.
// Errors  std::system_error, FormatError (data): also where there is no pair; ConfigError
TrainingData load_data(const TrainArguments& a, TrainObserver& observer);

// Errors of both: ConfigError naming the option.
DropoutRates dropout_rates(const TrainArguments& a);
ModelConfig model_config(const TrainArguments& a, const TrainingData& data);

// JSON: what, with the data, determines the file; no time, host, path or thread count. `options` is
// definite.
std::string training_record(const TrainArguments& a, const TrainOptions& options,
                            const TrainingData& data);

}  // namespace regard::cli
