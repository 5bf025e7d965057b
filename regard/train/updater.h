// Updater: one global batch, one step of Adam.
//
// The batch is cut into shards, each with its own tape and gradient block. Which thread runs a
// shard, and how many threads there are, changes no bit: shards are summed in a fixed tree and
// everything after is element by element.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "regard/model/seq2seq.h"
#include "regard/train/options.h"
#include "regard/train/prepare.h"

namespace regard {

struct UpdateResult {
  double loss = 0.0;        // sum over target tokens, label smoothing included
  Index source_tokens = 0;  // real ones, end markers included
  Index target_tokens = 0;
  double gradient_norm = 0.0;  // of the mean loss, before clipping
  bool finite = true;          // false: nothing was changed
};

class Updater {
 public:
  // All borrowed; `options.shards` is definite. Packs the network's values.
  Updater(Seq2seq& network, const EncodedPairs& data, const TrainOptions& options,
          Threads& threads);

  // One update from the pairs `batch` of the data. `update` counts from 0 and keys the dropout.
  // Where loss or gradient is not finite nothing is changed.
  UpdateResult run(std::span<const std::uint32_t> batch, Index update, double learning_rate);

  // Adam's moments, laid out as the parameters; for checkpoints.
  float* first_moment() const { return m_.data(); }
  float* second_moment() const { return v_.data(); }
  // Updates that Adam has made (skipped ones not counted).
  Index adam_steps() const { return adam_steps_; }
  void set_adam_steps(Index n) { adam_steps_ = n; }
  // After the network's values were changed from outside.
  void values_changed() { network_.parameters().pack(threads_, true); }

 private:
  struct Shard {
    std::unique_ptr<Tape> tape;
    std::unique_ptr<Gradients> gradients;
    double loss = 0.0;
    Index source_tokens = 0;
    Index target_tokens = 0;
  };
  void run_shard(Shard& shard, std::span<const std::uint32_t> batch, Index index, Index update);
  double squared_norm();
  void step(double learning_rate, double gradient_scale);

  Seq2seq& network_;
  const EncodedPairs& data_;
  const TrainOptions& options_;
  Threads& threads_;
  std::vector<Shard> shards_;
  Buffer<float> m_, v_;
  Index adam_steps_ = 0;
};

}  // namespace regard
