// regard train: pairs in, MODEL out.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "regard/cli/command.h"
#include "regard/cli/train_arguments.h"
#include "regard/cli/train_progress.h"

namespace regard::cli {
namespace {

std::string encoder_text(const ModelConfig& c) {
  const std::string width = std::to_string(c.encoder_hidden);
  if (!c.self_attention()) {
    return std::string(name(c.encoder_cell)) + " encoder " + width +
           (c.bidirectional ? " a direction" : "");
  }
  return "self-attention encoder " + width + " in " + std::to_string(c.encoder_layers) +
         " layers of " + std::to_string(c.encoder_heads) + " heads";
}

std::string attention_text(const ModelConfig& c) {
  std::string text = std::string(name(c.attention)) + " attention";
  if (c.normalizer != WeightsKind::kSoftmax) text += " by " + std::string(name(c.normalizer));
  if (c.heads > 1) text += " in " + std::to_string(c.heads) + " heads";
  return text;
}

void describe(const Model& model, const TrainingData& data, const TrainOptions& o,
              TrainProgress& progress) {
  const ModelConfig& c = model.network.config();
  const auto text = [](auto n) { return std::to_string(n); };
  progress.note("tokens: " + to_string(data.tokens.source_spec) + " to " +
                to_string(data.tokens.target_spec) + ", vocabularies " + text(c.source_vocabulary) +
                " and " + text(c.target_vocabulary));
  progress.note("model: " + encoder_text(c) + ", " + std::string(name(c.decoder)) + " decoder " +
                text(c.hidden) + (c.has_attention() ? ", " + attention_text(c) : "") + ", " +
                text(model.network.parameters().size()) + " parameters");
  progress.note("run: " + text(data.train.size()) + " pairs, " + text(data.dev.size()) +
                " to validate, " + text(o.epochs) + " epochs at most, batches of " +
                text(o.batch_tokens) + " tokens in " + text(o.shards) + " shards, " +
                text(o.threads) + " threads");
}

int train(TrainArguments& a) {
  watch_signals();
  TrainProgress progress(a.log_json, a.options.metric);
  const TrainingData data = load_data(a, progress);
  a.options.dropout = dropout_rates(a);
  a.options.coverage_loss = static_cast<float>(a.coverage_loss);
  Model model(model_config(a, data), data.tokens.source, data.tokens.target);
  Trainer trainer(model, data.train, data.dev, a.options, {a.model, a.fresh}, progress);
  model.training_record = training_record(a, trainer.options(), data);
  describe(model, data, trainer.options(), progress);
  switch (trainer.run(stop_flag())) {
    case TrainEnd::kAlreadyFinished:
      progress.note("this run is finished: " + a.model +
                    "; more --epochs, --updates or --patience extend it");
      return 0;
    case TrainEnd::kStopped:
      progress.note("stopped; the same command goes on from here");
      return signal_exit_code();
    case TrainEnd::kFinished:
      progress.note("done: " + a.model);
      return 0;
  }
  return 1;
}

// Those that train has alone.
void add_own_options(CLI::App& c, TrainArguments& a) {
  c.add_option("-o,--output", a.model, "the model file to write")->required()->type_name("MODEL");
  c.add_option("--attention", a.attention,
               "score: additive, dot, scaled-dot, general, concat, cosine,\n"
               "location, location-sensitive or coverage")
      ->capture_default_str();
  c.add_option("--normalizer", a.normalizer,
               "scores to weights: softmax, sparsemax, entmax15, entmax, hardmax,\n"
               "sigmoid, monotonic, mocha, local-p or local-m")
      ->capture_default_str();
  c.add_option("--save-every", a.options.save_every,
               "updates between checkpoints; 0: at validations")
      ->capture_default_str();
  c.add_flag("--fresh", a.fresh, "start again over a model that is there");
  c.add_option("--log-json", a.log_json, "a JSON line for each update and validation")
      ->type_name("F");
}

// The options that -h shows; --help-all shows the others too.
constexpr std::string_view kEveryday[] = {
    "PAIRS",       "--output",  "--dev",       "--source",       "--target",        "--swap",
    "--tokens",    "--decoder", "--attention", "--normalizer",   "--cell",          "--layers",
    "--embedding", "--hidden",  "--epochs",    "--batch-tokens", "--learning-rate", "--dropout",
    "--patience",  "--metric",  "--seed",      "--threads",      "--fresh",         "--log-json"};

}  // namespace

Run add_train(CLI::App& app) {
  auto arguments = std::make_unique<TrainArguments>();
  arguments->options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App* command = app.add_subcommand("train", "learn a model from a file of pairs");
  add_own_options(*command, *arguments);
  add_training_options(*command, *arguments);
  split_help(*command, kEveryday);
  return [arguments = std::move(arguments)] { return train(*arguments); };
}

}  // namespace regard::cli
