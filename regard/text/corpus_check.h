// Checks of a whole corpus: duplicates, conflicts, overlap of training and dev data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regard/text/corpus.h"

namespace regard {

struct CorpusCheck {
  std::uint64_t pairs = 0;
  std::uint64_t duplicates = 0;           // pairs that stand further up already
  std::uint64_t conflicting_sources = 0;  // distinct sources with more than one distinct target
  std::uint64_t dev_pairs = 0;
  std::uint64_t dev_pairs_in_train = 0;    // dev pairs that occur in train
  std::uint64_t dev_sources_in_train = 0;  // dev pairs whose source occurs in train
};

// Compares bytes: give pairs that were cleaned alike. Cost: linear.
CorpusCheck check_pairs(std::span<const Pair> train, std::span<const Pair> dev = {});

// The first occurrence of each pair, in order.
std::vector<Pair> without_duplicates(std::span<const Pair> pairs);

}  // namespace regard
