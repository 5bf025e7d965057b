// How fast regard trains: updates alone, on the model and the batches that `regard train` would
// make of the same options, without validation or checkpoints.
//
// By itself it times rounds and prints tokens a second and the share of the peak. With --orders it
// does what lines on standard input say, so that a peer can take turns with it on one machine
// (compare_pytorch.py); every answer is one JSON line:
//   about      the model, the run and the instruction set
//   updates N  the first N batches, one answer in all: loss a token and gradient norm of each
//   round      all batches once: seconds, real tokens, flops
//   peak       the fused-multiply-add peak of all threads at once, 10^9 flops a second
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "regard/base/error.h"
#include "regard/kernels/isa.h"
#include "regard/kernels/peak.h"
#include "regard/train/prepare.h"
#include "regard/train/trainer.h"

namespace regard {
namespace {

using Json = nlohmann::ordered_json;

struct SpeedOptions {
  PairInput input;
  bool swap = false;
  std::string tokens = "auto", source_tokens, target_tokens;
  std::uint64_t min_count = 1;
  std::string cell = "gru", decoder = "luong", attention = "additive";
  Index embedding = 128, hidden = 256, encoder_hidden = 0;
  bool feed_context = false, input_feeding = true;
  float dropout = 0.0f;
  TrainOptions train;
  Index updates = 20;  // batches of a round
  int rounds = 5;
  std::string model_file, batches_file;
  bool orders = false;
};

void add_options(CLI::App& app, SpeedOptions& o) {
  app.add_option("PAIRS", o.input.pairs, "pairs: source TAB target a line");
  app.add_option("--source", o.input.source, "two files instead of PAIRS: sources");
  app.add_option("--target", o.input.target, "and targets");
  app.add_flag("--swap", o.swap, "learn target to source");
  app.add_option("--tokens", o.tokens, "auto, char, word or subword:SIZE")->capture_default_str();
  app.add_option("--source-tokens", o.source_tokens, "the same for one side");
  app.add_option("--target-tokens", o.target_tokens, "");
  app.add_option("--min-count", o.min_count, "rarer tokens are unknown")->capture_default_str();
  app.add_option("--cell", o.cell, "gru or lstm")->capture_default_str();
  app.add_option("--decoder", o.decoder, "as of regard train")->capture_default_str();
  app.add_option("--attention", o.attention, "as of regard train")->capture_default_str();
  app.add_flag("--input-feeding,!--no-input-feeding", o.input_feeding, "luong (default on)");
  app.add_flag("--feed-context", o.feed_context, "fixed: the context at every step");
  app.add_option("--embedding", o.embedding, "")->capture_default_str();
  app.add_option("--hidden", o.hidden, "")->capture_default_str();
  app.add_option("--encoder-hidden", o.encoder_hidden, "0: --hidden")->capture_default_str();
  app.add_option("--dropout", o.dropout, "at all sites")->capture_default_str();
  app.add_option("--batch-tokens", o.train.batch_tokens, "padded tokens a side; 0: by the data")
      ->capture_default_str();
  app.add_option("--shards", o.train.shards, "0: by the batch")->capture_default_str();
  app.add_option("--seed", o.train.seed, "")->capture_default_str();
  app.add_option("--threads", o.train.threads, "")->capture_default_str();
  app.add_option("--updates", o.updates, "batches of a round")->capture_default_str();
  app.add_option("--rounds", o.rounds, "without --orders")->capture_default_str();
  app.add_option("--write-model", o.model_file, "writes the start weights as a model file");
  app.add_option("--write-batches", o.batches_file, "writes the batches of a round as JSON");
  app.add_flag("--orders", o.orders, "take orders from standard input");
}

ModelConfig model_config(const SpeedOptions& o, const Tokenizers& tokens) {
  ModelConfig c;
  c.source_vocabulary = tokens.source.size();
  c.target_vocabulary = tokens.target.size();
  c.source_embedding = c.target_embedding = o.embedding;
  c.encoder_cell = c.decoder_cell = cell_from_name(o.cell);
  c.hidden = c.readout = c.attention_width = o.hidden;
  c.encoder_hidden = o.encoder_hidden > 0 ? o.encoder_hidden : o.hidden;
  c.decoder = decoder_from_name(o.decoder);
  c.attention = attention_from_name(o.attention);
  c.feed_context = o.feed_context;
  c.input_feeding = o.input_feeding && c.decoder == DecoderKind::kLuong;
  c.validate();
  return c;
}

class NoObserver : public TrainObserver {
  void note(const std::string&) override {}
  void update(const UpdateInfo&) override {}
  void validation(const ValidationInfo&) override {}
};

// What the trainer makes of options that are left to it, and the start values of `model`.
TrainOptions resolve(Model& model, const EncodedPairs& data, const TrainOptions& options) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("regard-train-speed-" + std::to_string(getpid()));
  fs::create_directory(folder);
  NoObserver observer;
  const EncodedPairs no_dev;
  TrainOptions resolved;
  {
    const Trainer trainer(model, data, no_dev, options, {(folder / "model").string(), false},
                          observer);
    resolved = trainer.options();
  }
  fs::remove_all(folder);
  return resolved;
}

struct Round {
  double seconds = 0.0;
  Index source_tokens = 0, target_tokens = 0;  // real ones, end markers included
  double flops = 0.0;

