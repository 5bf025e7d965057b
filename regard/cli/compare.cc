// regard compare: scores and normalisers trained on the same data, side by side.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <thread>

#include "regard/base/error.h"
#include "regard/cli/command.h"
#include "regard/cli/compare_entry.h"
#include "regard/cli/compare_progress.h"
#include "regard/cli/output.h"

namespace regard::cli {
namespace {

struct CompareArguments {
  TrainArguments train;
  std::string scores, normalizers, widths, keep;
  int seeds = 1;
  bool json = false;
};

std::vector<std::string> split_list(const std::string& text, const char* option) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (part.empty()) throw ConfigError(std::string(option) + " has an empty name: '" + text + "'");
    if (std::find(parts.begin(), parts.end(), part) != parts.end()) {
      throw ConfigError(std::string(option) + " names " + part + " twice");
    }
    parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

void check_score_name(const std::string& score) {
  if (score == kNoAttention) return;
  try {
    attention_from_name(score);
  } catch (const ConfigError& e) {
    throw ConfigError(std::string(e.what()) + ", " + std::string(kNoAttention));
  }
}

// The rows of the first table.
std::vector<CompareEntry> table_entries(const CompareArguments& a) {
  std::vector<CompareEntry> entries;
  const auto add = [&](const std::string& score, const std::string& normalizer) {
    CompareEntry e;
    e.score = score;
    e.normalizer = score == kNoAttention ? "" : normalizer;
    const auto same = [&](const CompareEntry& other) {
      return other.score == e.score && other.normalizer == e.normalizer;
    };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back(e);
  };
  std::vector<std::string> scores = {"additive"}, normalizers = {"softmax"};
  if (!a.scores.empty()) scores = split_list(a.scores, "--attention");
  if (!a.normalizers.empty()) normalizers = split_list(a.normalizers, "--normalizer");
  for (const std::string& score : scores) check_score_name(score);
  for (const std::string& normalizer : normalizers) normalizer_from_name(normalizer);
  if (a.scores.empty() && a.normalizers.empty()) {
    for (const char* score : {"none", "additive", "dot", "scaled-dot", "general", "concat",
                              "cosine", "location", "location-sensitive", "coverage"}) {
      add(score, "softmax");
    }
    normalizers = {"sparsemax", "entmax15", "entmax",  "sigmoid",
                   "monotonic", "mocha",    "local-p", "local-m"};
  }
  for (const std::string& score : scores) {
    for (const std::string& normalizer : normalizers) add(score, normalizer);
  }
  return entries;
}

// And of the second one.
std::vector<CompareEntry> width_entries(const CompareArguments& a) {
  std::vector<CompareEntry> entries;
  if (a.widths.empty()) return entries;
  const std::vector<std::string> widths = split_list(a.widths, "--widths");
  for (const char* score : {"dot", "scaled-dot"}) {
    for (const std::string& text : widths) {
      CompareEntry e;
      e.score = score;
      const char* end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, e.width);
      if (error != std::errc() || rest != end || e.width < 2 || e.width % 2 != 0) {
        throw ConfigError("--widths takes even numbers from 2, as in 64,256,1024; '" + text +
                          "' is none");
      }
      entries.push_back(e);
    }
  }
  return entries;
}

class Comparison {
 public:
  Comparison(CompareArguments& a, Output& output)
      : a_(a), output_(output), table_(table_entries(a)), widths_(width_entries(a)) {
    if (a.seeds < 1)
      throw ConfigError("--seeds is " + std::to_string(a.seeds) + "; wanted 1 or more");
    if (a.train.decoder == name(DecoderKind::kFixed)) {
      throw ConfigError("--decoder fixed has no attention to compare; it is the entry none");
    }
    decoder_from_name(a.train.decoder);
    a.train.options.dropout = dropout_rates(a.train);
    check_options(a.train.options);
    data_ = load_data(a.train, progress_);
    if (data_.dev.size() == 0) {
      throw ConfigError(
          "compare measures on pairs that are not trained on, and takes them from "
          "PAIRS only from 200 on: give --dev");
    }
    metric_ = a.train.options.metric;
    if (metric_ == "loss") {
      metric_ = data_.tokens.target.kind() == TokenKind::kChar ? "exact" : "bleu";
    }
    if (!a.keep.empty()) std::filesystem::create_directories(a.keep);
    progress_.expect(static_cast<int>(table_.size() + widths_.size()) * a.seeds);
    share_encoder_width();
  }

  // The exit code.
  int run() {
    for (std::vector<CompareEntry>* entries : {&table_, &widths_}) {
      for (CompareEntry& entry : *entries) {
        measure(entry);
        if (a_.json && entry.measured()) output_.line(entry_json(entry, metric_));
        output_.flush();
        if (stop_flag()) break;
      }
    }
    if (!a_.json) print_tables();
    if (stop_flag()) return signal_exit_code();
    const auto refused = [](const CompareEntry& e) { return e.runs.empty(); };
    const bool none = std::all_of(table_.begin(), table_.end(), refused) &&
                      std::all_of(widths_.begin(), widths_.end(), refused);
    return none ? 2 : 0;
  }

