#include "regard/translate/forced.h"

#include <algorithm>

#include "regard/base/float_environment.h"
#include "regard/text/batching.h"

namespace regard {
namespace {

void force_batch(const Seq2seq& network, std::span<const ForcedPair> pairs, const Batch& batch,
                 const ForcedOptions& options, std::vector<ForcedResult>& results) {
  std::vector<std::span<const std::int32_t>> sources, targets;
  for (const std::uint32_t i : batch) {
    sources.push_back(pairs[i].source);
    targets.push_back(pairs[i].target);
    ForcedResult& r = results[i];
    const std::size_t rows = pairs[i].target.size() + 1;
    r.token_log_probs.resize(rows);
    if (options.with_weights) r.weights.resize(rows * (pairs[i].source.size() + 1));
  }
  Tape tape(network.parameters(), nullptr);
  const PairBatch packed = PairBatch::pack(sources, targets, options.shift);
  const Seq2seq::Forced out = network.forced(tape, packed, {}, 0.0F, options.with_weights);
  for (Index row = 0; row < packed.target.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    const Index in_batch =
        packed.target.sequence[static_cast<std::size_t>(packed.target.row_lane[r])];
    const std::uint32_t pair = batch[static_cast<std::size_t>(in_batch)];
    ForcedResult& result = results[pair];
    const std::size_t position = packed.target.row_position[r];
    if (position < result.token_log_probs.size()) {
      result.token_log_probs[position] = out.loss.token_log_prob[row];
    }
    const auto shift = static_cast<std::size_t>(options.shift);
    if (options.with_weights && position >= shift) {
      const std::size_t columns = pairs[pair].source.size() + 1;
      const float* weights = out.weights.row(row);
      std::copy(weights, weights + columns,
                result.weights.begin() + static_cast<Index>((position - shift) * columns));
    }
  }
}

}  // namespace

std::vector<ForcedResult> force_pairs(const Seq2seq& network, std::span<const ForcedPair> pairs,
                                      const ForcedOptions& options, Threads& threads) {
  std::vector<std::uint32_t> lengths;
  for (const ForcedPair& p : pairs) {
    const std::size_t target = p.target.size() + static_cast<std::size_t>(options.shift);
    lengths.push_back(static_cast<std::uint32_t>(std::max(p.source.size(), target) + 1));
  }
  const std::vector<Batch> batches =
      plan_decoding(lengths, batch_budget(lengths, options.batch_tokens, threads));
  std::vector<ForcedResult> results(pairs.size());
  threads.run(static_cast<Index>(batches.size()), [&](Index b, int) {
    const FloatEnvironment environment;
    force_batch(network, pairs, batches[static_cast<std::size_t>(b)], options, results);
  });
  return results;
}

int alignment_shift(DecoderKind decoder) { return decoder == DecoderKind::kBahdanau ? 2 : 1; }

std::uint64_t batch_budget(std::span<const std::uint32_t> lengths, Index batch_tokens,
                           const Threads& threads) {
  std::uint64_t total = 0;
  for (const std::uint32_t n : lengths) total += n;
  // Two batches a thread even out their times; small batches use a processor badly.
  const std::uint64_t share = total / (2 * static_cast<std::uint64_t>(threads.count())) + 1;
  constexpr std::uint64_t kLeast = 100;
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(batch_tokens),
                                 threads.count() > 1 ? std::max(share, kLeast) : batch_tokens);
}

}  // namespace regard
