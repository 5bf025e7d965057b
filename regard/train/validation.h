// How good a network is on pairs that it was not trained on.
#pragma once

#include <string>

#include "regard/model/model.h"
#include "regard/train/prepare.h"

namespace regard {

// Mean of -log p over all target tokens, end markers included. The same value for any thread count.
double mean_loss(const Seq2seq& network, const EncodedPairs& pairs, Index batch_tokens,
                 Threads& threads);

// Greedy translations of the sources against the targets, rows with equal source being references
// of one item. `metric` as eval/evaluate.h, in per cent.
double translation_metric(const Model& model, const EncodedPairs& pairs, const std::string& metric,
                          Index batch_tokens, Threads& threads);

}  // namespace regard
