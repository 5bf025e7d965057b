// Model: all that translating needs, as one value and one file.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "regard/model/seq2seq.h"
#include "regard/text/tokenizer.h"

namespace regard {

// Tokenizers, network and the record of its training (a JSON object: what data, options and seed
// determine).
struct Model {
  Model(const ModelConfig& config, Tokenizer source, Tokenizer target,
        Index most_floats = std::numeric_limits<Index>::max())
      : source_tokens(std::move(source)),
        target_tokens(std::move(target)),
        network(config, most_floats) {}

  Tokenizer source_tokens, target_tokens;
  Seq2seq network;
  std::string training_record = "{}";
};

inline constexpr int kModelFormatVersion = 1;

// The bytes of the model file, with `values` (laid out as the network's parameters) in place of the
// network's own.
std::string format_model(const Model& model, const float* values);

// Atomic: the file is complete or untouched. Errors: std::system_error with the path.
void save_model(const std::string& path, const Model& model);

// Reads, checks every byte, and packs for inference.
// Errors  ConfigError: REGARD_FORCE_ISA can't be followed; std::system_error: missing, unreadable;
//         FormatError (model): another kind of file, cut, damaged, written by a newer version,
//         tensors that don't fit the configuration
std::unique_ptr<Model> load_model(const std::string& path);

}  // namespace regard
