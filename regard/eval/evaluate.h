// What `regard eval` and the trainer call: lines and references in, named figures out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regard/eval/tokenize.h"

namespace regard::eval {

struct EvalOptions {
  Tokenization tokenization = Tokenization::k13a;  // bleu only
  bool lowercase = false;                          // every metric of text
  std::uint32_t first_gold_word = 0;               // aer: 1 for gold files that count words from 1
};

using Lines = std::vector<std::string>;
using References = std::vector<Lines>;  // [item][reference]; at least one each
using Scores = std::vector<std::pair<std::string, double>>;

// The metrics, all in per cent:
//   bleu            see bleu.h; `tokenization` applies
//   chrf, chrf++    see chrf.h
//   exact           items that equal any of their references
//   wer             100 - exact, the sense of spelling-to-sound papers: a word is an item
//   ser             token edits / tokens of the nearest reference (edit_distance.h)
//   cer             the same by code point
//   aer             see alignment_error.h; lines are links, one gold line each; its value is
//                   followed by `precision` and `recall`
// exact, ser and cer compare lines cleaned by the rule nfc+spaces (text/cleanup.h), so neither the
// kind of a blank nor a composed accent is an error; bleu and chrf take the text as it is, as the
// scorers that they must equal do. Bytes that are no UTF-8 count as U+FFFD.

// "bleu,chrf" to {"bleu", "chrf"}. Errors   ConfigError for an unknown, repeated or empty name.
std::vector<std::string> parse_metrics(std::string_view comma_separated);

// Whether a larger value is better, for choosing among models. Errors   ConfigError if unknown.
bool higher_is_better(std::string_view metric);

// The value of each metric in the order given, by name.
// Errors   ConfigError for an unknown metric, or for aer with more than one reference an item or
//          beside metrics of text; FormatError(kData) if the numbers of hypotheses and items differ
//          (names both), if there are none, if an item has no reference, or for a bad link.
Scores evaluate(const std::vector<std::string>& metrics, const Lines& hypotheses,
                const References& references, const EvalOptions& options = {});

// Reference files of equal length, line by line: [file][line] to [line][file].
// Errors   FormatError(kData) if the line counts differ (names both); ConfigError without a file.
References join_references(const std::vector<Lines>& files);

// Rows with the same source as one item: its targets are all right answers.
struct GroupedRows {
  Lines sources;                        // distinct, in order of first appearance
  References references;                // [item]: the targets of its rows, in order
  std::vector<std::size_t> first_rows;  // [item]: the row where it first appeared
};
// Errors   FormatError(kData) if the numbers of sources and targets differ.
GroupedRows group_by_source(const Lines& sources, const Lines& targets);

// The same metrics apart for items of similar source length in words (pieces between white space).
struct LengthBucket {
  std::string label;  // "1-8", "21+"
  std::size_t items = 0;
  Scores scores;  // empty if no item is that long
};
// `last_lengths` are the longest lengths of all buckets but the last, which is open. Sources
// without a word make a bucket "0" of their own, only if there are any.
// Errors   as evaluate; ConfigError unless last_lengths ascend from at least 1.
std::vector<LengthBucket> evaluate_by_length(
    const std::vector<std::string>& metrics, const Lines& sources, const Lines& hypotheses,
    const References& references, const EvalOptions& options = {},
    const std::vector<std::size_t>& last_lengths = {8, 12, 16, 20});

// exp(-log_prob_sum / tokens); end markers are tokens. 1 for no token.
double perplexity(double log_prob_sum, std::int64_t tokens);

}  // namespace regard::eval
