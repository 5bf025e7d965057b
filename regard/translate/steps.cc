// One hypothesis, decoded step by step as search does it, with everything written down.
#include <algorithm>
#include <cmath>

#include "regard/base/error.h"
#include "regard/base/float_environment.h"
#include "regard/base/math.h"
#include "regard/translate/translator.h"

namespace regard {
namespace {

std::vector<std::pair<std::string, float>> likeliest(ConstMatrix log_probs, const Tokenizer& tokens,
                                                     std::size_t most) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(log_probs.cols));
  for (std::size_t v = 0; v < ids.size(); ++v) ids[v] = static_cast<std::int32_t>(v);
  most = std::min(most, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + static_cast<Index>(most), ids.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      const float x = log_probs(0, a);
                      const float y = log_probs(0, b);
                      return x != y ? x > y : a < b;
                    });
  std::vector<std::pair<std::string, float>> top;
  for (std::size_t k = 0; k < most; ++k) {
    const double p = exp_double(static_cast<double>(log_probs(0, ids[k])));
    top.emplace_back(tokens.piece(ids[k]), static_cast<float>(p));
  }
  return top;
}

float euclidean_length(ConstMatrix row) {
  double sum = 0.0;
  for (Index n = 0; n < row.cols; ++n) {
    sum += static_cast<double>(row(0, n)) * static_cast<double>(row(0, n));
  }
  return static_cast<float>(std::sqrt(sum));
}

std::vector<float> copy_row(Matrix m, Index columns) {
  return m.data == nullptr ? std::vector<float>{} : std::vector<float>(m.data, m.data + columns);
}

}  // namespace

std::vector<TokenStep> Translator::steps(const Record& record, std::size_t most) const {
  if (record.blank) return {};
  if (record.target_ids.size() != record.target_tokens.size() || record.source_tokens.empty()) {
    throw ShapeError("steps: the record has " + std::to_string(record.target_ids.size()) +
                     " target ids, wanted " + std::to_string(record.target_tokens.size()) +
                     ", one a token; it must come from translate() or score()");
  }
  const FloatEnvironment environment;
  const Seq2seq& network = model_->network;
  std::vector<int> ids = model_->source_tokens.encode_ids(record.source);
  const auto columns = static_cast<Index>(record.source_tokens.size());
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(columns - 1)));  // as the record was cut
  const std::vector<std::span<const std::int32_t>> sources = {ids}, targets(1);
  const PackedIds source = PairBatch::pack(sources, targets).source;

  Tape tape(network.parameters(), nullptr);
  const DecoderMemory memory = network.encode(tape, source);
  const Index lane = 0;
  DecoderState state = network.decoder().start(tape, memory, &lane, 1);
  std::int32_t id = kBeginId;
  std::vector<TokenStep> steps;
  for (const std::int32_t next : record.target_ids) {
    const Decoder::Step out = network.decoder().step(tape, memory, state, &id, &lane, 1, true);
    TokenStep step;
    step.scores = copy_row(out.attention.raw_scores, columns);
    step.weights = copy_row(out.attention.weights, columns);
    if (!out.context.empty()) step.context_norm = euclidean_length(out.context.value);
    step.top = likeliest(network.next_log_probs(tape, out.readout), model_->target_tokens, most);
    steps.push_back(std::move(step));
    state = out.state;
    id = next;
  }
  return steps;
}

}  // namespace regard
