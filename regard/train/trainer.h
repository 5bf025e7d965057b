// Trainer: epochs of updates, validation, the best model, checkpoints, and going on after a stop
// (docs/architecture.md).
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regard/base/file.h"
#include "regard/model/model.h"
#include "regard/text/batching.h"
#include "regard/train/checkpoint.h"
#include "regard/train/updater.h"

namespace regard {

struct UpdateInfo {
  Index update = 0;       // done so far, from 1
  double epoch = 0.0;     // with the fraction that is done
  double progress = 0.0;  // of the whole run, 0 to 1
  double loss_per_token = 0.0;
  Index source_tokens = 0, target_tokens = 0;
  double learning_rate = 0.0, gradient_norm = 0.0;
  bool skipped = false;  // not finite: nothing was changed
};

struct ValidationInfo {
  Index update = 0;
  double epoch = 0.0;
  double loss_per_token = 0.0;  // on dev, natural logarithm
  double metric = 0.0;          // what --metric names; the loss itself by default
  bool best = false;
  Index patience_used = 0;
};

// What a run tells while it goes on. Called from the thread that called run().
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void note(const std::string& sentence) = 0;
  virtual void update(const UpdateInfo& info) = 0;
  virtual void validation(const ValidationInfo& info) = 0;
};

enum class TrainEnd {
  kFinished,         // the planned end, or patience ran out
  kAlreadyFinished,  // the state says that this run has been finished before
  kStopped,          // the stop flag was raised; the state is saved
};

// One run. `model` holds the definite configuration; its values are set here. The files are MODEL,
// MODEL.state (the checkpoint, replaced atomically) and MODEL.lock (held while training).
class Trainer {
 public:
  struct Files {
    std::string model;
    bool fresh = false;  // start again over a model or state that is there
  };
  // `model`, `train`, `dev` and `observer` are borrowed. `dev` may be empty: the newest is the
  // best. Errors  ConfigError: a state written with other options or data (names the first
  // difference), a
  //         MODEL without state and no `fresh`, an unknown metric, numbers out of range;
  //         FormatError (model): a damaged state; std::system_error: files, a lock that is held
  Trainer(Model& model, const EncodedPairs& train, const EncodedPairs& dev, TrainOptions options,
          Files files, TrainObserver& observer);

  // Trains until an end or until `stop` is true after an update. After kFinished `model` holds what
  // MODEL holds.
  // Errors  NumericError when updates stay not finite; std::system_error when a file can't be
  //         written
  TrainEnd run(const std::atomic<bool>& stop);

  const TrainOptions& options() const { return options_; }

 private:
  RunIdentity identity() const;
  CheckpointBlocks blocks();
  void start_or_resume();
  bool at_end() const;
  double rate_at(double progress) const;
  bool run_epoch(const std::atomic<bool>& stop);
  void one_update(const Batch& batch, double epoch, double progress);
  double score(ValidationInfo& info);
  void validate(double epoch);
  void require_finite();
  void save_state();
  void finish();

  Model& model_;
  const EncodedPairs& train_;
  const EncodedPairs& dev_;
  TrainOptions options_;
  Files files_;
  TrainObserver& observer_;
  Threads threads_;
  std::optional<FileLock> lock_;
  std::unique_ptr<Updater> updater_;
  std::vector<PairLength> lengths_;
  Checkpoint checkpoint_;
};

}  // namespace regard
