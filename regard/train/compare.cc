#include "regard/train/compare.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "regard/base/float_environment.h"
#include "regard/base/math.h"
#include "regard/eval/evaluate.h"
#include "regard/train/validation.h"

namespace regard {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "regard-compare-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), path);
    }
    path_ = path;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Passes everything on, and counts tokens and the time of updates without what lies between: the
// first update, which fetches memory, and those after a validation.
class Stopwatch : public TrainObserver {
 public:
  explicit Stopwatch(TrainObserver& next) : next_(next) {}
  void note(const std::string& sentence) override { next_.note(sentence); }
  void update(const UpdateInfo& info) override {
    const auto n = static_cast<double>(info.source_tokens + info.target_tokens);
    if (running_) {
      seconds_ += seconds_since(mark_);
      tokens_ += n;
    }
    updates_ = info.update;
    next_.update(info);
    running_ = true;
    mark_ = Clock::now();
  }
  void validation(const ValidationInfo& info) override {
    running_ = false;
    next_.validation(info);
  }

  Index updates() const { return updates_; }
  double tokens_per_second() const { return seconds_ > 0.0 ? tokens_ / seconds_ : 0.0; }

 private:
  TrainObserver& next_;
  Clock::time_point mark_;
  bool running_ = false;
  Index updates_ = 0;
  double seconds_ = 0.0, tokens_ = 0.0;
};

struct RowSums {
  Index rows = 0;
  double entropy = 0.0, largest = 0.0, length = 0.0;

  void add(const float* weights, Index n) {
    double most = 0.0;
    for (Index j = 0; j < n; ++j) {
      const auto w = static_cast<double>(weights[j]);
      if (w > 0.0) entropy -= w * log_double(w);
      most = std::max(most, w);
    }
    ++rows;
    largest += most;
    length += static_cast<double>(n);
  }
};

RowSums batch_sums(const Seq2seq& network, const EncodedPairs& pairs, const Batch& ids) {
  std::vector<std::span<const std::int32_t>> sources, targets;
  for (const std::uint32_t i : ids) {
    if (pairs.source[i].empty() && pairs.target[i].empty()) continue;
    sources.push_back(pairs.source[i]);
    targets.push_back(pairs.target[i]);
  }
  RowSums sums;
  if (sources.empty()) return sums;
  Tape tape(network.parameters(), nullptr);
  const PairBatch batch = PairBatch::pack(sources, targets);
  const Matrix weights = network.forced(tape, batch, {}, 0.0f, true).weights;
  for (Index r = 0; r < batch.target.rows(); ++r) {
    const Index lane = batch.key_row[static_cast<size_t>(r)];
    sums.add(&weights(r, 0), batch.source.length[static_cast<size_t>(lane)]);
  }
  return sums;
}

}  // namespace

RowFigures row_figures(const Seq2seq& network, const EncodedPairs& pairs, Index batch_tokens,
                       Threads& threads) {
  RowFigures figures;
  if (!network.config().has_attention()) return figures;
  const std::vector<Batch> batches = batches_by_length(pairs, batch_tokens);
  std::vector<RowSums> parts(batches.size());
  threads.run(static_cast<Index>(batches.size()), [&](Index b, int) {
    const FloatEnvironment environment;
    const auto i = static_cast<size_t>(b);
    parts[i] = batch_sums(network, pairs, batches[i]);
  });
  RowSums all;
  for (const RowSums& part : parts) {
    all.rows += part.rows;
    all.entropy += part.entropy;
    all.largest += part.largest;
    all.length += part.length;
  }
  if (all.rows == 0) return figures;
  const auto rows = static_cast<double>(all.rows);
  figures.rows = all.rows;
  figures.entropy = all.entropy / rows;
  figures.largest = all.largest / rows;
  figures.log_source_length = log_double(all.length / rows);
  return figures;
}

Index parameter_count(const Parameters& parameters, std::string_view prefix) {
  Index count = 0;
  for (const ParameterInfo& p : parameters.infos()) {
    if (std::string_view(p.name).substr(0, prefix.size()) == prefix) count += p.rows * p.cols;
  }
  return count;
}

std::optional<TrialFigures> run_trial(Model& model, const Trial& trial, TrainObserver& observer,
                                      const std::atomic<bool>& stop) {
  const TemporaryFolder folder;
  Stopwatch watch(observer);
  Threads threads(trial.options.threads);
  TrialFigures f;
  {
    Trainer trainer(model, trial.train, trial.dev, trial.options, {folder.path() + "/model"},
                    watch);
    f.options = trainer.options();
    if (trial.with_row_figures) {
      f.untrained = row_figures(model.network, trial.dev, f.options.batch_tokens, threads);
    }
    if (trainer.run(stop) == TrainEnd::kStopped) return std::nullopt;
  }
  f.updates = watch.updates();
  f.training_tokens_per_second = watch.tokens_per_second();
  if (trial.with_row_figures) {
    f.trained = row_figures(model.network, trial.dev, f.options.batch_tokens, threads);
  }
  f.dev_loss = mean_loss(model.network, trial.dev, f.options.batch_tokens, threads);
  const eval::GroupedRows items = distinct_sources(model, trial.dev);
  const Clock::time_point start = Clock::now();
  const eval::Lines lines =
      greedy_translations(model, items.sources, f.options.batch_tokens, threads);
  f.decoding_sentences_per_second = static_cast<double>(lines.size()) / seconds_since(start);
  f.metric = eval::evaluate({trial.metric}, lines, items.references)[0].second;
  return f;
}

}  // namespace regard
