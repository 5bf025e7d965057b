// Seq2seq: embeddings, encoder, decoder and output layer, and the parameters they name.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "regard/model/decoder.h"

namespace regard {

// Pairs of id sequences, packed for the encoder and the decoder. Source sentences are numbered by
// source lane.
struct PairBatch {
  PackedIds source;                // x_1 .. x_S, end included
  PackedIds target;                // y_0 .. y_{T-1}: begin first
  std::vector<std::int32_t> next;  // [target rows] y_1 .. y_T: what each row should predict
  std::vector<Index> key_row;      // [target rows] source lane

  // Sequences without end markers, none of the sources empty; pairs[i] = (sources[i], targets[i]).
  // `extra_steps` feeds end that many times more after y_T: what `--shift` reads.
  static PairBatch pack(std::span<const std::span<const std::int32_t>> sources,
                        std::span<const std::span<const std::int32_t>> targets,
                        int extra_steps = 0);
};

// The model: structure and parameters. Immutable in use; any number of tapes may run it at once.
class Seq2seq {
 public:
  // Values are zero until initialise() or a model file fills them. Throws ConfigError; also when
  // the parameters need more than `most_floats` (a file can't describe more than it holds).
  explicit Seq2seq(const ModelConfig& config,
                   Index most_floats = std::numeric_limits<Index>::max());
  Seq2seq(const Seq2seq&) = delete;
  Seq2seq& operator=(const Seq2seq&) = delete;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const Encoder& encoder() const { return encoder_; }
  const Decoder& decoder() const { return decoder_; }

  // Encodes and prepares keys.
  DecoderMemory encode(Tape& tape, const PackedIds& source, const DropoutPlan& dropout = {}) const;

  struct Forced {
    LossRows loss;   // per target row, in packed order
    Matrix weights;  // [target rows, longest source] when asked for
  };
  // Training and forced decoding: log p of every target token. When recording, gradients of the sum
  // of losses start here; backward() of the tape carries them on. `coverage_weight` above 0 adds
  // See's coverage loss to token_loss; the attention has to keep a coverage (ConfigError).
  Forced forced(Tape& tape, const PairBatch& batch, const DropoutPlan& dropout,
                float label_smoothing, bool with_weights, float coverage_weight = 0.0f) const;

  // log p of every next token [n, V] for t_i rows.
  Matrix next_log_probs(Tape& tape, Var readout) const;

 private:
  ModelConfig config_;
  Parameters parameters_;
  ParameterId source_embedding_, target_embedding_, output_, output_bias_;
  Encoder encoder_;
  Decoder decoder_;
};

}  // namespace regard
