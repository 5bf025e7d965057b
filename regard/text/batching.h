// Batching: which pairs go through the model together. Lengths in, indices out; no text, no
// tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace regard {

// Tokens of a pair as the model sees them, end markers included.
struct PairLength {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
};

struct BatchOptions {
  std::uint64_t max_tokens = 2000;  // padded tokens a side
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

using Batch = std::vector<std::uint32_t>;  // indices of pairs, at least one

struct BatchPlan {
  std::vector<Batch> batches;
  std::uint64_t left_out = 0;  // pairs longer than max_tokens on a side
};

// The batches of one epoch: every pair that fits is in exactly one.
//
// Values   a batch of n pairs has n x max(longest source, longest target) <= max_tokens. Pairs are
//          shuffled, sorted by length within windows of many batches, cut, and the batches
//          shuffled. The plan is a pure function of the lengths and options, ties included.
// Errors   ConfigError if max_tokens is 0 or there are 2^32 pairs or more.
// Threads  safe; same plan always.
BatchPlan plan_epoch(std::span<const PairLength> lengths, const BatchOptions& options);

// Batches for decoding: indices sorted by length, longest first, ties in order, cut so that a batch
// of n lines has n x longest <= max_tokens; a longer line has a batch of its own.
// Errors: as plan_epoch.
std::vector<Batch> plan_decoding(std::span<const std::uint32_t> lengths, std::uint64_t max_tokens);

}  // namespace regard