 private:
  // Scores that compare s with h need M = U. All rows of a table have the same encoder.
  void share_encoder_width() {
    TrainArguments& t = a_.train;
    const Index fit = fitting_encoder_width(t);
    const bool needed =
        !t.projections && std::any_of(table_.begin(), table_.end(), compares_states);
    if (!needed || t.encoder_hidden > 0 || fit == t.hidden || fit == 0) return;
    t.encoder_hidden = fit;
    progress_.note("--encoder-hidden " + std::to_string(fit) +
                   " for all: dot, scaled-dot and cosine need a memory as wide as the decoder (" +
                   std::to_string(t.hidden) + ")");
  }

  void measure(CompareEntry& entry) {
    for (int seed = 0; seed < a_.seeds && !stop_flag() && entry.refusal.empty(); ++seed) {
      progress_.begin(entry_name(entry) +
                      (a_.seeds > 1 ? " seed " + std::to_string(seed + 1) : ""));
      try {
        measure(entry, seed);
      } catch (const ConfigError& e) {
        entry.refusal = e.what();
      } catch (const NumericError& e) {
        entry.refusal = e.what();
      }
      if (entry.refusal.empty()) continue;
      progress_.end("");
      progress_.expect(-(a_.seeds - seed - 1));
      entry.runs.clear();
    }
  }

  void measure(CompareEntry& entry, int seed) {
    TrainArguments t = entry_arguments(a_.train, entry);
    t.options.seed += static_cast<std::uint64_t>(seed);
    t.options.coverage_loss = static_cast<float>(t.coverage_loss);
    Model model(model_config(t, data_), data_.tokens.source, data_.tokens.target);
    entry.encoder_hidden = model.network.config().encoder_hidden;
    entry.parameters = parameter_count(model.network.parameters());
    entry.attention_parameters = parameter_count(model.network.parameters(), "attention.");
    const Trial trial{data_.train, data_.dev, t.options, metric_, entry.width > 0};
    const std::optional<TrialFigures> f = run_trial(model, trial, progress_, stop_flag());
    if (!f) return;
    entry.runs.push_back(*f);
    progress_.end("dev loss " + figure(f->dev_loss, 4) + "  " + metric_ + " " +
                  figure(f->metric, 2));
    if (a_.keep.empty()) return;
    model.training_record = training_record(t, f->options, data_);
    std::string file = entry_name(entry);
    std::replace(file.begin(), file.end(), ' ', '-');
    if (a_.seeds > 1) file += "-seed" + std::to_string(t.options.seed);
    save_model((std::filesystem::path(a_.keep) / (file + ".regard")).string(), model);
  }

  void print_tables() {
    const auto unknown = [](const CompareEntry& e) { return !e.measured(); };
    for (std::vector<CompareEntry>* entries : {&table_, &widths_}) {
      entries->erase(std::remove_if(entries->begin(), entries->end(), unknown), entries->end());
    }
    const bool mark = terminal_output();
    if (!table_.empty()) output_.text(score_table(table_, metric_, mark));
    if (!table_.empty() && !widths_.empty()) output_.line("");
    if (!widths_.empty()) output_.text(width_table(widths_, metric_, mark));
  }

  CompareArguments& a_;
  Output& output_;
  std::vector<CompareEntry> table_, widths_;
  CompareProgress progress_;
  TrainingData data_;
  std::string metric_;
};

// The options that -h shows; --help-all shows the others too.
constexpr std::string_view kEveryday[] = {
    "PAIRS",    "--attention", "--normalizer", "--widths", "--seeds",   "--json",
    "--keep",   "--dev",       "--swap",       "--tokens", "--decoder", "--hidden",
    "--epochs", "--updates",   "--metric",     "--seed",   "--threads"};

void add_own_options(CLI::App& c, CompareArguments& a) {
  c.add_option("--attention", a.scores,
               "scores, as in dot,general; none is the fixed vector.\n"
               "Default: none and all of train's")
      ->type_name("LIST");
  c.add_option("--normalizer", a.normalizers,
               "with each of --attention (default: additive). Without both lists: softmax\n"
               "with all scores, and additive with all others but hardmax")
      ->type_name("LIST");
  c.add_option("--widths", a.widths,
               "as in 64,256,1024: a second table of dot and scaled-dot at these --hidden:\n"
               "mean entropy and largest weight of the attention rows on dev, before and\n"
               "after training. Dot products grow with the width, so that softmax saturates;\n"
               "divided by its root they do not")
      ->type_name("LIST");
  c.add_option("--seeds", a.seeds, "runs of each, from --seed on: mean and deviation are shown")
      ->capture_default_str();
  c.add_flag("--json", a.json, "a JSON object a row, as soon as it is there");
  c.add_option("--keep", a.keep, "keep the models in this folder")->type_name("FOLDER");
}

}  // namespace

Run add_compare(CLI::App& app) {
  auto a = std::make_unique<CompareArguments>();
  a->train.options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  a->train.options.patience = 0;                                    // as many updates for all
  a->train.options.save_every = std::numeric_limits<Index>::max();  // nobody resumes them
  CLI::App* c = app.add_subcommand(
      "compare",
      "train each kind of attention on the same pairs; a table of quality, size and speed");
  add_own_options(*c, *a);
  add_training_options(*c, a->train);
  split_help(*c, kEveryday);
  return [a = std::move(a)] {
    watch_signals();
    int code = 0;
    with_output([&](Output& output) { code = Comparison(*a, output).run(); });
    return code;
  };
}

}  // namespace regard::cli