  Index tokens() const { return source_tokens + target_tokens; }
};

// Borrows all it is made of.
class Speed {
 public:
  Speed(Model& model, const EncodedPairs& data, const TrainOptions& options, Threads& threads,
        Index updates)
      : model_(model),
        data_(data),
        options_(options),
        threads_(threads),
        updater_(model.network, data, options, threads) {
    std::vector<PairLength> lengths;
    for (size_t i = 0; i < data.size(); ++i) {
      lengths.push_back({static_cast<std::uint32_t>(data.source[i].size() + 1),
                         static_cast<std::uint32_t>(data.target[i].size() + 1)});
    }
    batches_ =
        plan_epoch(lengths, {static_cast<std::uint64_t>(options.batch_tokens), options.seed, 0})
            .batches;
    batches_.resize(std::min(batches_.size(), static_cast<size_t>(updates)));
  }

  Json about() const {
    return {{"model", Json::parse(to_json(model_.network.config()))},
            {"parameters", model_.network.parameters().size()},
            {"batch_tokens", options_.batch_tokens},
            {"batches", batches_.size()},
            {"shards", options_.shards},
            {"dropout", options_.dropout.readout},
            {"threads", threads_.count()},
            {"isa", std::string(isa_name(current_isa()))}};
  }

  Json updates(size_t count) {
    Json losses = Json::array(), norms = Json::array();
    for (size_t b = 0; b < std::min(count, batches_.size()); ++b) {
      const UpdateResult r = update(batches_[b]);
      losses.push_back(r.loss / static_cast<double>(r.target_tokens));
      norms.push_back(r.gradient_norm);
    }
    return {{"loss", losses}, {"gradient_norm", norms}};
  }

  Round round() {
    Round sum;
    Index pairs = 0;
    const auto from = std::chrono::steady_clock::now();
    for (const Batch& batch : batches_) {
      const UpdateResult r = update(batch);
      sum.source_tokens += r.source_tokens;
      sum.target_tokens += r.target_tokens;
      pairs += static_cast<Index>(batch.size());
    }
    sum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    sum.flops = flops(pairs, sum.source_tokens, sum.target_tokens);
    return sum;
  }

  double peak_gflops() {
    std::vector<double> each(static_cast<size_t>(threads_.count()));
    threads_.run(threads_.count(), [&](Index i, int) {
      each[static_cast<size_t>(i)] = measure_fma_peak_gflops(0.3);
    });
    double sum = 0.0;
    for (double g : each) sum += g;
    return sum;
  }

  // x_1 .. x_S with end, y_0 .. y_T with begin and end, pair by pair, batch by batch.
  void write_batches(const std::string& path) const {
    Json out = Json::array();
    for (const Batch& batch : batches_) {
      Json source = Json::array(), target = Json::array();
      for (const std::uint32_t i : batch) {
        std::vector<std::int32_t> x = data_.source[i], y = {kBeginId};
        x.push_back(kEndId);
        y.insert(y.end(), data_.target[i].begin(), data_.target[i].end());
        y.push_back(kEndId);
        source.push_back(x);
        target.push_back(y);
      }
      out.push_back({{"source", source}, {"target", target}});
    }
    std::ofstream file(path);
    file << out.dump() << '\n';
    if (!file.flush()) throw std::system_error(errno, std::generic_category(), path);
  }

 private:
  UpdateResult update(const Batch& batch) {
    const UpdateResult r = updater_.run(batch, updates_++, options_.learning_rate);
    if (!r.finite) throw NumericError("an update was not finite");
    return r;
  }

