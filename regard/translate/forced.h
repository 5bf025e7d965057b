// Forced decoding of pairs in batches. Internal to translate/.
#pragma once

#include <span>
#include <vector>

#include "regard/base/threads.h"
#include "regard/model/seq2seq.h"

namespace regard {

struct ForcedPair {
  std::span<const std::int32_t> source;  // no end markers; not empty
  std::span<const std::int32_t> target;  // may be empty: the end marker alone
};

struct ForcedOptions {
  bool with_weights = false;
  int shift = 0;  // row i of the weights is read that many steps later
  Index batch_tokens = 2000;
};

struct ForcedResult {
  std::vector<float> token_log_probs;  // [T], end included: the bits that search adds up
  std::vector<float> weights;          // [T, S] when asked for; end markers included
};

// One result a pair; it depends on nothing but the pair and the network.
std::vector<ForcedResult> force_pairs(const Seq2seq& network, std::span<const ForcedPair> pairs,
                                      const ForcedOptions& options, Threads& threads);

// How many steps later than its own the first query that knows a token is: 2 for `bahdanau`, whose
// query is the state before, else 1.
int alignment_shift(DecoderKind decoder);

// The largest batch that still gives every thread something to do.
std::uint64_t batch_budget(std::span<const std::uint32_t> lengths, Index batch_tokens,
                           const Threads& threads);

}  // namespace regard
