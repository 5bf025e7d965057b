// The checkpoint: everything that a run needs to go on as if it had not stopped. One file, complete
// or absent.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "regard/tensor/view.h"

namespace regard {

// The counters of a run.
struct TrainState {
  Index update = 0;  // updates tried, skipped ones included
  Index adam_steps = 0;
  Index epoch = 0;           // the one that is under way, from 0
  Index batch = 0;           // next batch of it
  Index skipped_in_row = 0;  // updates that were not finite
  double rate_factor = 1.0;  // lowered by each of them
  bool has_best = false;
  double best_score = 0.0;  // larger is better
  Index bad_validations = 0;
  Index validated_update = -1;
  bool finished = false;
};

// Blocks of numbers, each laid out as the parameters; borrowed.
struct CheckpointBlocks {
  float* parameters = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  Index size = 0;
};

// The run that a checkpoint belongs to: the options that change bits, as name and value, and a hash
// of the data.
struct RunIdentity {
  std::vector<std::pair<std::string, std::string>> options;
  std::string data_hash;
};

// What a run keeps beside the blocks. `best` and `recent` hold parameters, laid out as the block.
struct Checkpoint {
  TrainState state;
  std::vector<float> best;                // at the best validation; empty before the first one
  std::deque<std::vector<float>> recent;  // at the last validations, oldest first: the average
};

// Errors: std::system_error naming path, needed and free bytes; the old file is untouched then.
void save_checkpoint(const std::string& path, const RunIdentity& run, const Checkpoint& checkpoint,
                     const CheckpointBlocks& blocks);

// Fills `checkpoint` and `blocks`, whose size is given. A checkpoint of
// another run leaves both as they were.
// Errors  std::system_error; FormatError (model) if damaged; ConfigError naming the first option
//         that differs, or the data
void load_checkpoint(const std::string& path, const RunIdentity& run, Checkpoint& checkpoint,
                     const CheckpointBlocks& blocks);

}  // namespace regard
