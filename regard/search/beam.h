// Beam search (greedy is a beam of 1) over a batch of sentences: ids in; ids, scores and weights
// out (docs/models.md).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "regard/model/seq2seq.h"

namespace regard {

// lp(T), by which a log-probability is divided to give a score.
enum class LengthFormula {
  kPower,  // T^A
  kGnmt,   // ((5 + T) / 6)^A, Wu et al. 2016, arXiv 1609.08144v2, equation 14
};
double length_penalty(LengthFormula formula, double strength, Index length);

struct SearchOptions {
  Index beam = 5;   // K >= 1
  Index nbest = 1;  // hypotheses kept, <= K
  LengthFormula formula = LengthFormula::kPower;
  double penalty = 1.0;  // A
  Index min_length = 1;  // tokens before the end marker
  bool bar_unknown = false;
  bool with_weights = false;
};

// One way to say it. `ids` holds the end marker when it ended.
struct Hypothesis {
  std::vector<std::int32_t> ids;
  std::vector<float> token_log_probs;
  double log_prob = 0.0;       // their sum, in order
  double score = 0.0;          // log_prob / lp(T), T with end
  bool ended = false;          // false: cut at max_length
  std::vector<float> weights;  // [T, S] with the source's end column, when asked for
  std::vector<Index>
      best_column;  // [T] real source position with the largest weight, -1 without attention
};

struct SearchSentence {
  std::span<const std::int32_t> source;  // without end marker, not empty
  Index max_length = 0;                  // tokens at most, end not counted
};

// Memory that searches on one network may use one after another (not at once): pages that were
// touched once need not be touched again. Changes no result.
struct SearchWorkspace {
  explicit SearchWorkspace(const Seq2seq& network)
      : encoder(network.parameters(), nullptr),
        even(network.parameters(), nullptr),
        odd(network.parameters(), nullptr) {}
  Tape encoder, even, odd;
};

// For each sentence its n-best list, best first; fewer than `nbest` when the search space is
// smaller. Results don't depend on the other sentences.
//
// Math   candidates of a step: the K best by log p over live hypotheses and tokens, ended ones
//        included; an ended one moves to the finished list and its place is not refilled. Ties: the
//        lower hypothesis, then the lower id. Stops when no live hypothesis can beat the worst of
//        the n kept: log p / max(lp(t + 1), lp(max)) is a bound. One step follows the last token
//        that max_length allows, for the end marker alone; a hypothesis that would go on is cut
//        there, and enters the list only where fewer than `nbest` ended.
// Errors ConfigError: beam, nbest or min_length out of range
std::vector<std::vector<Hypothesis>> beam_search(const Seq2seq& network,
                                                 std::span<const SearchSentence> sentences,
                                                 const SearchOptions& options,
                                                 SearchWorkspace& workspace);
std::vector<std::vector<Hypothesis>> beam_search(const Seq2seq& network,
                                                 std::span<const SearchSentence> sentences,
                                                 const SearchOptions& options);

}  // namespace regard
