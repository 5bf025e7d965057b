// What a training run is asked for. A run goes on only with the same options, but for `threads` and
// `save_every`, which change no bit, and `epochs`, `updates` and `patience`, which extend it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "regard/nn/dropout_plan.h"
#include "regard/text/batching.h"

namespace regard {

struct TrainOptions {
  Index epochs = 0;        // 0: by the size of the data (resolve_defaults)
  Index updates = 0;       // stop after that many; 0: no limit
  Index batch_tokens = 0;  // padded tokens a side; 0: by the size of the data
  Index shards = 0;        // 1, 2, 4 or 8; 0: by the size of a batch
  double learning_rate = 1e-3;
  DropoutRates dropout{0.2f, 0.2f, 0.2f, 0.2f};
  double clip = 1.0;  // largest norm of the gradient of the mean loss; 0: none
  float label_smoothing = 0.0f;
  float coverage_loss = 0.0f;   // weight of See's loss, per target token; --attention coverage
  Index patience = 10;          // validations without a better one; 0: no early stop
  std::string metric = "loss";  // loss, or a metric of eval/evaluate.h
  Index validate_every = 0;     // updates; 0: once an epoch, or once in 10 updates
  Index save_every = 0;         // updates; 0: at each validation
  std::uint64_t seed = 1;
  int threads = 2;
};

// Throws ConfigError naming the option, its value and what is wanted.
void check_options(const TrainOptions& options);

// Makes every 0 that means "by the data" definite: a function of options and lengths alone. Returns
// sentences for people.
//
//   batch_tokens  the largest of 500, 1,000 and 2,000 that leaves 150 updates an epoch
//   epochs        for about 6,000 updates, 10 to 300
//   shards        the largest of 1, 2, 4 and 8 that leaves 32 pairs each in a median batch; 2
//                 also where it leaves 16 each
//   intervals     whole epochs: one, or as many as make 10 updates
//
// Errors  ConfigError: no pair fits a batch; a number of shards that is none of the four
std::vector<std::string> resolve_defaults(TrainOptions& options,
                                          std::span<const PairLength> lengths);

// The options that change the bits of a run, as name and value: what a checkpoint keeps and
// compares.
std::vector<std::pair<std::string, std::string>> bit_changing_options(const TrainOptions& options);

}  // namespace regard
