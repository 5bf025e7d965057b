#include "regard/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>

#include "regard/base/checksum.h"
#include "regard/base/error.h"
#include "regard/base/float_environment.h"
#include "regard/eval/evaluate.h"
#include "regard/kernels/adam.h"
#include "regard/kernels/isa.h"
#include "regard/train/validation.h"

namespace regard {
namespace {

constexpr Index kAveraged = 5;         // validations that the average is taken over
constexpr Index kSkipsBeforeStop = 5;  // updates in a row that may be not finite

// Ids and lengths of both parts, the tokens behind them, and the text that a metric reads: equal
// hashes mean equal data as the trainer sees it.
std::string hash_of(const Model& model, const EncodedPairs& train, const EncodedPairs& dev) {
  Checksum sum;
  for (const Tokenizer* tokens : {&model.source_tokens, &model.target_tokens}) {
    for (const auto& [name, bytes] : tokens->serialize())
      sum.update(std::as_bytes(std::span(bytes)));
  }
  for (const Pair& p : dev.text) {
    for (const std::string* side : {&p.source, &p.target}) {
      sum.update(*side);
      sum.update(std::string_view("\n"));
    }
  }
  for (const EncodedPairs* part : {&train, &dev}) {
    for (const auto* side : {&part->source, &part->target}) {
      for (const std::vector<std::int32_t>& ids : *side) {
        const auto n = static_cast<std::int32_t>(ids.size());
        sum.update(std::as_bytes(std::span(&n, 1)));
        sum.update(std::as_bytes(std::span(ids)));
      }
    }
  }
  return to_hex(sum.value());
}

std::vector<PairLength> lengths_of(const EncodedPairs& pairs) {
  std::vector<PairLength> lengths;
  for (size_t i = 0; i < pairs.size(); ++i) {
    lengths.push_back({static_cast<std::uint32_t>(pairs.source[i].size() + 1),
                       static_cast<std::uint32_t>(pairs.target[i].size() + 1)});
  }
  return lengths;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

Trainer::Trainer(Model& model, const EncodedPairs& train, const EncodedPairs& dev,
                 TrainOptions options, Files files, TrainObserver& observer)
    : model_(model),
      train_(train),
      dev_(dev),
      options_(std::move(options)),
      files_(std::move(files)),
      observer_(observer),
      threads_(options_.threads),
      lengths_(lengths_of(train)) {
  if (train.size() == 0) {
    throw ConfigError("there is no pair to train on");
  }
  require_isa();
  check_options(options_);
  if (options_.coverage_loss > 0.0f) require_coverage(model_.network.config());
  for (const std::string& note : resolve_defaults(options_, lengths_)) observer_.note(note);
  lock_.emplace(files_.model + ".lock");
  remove_leftovers(files_.model);
  remove_leftovers(files_.model + ".state");
  updater_ = std::make_unique<Updater>(model_.network, train_, options_, threads_);
  start_or_resume();
}

RunIdentity Trainer::identity() const {
  RunIdentity run;
  run.options = bit_changing_options(options_);
  run.options.insert(run.options.begin(), {"model", to_json(model_.network.config())});
  run.data_hash = hash_of(model_, train_, dev_);
  return run;
}

CheckpointBlocks Trainer::blocks() {
  Parameters& p = model_.network.parameters();
  return {p.data(), updater_->first_moment(), updater_->second_moment(), p.size()};
}

void Trainer::start_or_resume() {
  const std::string state = files_.model + ".state";
  if (!files_.fresh && exists(state)) {
    load_checkpoint(state, identity(), checkpoint_, blocks());
    updater_->set_adam_steps(checkpoint_.state.adam_steps);
    updater_->values_changed();
    // More epochs, updates or patience than before extend a finished run.
    if (checkpoint_.state.finished && !at_end()) {
      checkpoint_.state.finished = false;
      observer_.note("the finished run in " + state + " is extended");
    } else if (!checkpoint_.state.finished) {
      observer_.note("going on after update " + std::to_string(checkpoint_.state.update) +
                     " from " + state);
    }
    return;
  }
  if (!files_.fresh && exists(files_.model)) {
    throw ConfigError(
        files_.model +
        " is there, without a checkpoint to go on from: give another -o, or --fresh to replace it");
  }
  model_.network.parameters().initialise(options_.seed);
  updater_->values_changed();
}

bool Trainer::at_end() const {
  const TrainState& s = checkpoint_.state;
  return s.epoch >= options_.epochs || (options_.updates > 0 && s.update >= options_.updates) ||
         (options_.patience > 0 && s.bad_validations >= options_.patience);
}

// Constant for the first half of the run, then falling to nothing along a line.
double Trainer::rate_at(double progress) const {
  return options_.learning_rate * checkpoint_.state.rate_factor *
         std::min(1.0, 2.0 * (1.0 - progress));
}

TrainEnd Trainer::run(const std::atomic<bool>& stop) {
  const FloatEnvironment environment;
  if (checkpoint_.state.finished) {
    if (!exists(files_.model)) finish();  // someone took the file away: the state still holds it
    return TrainEnd::kAlreadyFinished;
  }
  // From here on there is a state for every MODEL, so that a run killed at any moment goes on.
  if (checkpoint_.state.update == 0) save_state();
  while (!at_end()) {
    if (!run_epoch(stop)) {
      save_state();
      return TrainEnd::kStopped;
    }
  }
  finish();
  return TrainEnd::kFinished;
}

// The rest of the epoch that is under way. False: stopped by the flag.
bool Trainer::run_epoch(const std::atomic<bool>& stop) {
  TrainState& s = checkpoint_.state;
  const BatchPlan plan = plan_epoch(lengths_, {static_cast<std::uint64_t>(options_.batch_tokens),
                                               options_.seed, static_cast<std::uint64_t>(s.epoch)});
  const auto batches = static_cast<Index>(plan.batches.size());
  while (s.batch < batches) {
    const double epoch_done =
        static_cast<double>(s.epoch) + static_cast<double>(s.batch) / static_cast<double>(batches);
    double progress = epoch_done / static_cast<double>(options_.epochs);
    if (options_.updates > 0) {
      progress =
          std::max(progress, static_cast<double>(s.update) / static_cast<double>(options_.updates));
    }
    const Batch& batch = plan.batches[static_cast<size_t>(s.batch)];
    ++s.batch;
    const double epoch_now =
        static_cast<double>(s.epoch) + static_cast<double>(s.batch) / static_cast<double>(batches);
    one_update(batch, epoch_now, progress);
    if (s.batch == batches) {
      s.batch = 0;
      ++s.epoch;
    }
    const bool last = at_end();
    if (s.update % options_.validate_every == 0 || last) validate(epoch_now);
    if (s.update % options_.save_every == 0 && !last) save_state();
    if (at_end()) return true;
    if (stop.load()) return false;
    if (s.batch == 0) return true;
  }
  // Only a state that is not ours points beyond the epoch.
  s.batch = 0;
  ++s.epoch;
  return true;
}

void Trainer::one_update(const Batch& batch, double epoch, double progress) {
  TrainState& s = checkpoint_.state;
  const double rate = rate_at(progress);
  const UpdateResult result = updater_->run(batch, s.update, rate);
  ++s.update;
  s.adam_steps = updater_->adam_steps();
  if (result.finite) {
    s.skipped_in_row = 0;
  } else {
    ++s.skipped_in_row;
    s.rate_factor *= 0.5;
    if (s.skipped_in_row >= kSkipsBeforeStop) {
      throw NumericError(
          "training stopped at update " + std::to_string(s.update) +
          ": loss or gradient was not finite in " + std::to_string(kSkipsBeforeStop) +
          " updates in a row; the last checkpoint is untouched. Try a lower --learning-rate");
    }
  }
  UpdateInfo info;
  info.update = s.update;
  info.epoch = epoch;
  info.progress = progress;
  info.loss_per_token = result.loss / static_cast<double>(result.target_tokens);
  info.source_tokens = result.source_tokens;
  info.target_tokens = result.target_tokens;
  info.learning_rate = rate;
  info.gradient_norm = result.gradient_norm;
  info.skipped = !result.finite;
  observer_.update(info);
}

// Larger is better; always finite, since the state is stored as JSON.
double Trainer::score(ValidationInfo& info) {
  if (dev_.size() == 0) return 0.0;
  info.loss_per_token = mean_loss(model_.network, dev_, options_.batch_tokens, threads_);
  info.metric = info.loss_per_token;
  if (options_.metric == "loss") {
    return std::isfinite(info.loss_per_token) ? -info.loss_per_token
                                              : std::numeric_limits<double>::lowest();
  }
  info.metric = translation_metric(model_, dev_, options_.metric, options_.batch_tokens, threads_);
  return eval::higher_is_better(options_.metric) ? info.metric : -info.metric;
}

void Trainer::validate(double epoch) {
  TrainState& s = checkpoint_.state;
  if (s.validated_update == s.update) return;
  require_finite();
  s.validated_update = s.update;
  const Parameters& p = model_.network.parameters();
  const std::vector<float> values(p.data(), p.data() + p.size());
  checkpoint_.recent.push_back(values);
  if (static_cast<Index>(checkpoint_.recent.size()) > kAveraged) checkpoint_.recent.pop_front();
  ValidationInfo info;
  info.update = s.update;
  info.epoch = epoch;
  const double now = score(info);
  // Without a dev part the newest is the best.
  info.best = dev_.size() == 0 || !s.has_best || now > s.best_score;
  if (info.best) {
    s.has_best = true;
    s.best_score = now;
    s.bad_validations = 0;
    checkpoint_.best = values;
    replace_file(files_.model, format_model(model_, checkpoint_.best.data()));
  } else {
    ++s.bad_validations;
  }
  info.patience_used = s.bad_validations;
  if (dev_.size() > 0) observer_.validation(info);
}

// A NaN never reaches a file: updates that are not finite are skipped, and this is for those that
// were finite and led beyond the range of numbers.
void Trainer::require_finite() {
  const CheckpointBlocks b = blocks();
  for (const float* x : {b.parameters, b.first_moment, b.second_moment}) {
    if (all_finite(x, b.size)) continue;
    throw NumericError("training stopped at update " + std::to_string(checkpoint_.state.update) +
                       ": the parameters are no longer finite; the last checkpoint is untouched. "
                       "Try a lower --learning-rate");
  }
}

void Trainer::save_state() {
  require_finite();
  save_checkpoint(files_.model + ".state", identity(), checkpoint_, blocks());
}

// Leaves the better on dev of the best and the average as MODEL, and a state that says so.
void Trainer::finish() {
  TrainState& s = checkpoint_.state;
  validate(static_cast<double>(s.epoch));
  Parameters& p = model_.network.parameters();
  const std::vector<float> last(p.data(), p.data() + p.size());
  std::vector<float> chosen = checkpoint_.best;
  if (dev_.size() > 0 && checkpoint_.recent.size() > 1) {
    for (Index i = 0; i < p.size(); ++i) {
      double sum = 0.0;
      for (const std::vector<float>& values : checkpoint_.recent) {
        sum += static_cast<double>(values[static_cast<size_t>(i)]);
      }
      p.data()[i] = static_cast<float>(sum / static_cast<double>(checkpoint_.recent.size()));
    }
    updater_->values_changed();
    ValidationInfo info;
    if (score(info) > s.best_score) {
      chosen.assign(p.data(), p.data() + p.size());
      observer_.note("the average of the last " + std::to_string(checkpoint_.recent.size()) +
                     " validations is better than the best of them and is kept (dev " +
                     options_.metric + " " + std::to_string(info.metric) + ")");
    }
  }
  replace_file(files_.model, format_model(model_, chosen.data()));
  std::copy(last.begin(), last.end(), p.data());
  s.finished = true;
  save_state();
  std::copy(chosen.begin(), chosen.end(), p.data());
  updater_->values_changed();
}

}  // namespace regard
