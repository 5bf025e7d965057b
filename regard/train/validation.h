// How good a network is on pairs that it was not trained on.
#pragma once

#include <string>
#include <vector>

#include "regard/eval/evaluate.h"
#include "regard/model/model.h"
#include "regard/text/batching.h"
#include "regard/train/prepare.h"

namespace regard {

// Mean of -log p over all target tokens, end markers included. The same value for any thread count.
double mean_loss(const Seq2seq& network, const EncodedPairs& pairs, Index batch_tokens,
                 Threads& threads);

// The pairs in batches of one length each, as near as that goes, of at most that many padded tokens
// a side.
std::vector<Batch> batches_by_length(const EncodedPairs& pairs, Index batch_tokens);

// Rows with equal source as one item, their targets as the model would write them.
eval::GroupedRows distinct_sources(const Model& model, const EncodedPairs& pairs);

// The best-first choice at every step, a line a source.
eval::Lines greedy_translations(const Model& model, const eval::Lines& sources, Index batch_tokens,
                                Threads& threads);

// Greedy translations of the sources against the targets, rows with equal source being references
// of one item. `metric` as eval/evaluate.h, in per cent.
double translation_metric(const Model& model, const EncodedPairs& pairs, const std::string& metric,
                          Index batch_tokens, Threads& threads);

}  // namespace regard
