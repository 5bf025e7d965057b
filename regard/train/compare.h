// What `regard compare` does for one row of its table: trains a model and measures it on dev.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "regard/train/trainer.h"

namespace regard {

// Where the rows of an attention matrix lie between one place and everywhere.
struct RowFigures {
  Index rows = 0;                  // target tokens, end markers included; 0: no attention
  double entropy = 0.0;            // mean of -sum_j w_ij log w_ij, natural logarithm
  double largest = 0.0;            // mean of max_j w_ij
  double log_source_length = 0.0;  // of the mean length that rows see: what no mean entropy of
                                   // rows that sum to 1 exceeds, and flat rows come close to
};

// Of the weights (mean over heads) of forced decoding over `pairs`. The same for any threads.
RowFigures row_figures(const Seq2seq& network, const EncodedPairs& pairs, Index batch_tokens,
                       Threads& threads);

// Numbers that are learnt: of all of the model, or of parameters named PREFIX...
Index parameter_count(const Parameters& parameters, std::string_view prefix = "");

struct Trial {
  const EncodedPairs& train;
  const EncodedPairs& dev;
  TrainOptions options;
  std::string metric;             // that is reported, as eval/evaluate.h
  bool with_row_figures = false;  // before and after training
};

struct TrialFigures {
  TrainOptions options;  // definite
  Index updates = 0;
  double dev_loss = 0.0;  // a target token, natural logarithm
  double metric = 0.0;
  double training_tokens_per_second = 0.0;     // source and target, without validation
  double decoding_sentences_per_second = 0.0;  // greedy, over dev
  RowFigures untrained, trained;
};

// Trains `model` from its start values; it holds the trained ones after. Files of the run lie in a
// temporary folder that is gone when this returns or throws. None if `stop` was raised.
//
// Errors  as Trainer; std::system_error for the folder
std::optional<TrialFigures> run_trial(Model& model, const Trial& trial, TrainObserver& observer,
                                      const std::atomic<bool>& stop);

}  // namespace regard
