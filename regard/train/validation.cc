#include "regard/train/validation.h"

#include <algorithm>

#include "regard/base/float_environment.h"
#include "regard/translate/translator.h"

namespace regard {

std::vector<Batch> batches_by_length(const EncodedPairs& pairs, Index batch_tokens) {
  std::vector<std::uint32_t> lengths;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const size_t n = std::max(pairs.source[i].size(), pairs.target[i].size());
    lengths.push_back(static_cast<std::uint32_t>(n + 1));
  }
  return plan_decoding(lengths, static_cast<std::uint64_t>(batch_tokens));
}

double mean_loss(const Seq2seq& network, const EncodedPairs& pairs, Index batch_tokens,
                 Threads& threads) {
  const std::vector<Batch> batches = batches_by_length(pairs, batch_tokens);
  std::vector<double> sums(batches.size());
  std::vector<Index> tokens(batches.size());
  threads.run(static_cast<Index>(batches.size()), [&](Index b, int) {
    const FloatEnvironment environment;
    std::vector<std::span<const std::int32_t>> sources, targets;
    for (std::uint32_t i : batches[static_cast<size_t>(b)]) {
      if (pairs.source[i].empty() && pairs.target[i].empty()) continue;
      sources.push_back(pairs.source[i]);
      targets.push_back(pairs.target[i]);
    }
    Tape tape(network.parameters(), nullptr);
    const PairBatch batch = PairBatch::pack(sources, targets);
    const Seq2seq::Forced out = network.forced(tape, batch, {}, 0.0f, false);
    double sum = 0.0;
    for (float x : out.loss.token_log_prob) sum -= static_cast<double>(x);
    sums[static_cast<size_t>(b)] = sum;
    tokens[static_cast<size_t>(b)] = batch.target.rows();
  });
  double sum = 0.0;
  Index count = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    sum += sums[b];
    count += tokens[b];
  }
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

eval::GroupedRows distinct_sources(const Model& model, const EncodedPairs& pairs) {
  eval::Lines sources, targets;
  for (const Pair& p : pairs.text) {
    sources.push_back(p.source);
    targets.push_back(model.target_tokens.clean(p.target));
  }
  return eval::group_by_source(sources, targets);
}

eval::Lines greedy_translations(const Model& model, const eval::Lines& sources, Index batch_tokens,
                                Threads& threads) {
  TranslateOptions options;
  options.beam = 1;
  options.batch_tokens = batch_tokens;
  eval::Lines lines;
  for (const auto& records : translate_lines(model, sources, options, threads)) {
    lines.push_back(records[0].target);
  }
  return lines;
}

double translation_metric(const Model& model, const EncodedPairs& pairs, const std::string& metric,
                          Index batch_tokens, Threads& threads) {
  const eval::GroupedRows items = distinct_sources(model, pairs);
  const eval::Lines lines = greedy_translations(model, items.sources, batch_tokens, threads);
  return eval::evaluate({metric}, lines, items.references)[0].second;
}

}  // namespace regard
