// From pairs of text to what the trainer reads: tokenizers built from the training side, pairs as
// ids, and a dev part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "regard/tensor/view.h"
#include "regard/text/auto_tokens.h"
#include "regard/text/corpus.h"

namespace regard {

struct VocabularyOptions {
  TokenSpec source, target;
  bool joint = false;  // one vocabulary for both sides
  VocabularyLimits limits;
  CleanupRule cleanup = CleanupRule::kNfcSpaces;
};

struct Tokenizers {
  Tokenizer source, target;
  TokenSpec source_spec, target_spec;  // `auto` made definite
};

// Throws ConfigError: joint sides of different kinds; subword without SentencePiece.
Tokenizers build_tokenizers(const std::vector<Pair>& pairs, const VocabularyOptions& options);

// Pairs as ids without markers; the raw text is kept for metrics.
struct EncodedPairs {
  std::vector<Pair> text;
  std::vector<std::vector<std::int32_t>> source, target;
  std::uint64_t cut = 0;            // sources cut to the length limit
  std::uint64_t source_tokens = 0;  // without markers
  std::uint64_t target_tokens = 0;
  std::uint64_t unknown = 0;  // tokens the vocabulary lacks

  size_t size() const { return source.size(); }
};
// Sources longer than `max_source_length` tokens are cut (0: no limit).
EncodedPairs encode_pairs(std::vector<Pair> pairs, const Tokenizers& tokenizers,
                          Index max_source_length);

// Takes a dev part out of `train`: 2 per cent, 50 to 1,000 pairs, chosen by a hash of the source so
// that equal sources stay together and the choice does not change with order. Nothing from fewer
// than 200 pairs, and never more than half of them (where many have one source).
std::vector<Pair> hold_out(std::vector<Pair>& train);

}  // namespace regard
