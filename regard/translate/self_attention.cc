// Where a self-attention encoder looks while it reads one line.
#include <algorithm>

#include "regard/base/error.h"
#include "regard/base/float_environment.h"
#include "regard/translate/lines.h"
#include "regard/translate/translator.h"

namespace regard {
namespace {

void require_from_one(const char* option, int value, Index count, const char* things) {
  if (value >= 1 && value <= count) return;
  throw ConfigError(std::string(option) + " is " + std::to_string(value) +
                    "; the encoder of this model has " + things + " 1 to " + std::to_string(count));
}

}  // namespace

Record Translator::self_attention(const std::string& line,
                                  const SelfAttentionOptions& options) const {
  const Seq2seq& network = model_->network;
  const SelfAttentionEncoder* encoder = network.encoder().self_attention();
  if (encoder == nullptr) {
    throw ConfigError(
        "the encoder of this model is recurrent and has no self-attention to show: train one with "
        "--encoder self-attention; where the decoder looked is what show draws without --self");
  }
  require_from_one("--layer", options.layer, encoder->layers(), "layers");
  require_from_one("--head", options.head, encoder->heads(), "heads");
  if (options.max_source_length < 1) {
    throw ConfigError("--max-source-length is " + std::to_string(options.max_source_length) +
                      "; it takes at least 1");
  }
  const FloatEnvironment environment;
  const SourceLine read = read_source(model_->source_tokens, line, options.max_source_length, 1);
  Record record = begin_record(1, line, read);
  record.layer = options.layer;
  record.head = options.head;
  if (record.blank) return record;
  record.target = record.source;
  record.target_tokens = record.source_tokens;

  const std::vector<std::span<const std::int32_t>> sources = {read.ids}, targets(1);
  const PackedIds source = PairBatch::pack(sources, targets).source;
  Tape tape(network.parameters(), nullptr);
  const Matrix weights = encoder->weights(tape, source, options.layer - 1);
  const Index n = source.rows(), heads = encoder->heads();
  record.has_attention = true;
  record.attention = {n, n, {}};
  for (Index i = 0; i < n; ++i) {
    const float* row = weights.row(i * heads + options.head - 1);
    record.attention.weights.insert(record.attention.weights.end(), row, row + n);
  }
  return record;
}

}  // namespace regard
