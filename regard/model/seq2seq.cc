#include "regard/model/seq2seq.h"

#include <string>

#include "regard/base/error.h"
#include "regard/text/vocabulary.h"

namespace regard {

PairBatch PairBatch::pack(std::span<const std::span<const std::int32_t>> sources,
                          std::span<const std::span<const std::int32_t>> targets, int extra_steps) {
  PairBatch batch;
  std::vector<std::vector<std::int32_t>> ended(sources.size()), begun(targets.size());
  std::vector<std::span<const std::int32_t>> source_spans, target_spans;
  for (size_t i = 0; i < sources.size(); ++i) {
    ended[i].assign(sources[i].begin(), sources[i].end());
    ended[i].push_back(kEndId);
    source_spans.push_back(ended[i]);
    begun[i].push_back(kBeginId);
    begun[i].insert(begun[i].end(), targets[i].begin(), targets[i].end());
    for (int k = 0; k < extra_steps; ++k) begun[i].push_back(kEndId);
    target_spans.push_back(begun[i]);
  }
  batch.source = PackedIds::pack(source_spans);
  batch.target = PackedIds::pack(target_spans);
  for (Index r = 0; r < batch.target.rows(); ++r) {
    const auto row = static_cast<size_t>(r);
    const Index pair = batch.target.sequence[static_cast<size_t>(batch.target.row_lane[row])];
    const std::vector<std::int32_t>& y = begun[static_cast<size_t>(pair)];
    const size_t position = batch.target.row_position[row];
    batch.next.push_back(position + 1 < y.size() ? y[position + 1] : kEndId);
    batch.key_row.push_back(batch.source.lane[static_cast<size_t>(pair)]);
  }
  return batch;
}

Seq2seq::Seq2seq(const ModelConfig& config, Index most_floats) : config_(config) {
  config_.validate();
  const Index e = config_.target_embedding;
  const Use target_use =
      config_.tie_target || config_.tie_all ? Use::kTableAndProduct : Use::kTable;
  target_embedding_ = parameters_.add(
      {"target.embedding", config_.target_vocabulary, e, target_use, Init::kEmbedding});
  source_embedding_ = target_embedding_;
  if (!config_.tie_all) {
    source_embedding_ = parameters_.add({"source.embedding", config_.source_vocabulary,
                                         config_.source_embedding, Use::kTable, Init::kEmbedding});
  }
  encoder_ = Encoder::make(config_, source_embedding_, parameters_);
  decoder_ = Decoder::make(config_, target_embedding_, parameters_);
  output_ = target_embedding_;
  if (target_use == Use::kTable) {
    output_ = parameters_.add({"output.weight", config_.target_vocabulary, config_.readout,
                               Use::kProduct, Init::kGlorot});
  }
  output_bias_ =
      parameters_.add({"output.bias", 1, config_.target_vocabulary, Use::kVector, Init::kZero});
  if (parameters_.size() > most_floats) {
    throw ConfigError("the configuration needs " + std::to_string(parameters_.size()) +
                      " numbers, more than the " + std::to_string(most_floats) + " there are");
  }
  parameters_.allocate();
}

DecoderMemory Seq2seq::encode(Tape& tape, const PackedIds& source,
                              const DropoutPlan& dropout) const {
  return decoder_.prepare(tape, encoder_.run(tape, source, dropout, decoder_.needs_summary()),
                          dropout);
}

Seq2seq::Forced Seq2seq::forced(Tape& tape, const PairBatch& batch, const DropoutPlan& dropout,
                                float label_smoothing, bool with_weights,
                                float coverage_weight) const {
  const DecoderMemory memory = encode(tape, batch.source, dropout);
  const Index rows = batch.target.rows();
  Forced out;
  Decoder::Looks looks;
  if (with_weights && config_.has_attention()) {
    out.weights = looks.weights = tape.arena().matrix(rows, memory.attention.longest());
  }
  if (coverage_weight > 0.0f) {
    require_coverage(config_);
    looks.coverage_weight = coverage_weight;
    looks.coverage_loss = {tape.arena().array<float>(rows), rows};
  }
  const Var t = decoder_.run(tape, memory, batch.target, batch.key_row.data(), dropout, looks);
  out.loss =
      linear_cross_entropy(tape, t, output_, output_bias_, batch.next.data(), label_smoothing);
  for (Index r = 0; r < looks.coverage_loss.size; ++r) {
    out.loss.token_loss[r] += looks.coverage_loss[r];
  }
  return out;
}

Matrix Seq2seq::next_log_probs(Tape& tape, Var readout) const {
  return linear_log_softmax(tape, readout, output_, output_bias_);
}

}  // namespace regard
