#include "regard/train/updater.h"

#include <algorithm>
#include <cmath>

#include "regard/base/float_environment.h"
#include "regard/base/math.h"
#include "regard/base/random.h"
#include "regard/kernels/adam.h"

namespace regard {
namespace {

// Elements of one task; a constant, since sums of squares are cut at its multiples.
constexpr Index kChunk = Index{1} << 15;

Index chunks(Index size) { return (size + kChunk - 1) / kChunk; }

}  // namespace

Updater::Updater(Seq2seq& network, const EncodedPairs& data, const TrainOptions& options,
                 Threads& threads)
    : network_(network), data_(data), options_(options), threads_(threads) {
  const Parameters& parameters = network_.parameters();
  for (Index i = 0; i < options.shards; ++i) {
    Shard shard;
    shard.gradients = std::make_unique<Gradients>(parameters);
    shard.tape = std::make_unique<Tape>(parameters, shard.gradients.get());
    shards_.push_back(std::move(shard));
  }
  m_ = Buffer<float>::zeros(parameters.size());
  v_ = Buffer<float>::zeros(parameters.size());
  values_changed();
}

// Shard i takes every shards-th pair of the batch from the i-th: a batch is sorted by length, so
// all shards are alike.
void Updater::run_shard(Shard& shard, std::span<const std::uint32_t> batch, Index index,
                        Index update) {
  const FloatEnvironment environment;
  shard.gradients->clear();
  shard.tape->reset();
  shard.loss = 0.0;
  shard.source_tokens = shard.target_tokens = 0;
  std::vector<std::span<const std::int32_t>> sources, targets;
  std::vector<std::uint64_t> keys;
  const std::uint64_t update_key =
      mix(mix(options_.seed, "dropout"), static_cast<std::uint64_t>(update));
  for (size_t i = static_cast<size_t>(index); i < batch.size();
       i += static_cast<size_t>(options_.shards)) {
    sources.push_back(data_.source[batch[i]]);
    targets.push_back(data_.target[batch[i]]);
    keys.push_back(mix(update_key, batch[i]));
  }
  if (sources.empty()) return;
  const PairBatch pairs = PairBatch::pack(sources, targets);
  const Seq2seq::Forced out =
      network_.forced(*shard.tape, pairs, {options_.dropout, keys.data()}, options_.label_smoothing,
                      false, options_.coverage_loss);
  for (float x : out.loss.token_loss) shard.loss += static_cast<double>(x);
  shard.source_tokens = pairs.source.rows();
  shard.target_tokens = pairs.target.rows();
  shard.tape->backward();
}

UpdateResult Updater::run(std::span<const std::uint32_t> batch, Index update,
                          double learning_rate) {
  threads_.run(options_.shards,
               [&](Index i, int) { run_shard(shards_[static_cast<size_t>(i)], batch, i, update); });
  std::vector<Gradients*> gradients;
  UpdateResult result;
  for (Shard& shard : shards_) {
    gradients.push_back(shard.gradients.get());
    result.loss += shard.loss;
    result.source_tokens += shard.source_tokens;
    result.target_tokens += shard.target_tokens;
  }
  Gradients::reduce(gradients, threads_);
  const double norm = std::sqrt(squared_norm()) / static_cast<double>(result.target_tokens);
  result.gradient_norm = norm;
  result.finite = std::isfinite(norm) && std::isfinite(result.loss);
  if (!result.finite) return result;
  double scale = 1.0 / static_cast<double>(result.target_tokens);
  if (options_.clip > 0.0 && norm > options_.clip) scale *= options_.clip / norm;
  step(learning_rate, scale);
  values_changed();
  return result;
}

double Updater::squared_norm() {
  const Index size = network_.parameters().size();
  const float* g = shards_.front().gradients->data();
  std::vector<double> parts(static_cast<size_t>(chunks(size)));
  threads_.run(chunks(size), [&](Index c, int) {
    const Index begin = c * kChunk;
    parts[static_cast<size_t>(c)] = sum_of_squares(g + begin, std::min(kChunk, size - begin));
  });
  double sum = 0.0;
  for (double part : parts) sum += part;
  return sum;
}

void Updater::step(double learning_rate, double gradient_scale) {
  AdamStep adam;
  ++adam_steps_;
  const auto t = static_cast<double>(adam_steps_);
  adam.rate = static_cast<float>(learning_rate);
  adam.bias1 = static_cast<float>(1.0 - pow_double(0.9, t));
  adam.bias2 = static_cast<float>(1.0 - pow_double(0.999, t));
  adam.gradient_scale = static_cast<float>(gradient_scale);
  Parameters& parameters = network_.parameters();
  const Index size = parameters.size();
  const float* g = shards_.front().gradients->data();
  threads_.run(chunks(size), [&](Index c, int) {
    const FloatEnvironment environment;
    const Index begin = c * kChunk;
    adam_update(adam, g + begin, parameters.data() + begin, m_.data() + begin, v_.data() + begin,
                std::min(kChunk, size - begin));
  });
}

}  // namespace regard
