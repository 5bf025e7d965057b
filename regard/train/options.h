// What a training run is asked for. Everything here but `threads`, `epochs`, `updates`, `patience`
// and the intervals changes the bits.
#pragma once

#include <cstdint>
#include <string>

#include "regard/nn/dropout_plan.h"

namespace regard {

struct TrainOptions {
  Index epochs = 0;        // 0: by the size of the data (default_epochs)
  Index updates = 0;       // stop after that many; 0: no limit
  Index batch_tokens = 0;  // padded tokens a side; 0: by the size of the data
  Index shards = 0;        // 1, 2, 4 or 8; 0: by the size of a batch
  double learning_rate = 1e-3;
  DropoutRates dropout{0.2f, 0.2f, 0.2f, 0.2f};
  double clip = 1.0;  // largest norm of the gradient of the mean loss; 0: none
  float label_smoothing = 0.0f;
  Index patience = 10;          // validations without a better one; 0: no early stop
  std::string metric = "loss";  // loss, or a metric of eval/evaluate.h
  Index validate_every = 0;     // updates; 0: once an epoch, or once in 10 updates
  Index save_every = 0;         // updates; 0: at each validation
  std::uint64_t seed = 1;
  int threads = 2;
};

}  // namespace regard
