#include "regard/train/options.h"

#include <algorithm>
#include <charconv>

#include "regard/base/error.h"
#include "regard/eval/evaluate.h"

namespace regard {
namespace {

// Rows that keep a recurrent product busy: weights come from the third-level cache, and fewer rows
// than this wait for them. Two shards are worth it earlier, for the second core.
constexpr Index kPairsPerShard = 32;
constexpr Index kPairsPerShardOfTwo = 16;
constexpr Index kUpdatesPerEpoch = 150;
constexpr Index kValidationUpdates = 10;  // between two validations, at least
constexpr Index kWantedUpdates = 6000;    // of a run with default epochs

// The shards that suit batches of these sizes.
Index default_shards(const std::vector<Batch>& batches) {
  std::vector<Index> sizes;
  for (const Batch& b : batches) sizes.push_back(static_cast<Index>(b.size()));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  Index shards = 1;
  for (Index n : {2, 4, 8}) {
    if (*middle / n >= (n == 2 ? kPairsPerShardOfTwo : kPairsPerShard)) shards = n;
  }
  return shards;
}

}  // namespace

void check_options(const TrainOptions& o) {
  const auto count = [](const char* option, Index n) {
    if (n < 0)
      throw ConfigError(std::string(option) + " is " + std::to_string(n) +
                        "; it can't be negative");
  };
  count("--epochs", o.epochs);
  count("--updates", o.updates);
  count("--batch-tokens", o.batch_tokens);
  count("--patience", o.patience);
  count("--validate-every", o.validate_every);
  count("--save-every", o.save_every);
  const auto range = [](const char* option, double x, bool good, const char* wanted) {
    if (!good)
      throw ConfigError(std::string(option) + " is " + std::to_string(x) + "; wanted " + wanted);
  };
  range("--learning-rate", o.learning_rate, o.learning_rate > 0.0 && o.learning_rate <= 1e30,
        "more than 0");
  range("--clip", o.clip, o.clip >= 0.0, "0 (none) or more");
  const auto rate = [&](const char* option, float r) {
    range(option, static_cast<double>(r), r >= 0.0f && r < 1.0f, "0 to below 1");
  };
  rate("--label-smoothing", o.label_smoothing);
  rate("--dropout-embedding", o.dropout.embedding);
  rate("--dropout-layer", o.dropout.layer);
  rate("--dropout-memory", o.dropout.memory);
  rate("--dropout-readout", o.dropout.readout);
  rate("--attention-dropout", o.dropout.attention);
  range("--coverage-loss", static_cast<double>(o.coverage_loss),
        o.coverage_loss >= 0.0f && o.coverage_loss <= 1e6f, "0 (none) or more");
  if (o.metric != "loss") eval::parse_metrics(o.metric);
}

std::vector<std::string> resolve_defaults(TrainOptions& o, std::span<const PairLength> lengths) {
  std::vector<std::string> notes;
  const auto plan = [&](Index tokens) {
    return plan_epoch(lengths, {static_cast<std::uint64_t>(tokens), o.seed, 0});
  };
  if (o.batch_tokens == 0) {
    o.batch_tokens = 500;
    for (Index tokens : {2000, 1000}) {
      if (static_cast<Index>(plan(tokens).batches.size()) >= kUpdatesPerEpoch) {
        o.batch_tokens = tokens;
        break;
      }
    }
  }
  const BatchPlan first = plan(o.batch_tokens);
  const std::string budget = "--batch-tokens " + std::to_string(o.batch_tokens);
  if (first.batches.empty()) throw ConfigError("every pair is longer than " + budget);
  if (first.left_out > 0) {
    notes.push_back(std::to_string(first.left_out) + " pairs are longer than " + budget +
                    " and are left out");
  }
  const auto batches = static_cast<Index>(first.batches.size());
  if (o.epochs == 0) {
    o.epochs = std::clamp((kWantedUpdates + batches - 1) / batches, Index{10}, Index{300});
  }
  if (o.validate_every == 0) {
    // Whole epochs: one, or as many short ones as make it worth writing files.
    o.validate_every = (kValidationUpdates + batches - 1) / batches * batches;
  }
  if (o.save_every == 0) o.save_every = o.validate_every;
  if (o.shards == 0) o.shards = default_shards(first.batches);
  if (o.shards != 1 && o.shards != 2 && o.shards != 4 && o.shards != 8) {
    throw ConfigError("--shards takes 1, 2, 4 or 8");
  }
  return notes;
}

std::vector<std::pair<std::string, std::string>> bit_changing_options(const TrainOptions& o) {
  std::vector<std::pair<std::string, std::string>> options;
  const auto add = [&](const char* name, const auto& value) {
    char text[40];  // the shortest that reads back: no two values look the same
    options.emplace_back(name,
                         std::string(text, std::to_chars(text, text + sizeof(text), value).ptr));
  };
  add("--batch-tokens", o.batch_tokens);
  add("--shards", o.shards);
  add("--learning-rate", o.learning_rate);
  add("--dropout-embedding", o.dropout.embedding);
  add("--dropout-layer", o.dropout.layer);
  add("--dropout-memory", o.dropout.memory);
  add("--dropout-readout", o.dropout.readout);
  add("--attention-dropout", o.dropout.attention);
  add("--coverage-loss", o.coverage_loss);
  add("--clip", o.clip);
  add("--label-smoothing", o.label_smoothing);
  add("--seed", o.seed);
  options.emplace_back("--metric", o.metric);
  add("--validate-every", o.validate_every);
  return options;
}

}  // namespace regard
