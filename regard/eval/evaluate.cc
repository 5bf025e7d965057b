#include "regard/eval/evaluate.h"

#include <algorithm>
#include <array>
#include <map>

#include "regard/base/assert.h"
#include "regard/base/error.h"
#include "regard/base/math.h"
#include "regard/eval/alignment_error.h"
#include "regard/eval/bleu.h"
#include "regard/eval/chrf.h"
#include "regard/eval/edit_distance.h"
#include "regard/eval/unicode.h"
#include "regard/text/cleanup.h"
#include "regard/text/links.h"
#include "regard/text/utf8.h"

namespace regard::eval {
namespace {

using Tokens = std::vector<std::u32string>;
using Text = std::vector<std::u32string>;  // lines

struct MetricInfo {
  std::string_view name;
  bool higher_is_better;
};
constexpr std::array<MetricInfo, 8> kMetrics = {{{"bleu", true},
                                                 {"chrf", true},
                                                 {"chrf++", true},
                                                 {"exact", true},
                                                 {"wer", false},
                                                 {"ser", false},
                                                 {"cer", false},
                                                 {"aer", false}}};

const MetricInfo& find_metric(std::string_view name) {
  for (const MetricInfo& metric : kMetrics) {
    if (metric.name == name) return metric;
  }
  std::string known;
  for (const MetricInfo& metric : kMetrics) {
    known += (known.empty() ? "" : ", ") + std::string(metric.name);
  }
  throw ConfigError("evaluate: unknown metric '" + std::string(name) + "'; known: " + known);
}

[[noreturn]] void throw_data_error(const std::string& message) {
  throw FormatError(FormatError::Kind::kData, message);
}

void check_items(const Lines& hypotheses, const References& references) {
  if (hypotheses.size() != references.size()) {
    throw_data_error("evaluate: " + std::to_string(hypotheses.size()) + " hypotheses but " +
                     std::to_string(references.size()) +
                     " items with references; need one for one");
  }
  if (hypotheses.empty()) throw_data_error("evaluate: there is no line to evaluate");
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (references[i].empty()) {
      throw_data_error("evaluate: item " + std::to_string(i + 1) + " has no reference");
    }
  }
}

std::u32string read_line(const std::string& line, bool lowercase) {
  std::u32string text = decode_utf8(line);
  return lowercase ? lower_case(text) : text;
}

Text read_lines(const Lines& lines, bool lowercase) {
  Text text;
  text.reserve(lines.size());
  for (const std::string& line : lines) text.push_back(read_line(line, lowercase));
  return text;
}

double bleu(const Lines& hypotheses, const References& references, const EvalOptions& options) {
  Bleu bleu;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<Tokens> tokens;
    for (const std::u32string& line : read_lines(references[i], options.lowercase)) {
      tokens.push_back(tokenize(line, options.tokenization));
    }
    bleu.add(tokenize(read_line(hypotheses[i], options.lowercase), options.tokenization), tokens);
  }
  return bleu.score();
}

double chrf(const Lines& hypotheses, const References& references, bool lowercase, int word_order) {
  Chrf chrf(6, word_order);
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    chrf.add(read_line(hypotheses[i], lowercase), read_lines(references[i], lowercase));
  }
  return chrf.score();
}

// The form in which exact, ser and cer compare lines: cleaned as models clean them by default.
std::u32string plain_line(const std::string& line, bool lowercase) {
  std::string text = line;
  repair_utf8(text);
  return read_line(clean_text(text, CleanupRule::kNfcSpaces), lowercase);
}

Text plain_lines(const Lines& lines, bool lowercase) {
  Text text;
  for (const std::string& line : lines) text.push_back(plain_line(line, lowercase));
  return text;
}

double exact(const Lines& hypotheses, const References& references, bool lowercase) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const Text answers = plain_lines(references[i], lowercase);
    const std::u32string given = plain_line(hypotheses[i], lowercase);
    if (std::find(answers.begin(), answers.end(), given) != answers.end()) ++right;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(hypotheses.size());
}

double token_error_rate(const Lines& hypotheses, const References& references, bool lowercase) {
  ErrorRate rate;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    std::vector<Tokens> answers;
    for (const std::u32string& line : plain_lines(references[i], lowercase)) {
      answers.push_back(split_white_space(line));
    }
    rate.add_tokens(split_white_space(plain_line(hypotheses[i], lowercase)), answers);
  }
  return rate.score();
}

double character_error_rate(const Lines& hypotheses, const References& references, bool lowercase) {
  ErrorRate rate;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    rate.add(plain_line(hypotheses[i], lowercase), plain_lines(references[i], lowercase));
  }
  return rate.score();
}

Scores alignment_scores(const Lines& hypotheses, const References& references,
                        const EvalOptions& options) {
  AlignmentError errors;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    if (references[i].size() != 1) {
      throw ConfigError("evaluate: aer takes one line of gold links for each item; item " +
                        std::to_string(i + 1) + " has " + std::to_string(references[i].size()));
    }
    const std::string line = " line " + std::to_string(i + 1);
    errors.add(parse_links(hypotheses[i], "hypothesis" + line),
               parse_gold_links(references[i][0], "gold" + line, options.first_gold_word));
  }
  return {{"aer", errors.score()}, {"precision", errors.precision()}, {"recall", errors.recall()}};
}