  // Each matrix [out,in] that multiplies rows costs 2 out in a row forward and twice that backward.
  // The encoder's and the keys' see source tokens, the decoder's start pairs, all others target
  // tokens.
  double flops(Index pairs, Index source_tokens, Index target_tokens) const {
    double sum = 0.0;
    for (const ParameterInfo& p : model_.network.parameters().infos()) {
      if (p.use != Use::kProduct && p.use != Use::kTableAndProduct) continue;
      Index rows = target_tokens;
      if (p.name.starts_with("encoder.") || p.name.starts_with("attention.key")) {
        rows = source_tokens;
      } else if (p.name.starts_with("decoder.start")) {
        rows = pairs;
      }
      sum += 3.0 * 2.0 * static_cast<double>(p.rows) * static_cast<double>(p.cols) *
             static_cast<double>(rows);
    }
    return sum;
  }

  Model& model_;
  const EncodedPairs& data_;
  const TrainOptions& options_;
  Threads& threads_;
  Updater updater_;
  std::vector<Batch> batches_;
  Index updates_ = 0;
};

void answer(const Json& json) {
  std::puts(json.dump().c_str());
  std::fflush(stdout);
}

void take_orders(Speed& speed) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "about") {
      answer(speed.about());
    } else if (line.starts_with("updates ")) {
      answer(speed.updates(std::stoul(line.substr(8))));
    } else if (line == "round") {
      const Round r = speed.round();
      answer({{"seconds", r.seconds},
              {"source_tokens", r.source_tokens},
              {"target_tokens", r.target_tokens},
              {"flops", r.flops}});
    } else if (line == "peak") {
      answer({{"gflops", speed.peak_gflops()}});
    } else {
      throw ConfigError("unknown order: " + line);
    }
  }
}

void time_alone(Speed& speed, int rounds) {
  std::printf("%s\n", speed.about().dump().c_str());
  speed.updates(2);  // allocates
  std::vector<double> rates;
  double peak = 0.0, flops_a_token = 0.0;
  for (int i = 0; i < rounds; ++i) {
    peak = std::max(peak, speed.peak_gflops());
    const Round r = speed.round();
    rates.push_back(static_cast<double>(r.tokens()) / r.seconds);
    flops_a_token = r.flops / static_cast<double>(r.tokens());
    std::printf("round %d: %lld tokens, %.2f s, %.0f tokens/s\n", i + 1,
                static_cast<long long>(r.tokens()), r.seconds, rates.back());
    std::fflush(stdout);
  }
  if (rates.empty()) return;
  std::sort(rates.begin(), rates.end());
  const double best = rates.back(), median = rates[rates.size() / 2];
  std::printf(
      "best %.0f tokens/s (%.1f %% of the peak), median %.0f (%.1f %%), peak %.1f GFLOP/s\n", best,
      best * flops_a_token / peak * 1e-7, median, median * flops_a_token / peak * 1e-7, peak);
}

void run(SpeedOptions& o) {
  CorpusOptions corpus;
  corpus.swap = o.swap;
  std::vector<Pair> pairs = read_pairs(o.input, corpus);
  VocabularyOptions vocabulary;
  vocabulary.source = parse_token_spec(o.source_tokens.empty() ? o.tokens : o.source_tokens);
  vocabulary.target = parse_token_spec(o.target_tokens.empty() ? o.tokens : o.target_tokens);
  vocabulary.limits.min_count = o.min_count;
  const Tokenizers tokens = build_tokenizers(pairs, vocabulary);
  const EncodedPairs data = encode_pairs(std::move(pairs), tokens, 0);
  Model model(model_config(o, tokens), tokens.source, tokens.target);
  o.train.dropout = {o.dropout, o.dropout, o.dropout, o.dropout};
  const TrainOptions options = resolve(model, data, o.train);
  if (!o.model_file.empty()) save_model(o.model_file, model);
  Threads threads(options.threads);
  Speed speed(model, data, options, threads, o.updates);
  if (!o.batches_file.empty()) speed.write_batches(o.batches_file);
  if (o.orders) {
    take_orders(speed);
  } else {
    time_alone(speed, o.rounds);
  }
}

}  // namespace
}  // namespace regard

int main(int argc, char** argv) {
  regard::SpeedOptions options;
  options.train.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  CLI::App app("Times updates of training, alone or in turns with a peer.");
  regard::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    regard::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_speed: %s\n", error.what());
    return 1;
  }
  return 0;
}