double text_score(std::string_view metric, const Lines& hypotheses, const References& references,
                  const EvalOptions& options) {
  const bool lowercase = options.lowercase;
  if (metric == "bleu") return bleu(hypotheses, references, options);
  if (metric == "chrf") return chrf(hypotheses, references, lowercase, 0);
  if (metric == "chrf++") return chrf(hypotheses, references, lowercase, 2);
  if (metric == "exact") return exact(hypotheses, references, lowercase);
  if (metric == "wer") return 100.0 - exact(hypotheses, references, lowercase);
  if (metric == "ser") return token_error_rate(hypotheses, references, lowercase);
  REGARD_ASSERT(metric == "cer");
  return character_error_rate(hypotheses, references, lowercase);
}

std::size_t count_words(const std::string& line) {
  return split_white_space(plain_line(line, false)).size();
}

std::string bucket_label(const std::vector<std::size_t>& last_lengths, std::size_t bucket) {
  const std::size_t first = bucket == 0 ? 1 : last_lengths[bucket - 1] + 1;
  if (bucket == last_lengths.size()) return std::to_string(first) + "+";
  const std::size_t last = last_lengths[bucket];
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

}  // namespace

std::vector<std::string> parse_metrics(std::string_view comma_separated) {
  std::vector<std::string> metrics;
  std::size_t begin = 0;
  while (begin <= comma_separated.size()) {
    const std::size_t end = std::min(comma_separated.find(',', begin), comma_separated.size());
    std::string name(comma_separated.substr(begin, end - begin));
    find_metric(name);
    if (std::find(metrics.begin(), metrics.end(), name) != metrics.end()) {
      throw ConfigError("evaluate: metric '" + name + "' is given twice");
    }
    metrics.push_back(std::move(name));
    begin = end + 1;
  }
  return metrics;
}

bool higher_is_better(std::string_view metric) { return find_metric(metric).higher_is_better; }

Scores evaluate(const std::vector<std::string>& metrics, const Lines& hypotheses,
                const References& references, const EvalOptions& options) {
  for (const std::string& metric : metrics) find_metric(metric);
  const bool wants_links = std::find(metrics.begin(), metrics.end(), "aer") != metrics.end();
  if (wants_links && metrics.size() > 1) {
    throw ConfigError("evaluate: aer reads links, the other metrics read text; ask for one kind");
  }
  check_items(hypotheses, references);
  if (wants_links) return alignment_scores(hypotheses, references, options);
  Scores scores;
  for (const std::string& metric : metrics) {
    scores.emplace_back(metric, text_score(metric, hypotheses, references, options));
  }
  return scores;
}

References join_references(const std::vector<Lines>& files) {
  if (files.empty()) throw ConfigError("evaluate: there is no file of references");
  for (std::size_t f = 1; f < files.size(); ++f) {
    if (files[f].size() != files[0].size()) {
      throw_data_error("evaluate: reference file 1 has " + std::to_string(files[0].size()) +
                       " lines, reference file " + std::to_string(f + 1) + " has " +
                       std::to_string(files[f].size()));
    }
  }
  References references(files[0].size());
  for (std::size_t i = 0; i < references.size(); ++i) {
    for (const Lines& file : files) references[i].push_back(file[i]);
  }
  return references;
}

GroupedRows group_by_source(const Lines& sources, const Lines& targets) {
  if (sources.size() != targets.size()) {
    throw_data_error("evaluate: " + std::to_string(sources.size()) + " sources but " +
                     std::to_string(targets.size()) + " targets; need one for one");
  }
  GroupedRows rows;
  std::map<std::string_view, std::size_t> items;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto [item, is_new] = items.emplace(sources[i], rows.sources.size());
    if (is_new) {
      rows.sources.push_back(sources[i]);
      rows.references.emplace_back();
      rows.first_rows.push_back(i);
    }
    rows.references[item->second].push_back(targets[i]);
  }
  return rows;
}

std::vector<LengthBucket> evaluate_by_length(const std::vector<std::string>& metrics,
                                             const Lines& sources, const Lines& hypotheses,
                                             const References& references,
                                             const EvalOptions& options,
                                             const std::vector<std::size_t>& last_lengths) {
  check_items(hypotheses, references);
  if (sources.size() != hypotheses.size()) {
    throw_data_error("evaluate: " + std::to_string(sources.size()) + " sources but " +
                     std::to_string(hypotheses.size()) + " hypotheses; need one for one");
  }
  std::size_t previous = 0;
  for (const std::size_t last : last_lengths) {
    if (last <= previous) throw ConfigError("evaluate: bucket lengths must ascend from at least 1");
    previous = last;
  }
  // Bucket 0 holds the sources without a word; the others follow.
  struct Part {
    Lines hypotheses;
    References references;
  };
  std::vector<Part> parts(last_lengths.size() + 2);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t words = count_words(sources[i]);
    const auto bucket = std::lower_bound(last_lengths.begin(), last_lengths.end(), words);
    Part& part =
        parts[words == 0 ? 0 : static_cast<std::size_t>(bucket - last_lengths.begin()) + 1];
    part.hypotheses.push_back(hypotheses[i]);
    part.references.push_back(references[i]);
  }
  std::vector<LengthBucket> buckets;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::size_t items = parts[p].hypotheses.size();
    if (p == 0 && items == 0) continue;
    LengthBucket bucket{p == 0 ? "0" : bucket_label(last_lengths, p - 1), items, {}};
    if (items > 0) {
      bucket.scores = evaluate(metrics, parts[p].hypotheses, parts[p].references, options);
    }
    buckets.push_back(std::move(bucket));
  }
  return buckets;
}

double perplexity(double log_prob_sum, std::int64_t tokens) {
  return tokens == 0 ? 1.0 : exp_double(-log_prob_sum / static_cast<double>(tokens));
}

}  // namespace regard::eval
