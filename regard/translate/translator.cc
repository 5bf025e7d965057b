#include "regard/translate/translator.h"

#include <limits>

#include "regard/base/error.h"
#include "regard/base/float_environment.h"
#include "regard/text/batching.h"
#include "regard/translate/flags.h"
#include "regard/translate/forced.h"
#include "regard/translate/lines.h"

namespace regard {
namespace {

void require_at_least(const char* option, Index value, Index least) {
  if (value < least) {
    throw ConfigError(std::string(option) + " is " + std::to_string(value) +
                      "; it takes at least " + std::to_string(least));
  }
}

void check(const TranslateOptions& o) {
  require_at_least("--beam", o.beam, 1);
  require_at_least("--nbest", o.nbest, 1);
  require_at_least("--max-length", o.max_length, 0);
  require_at_least("--min-length", o.min_length, 0);
  require_at_least("--max-source-length", o.max_source_length, 1);
  require_at_least("--batch-tokens", o.batch_tokens, 1);
  if (o.nbest > o.beam) {
    throw ConfigError("--nbest " + std::to_string(o.nbest) +
                      " needs a --beam of at least that; it is " + std::to_string(o.beam));
  }
  if (o.max_length > 0 && o.min_length > o.max_length) {
    throw ConfigError("--min-length " + std::to_string(o.min_length) + " is above --max-length " +
                      std::to_string(o.max_length));
  }
}

SearchOptions search_options(const TranslateOptions& o, const ModelConfig& config) {
  SearchOptions s;
  s.beam = o.beam;
  s.nbest = o.nbest;
  s.formula = o.formula;
  s.penalty = o.length_penalty;
  s.min_length = o.min_length;
  s.bar_unknown = o.bar_unknown || !config.has_attention();
  s.with_weights = o.with_attention && config.has_attention();
  return s;
}

void note_row_sums(const Model& model, Record& record) {
  if (!record.has_attention || model.network.config().rows_sum_to_one()) return;
  record.flags.emplace_back(flag::kFreeRowSums);
}

// What a hypothesis adds to what is known of the line.
void add_hypothesis(const Model& model, const SourceLine& source, Hypothesis hypothesis,
                    Record& record) {
  const std::vector<std::string> copies =
      copy_unknown(hypothesis.ids, hypothesis.best_column, source, model.source_tokens.kind(),
                   model.target_tokens.kind());
  TargetText target = write_target(model.target_tokens, hypothesis.ids, copies);
  record.target = std::move(target.text);
  record.target_tokens = std::move(target.tokens);
  record.score = hypothesis.score;
  record.log_prob = hypothesis.log_prob;
  record.token_log_probs = std::move(hypothesis.token_log_probs);
  record.stop = hypothesis.ended ? StopReason::kEnd : StopReason::kMaxLength;
  if (!hypothesis.weights.empty()) {
    record.has_attention = true;
    record.attention = {static_cast<Index>(record.target_tokens.size()),
                        static_cast<Index>(record.source_tokens.size()),
                        std::move(hypothesis.weights)};
  }
  note_row_sums(model, record);
  if (!copies.empty()) record.flags.emplace_back(flag::kUnknown);
  if (!hypothesis.ended) record.flags.emplace_back(flag::kMaxLength);
  if (flag::is_repetitive(hypothesis.ids)) record.flags.emplace_back(flag::kRepeated);
  if (record.target.empty()) record.flags.emplace_back(flag::kEmpty);
  record.target_ids = std::move(hypothesis.ids);
}

// All of one line. No hypothesis at all means that the model gave no number: an empty one, then.
std::vector<Record> make_records(const Model& model, const SourceLine& source, const Record& begun,
                                 std::vector<Hypothesis> hypotheses) {
  if (hypotheses.empty()) {
    Hypothesis none;
    none.log_prob = none.score = -std::numeric_limits<double>::infinity();
    hypotheses.push_back(std::move(none));
  }
  std::vector<Record> records;
  for (Hypothesis& h : hypotheses) {
    records.push_back(begun);
    records.back().rank = static_cast<int>(records.size());
    add_hypothesis(model, source, std::move(h), records.back());
  }
  return records;
}

// A pair as forced decoding sees it.
struct PairLines {
  SourceLine source;
  std::vector<Token> target;
  std::vector<std::int32_t> target_ids;
};

std::vector<PairLines> read_pair_lines(const Model& model, std::span<const Pair> pairs,
                                       Index max_source_length, Index first_line) {
  std::vector<PairLines> lines(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Index line = first_line + static_cast<Index>(i);
    lines[i].source = read_source(model.source_tokens, pairs[i].source, max_source_length, line);
    SourceLine target =
        read_source(model.target_tokens, pairs[i].target, std::numeric_limits<Index>::max(), line);
    lines[i].target = std::move(target.tokens);
    lines[i].target_ids = std::move(target.ids);
  }
  return lines;
}

// Forced decoding of the pairs that have a source; nothing for the others.
std::vector<ForcedResult> force_lines(const Model& model, const std::vector<PairLines>& lines,
                                      const ForcedOptions& options, Threads& threads) {
  std::vector<ForcedPair> pairs;
  for (const PairLines& l : lines) {
    if (!l.source.blank()) pairs.push_back({l.source.ids, l.target_ids});
  }
  std::vector<ForcedResult> found = force_pairs(model.network, pairs, options, threads);
  std::vector<ForcedResult> results(lines.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].source.blank()) results[i] = std::move(found[next++]);
  }
  return results;
}

// The source side and the target's tokens, ids and log-probabilities.
Record begin_pair_record(Index line, const Pair& pair, PairLines& lines, ForcedResult& forced) {
  Record record = begin_record(line, pair.source, lines.source);
  record.target = pair.target;
  if (record.blank) return record;
  record.target_tokens = record_tokens(lines.target, pair.target.size());
  record.target_ids = std::move(lines.target_ids);
  record.target_ids.push_back(kEndId);
  record.token_log_probs = std::move(forced.token_log_probs);
  for (const float x : record.token_log_probs) record.log_prob += static_cast<double>(x);
  return record;
}

void set_attention(Record& record, std::vector<float> weights) {
  record.has_attention = true;
  record.attention = {static_cast<Index>(record.target_tokens.size()),
                      static_cast<Index>(record.source_tokens.size()), std::move(weights)};
}

void add_alignment(Record& record, const PairLines& lines, std::vector<float> weights,
                   bool pieces) {
  const std::vector<AlignToken> source = align_tokens(lines.source.tokens);
  const std::vector<AlignToken> target = align_tokens(lines.target);
  AlignMatrix matrix{static_cast<Index>(target.size()), static_cast<Index>(source.size()),
                     std::move(weights)};
  record.has_links = true;
  if (pieces) {
    record.links = hard_links(matrix, source, target);
    record.dropped.assign(target.size(), 0.0F);
    set_attention(record, std::move(matrix.weights));
    return;
  }
  Alignment words = align_words(matrix, source, target);
  record.links = hard_links(words.matrix);
  record.dropped = std::move(words.dropped);
  record.token_log_probs = sum_per_word(record.token_log_probs, target);
  record.source_tokens = record_words(lines.source.tokens);
  record.target_tokens = record_words(lines.target);
  for (const std::uint8_t empty : words.empty) {
    if (empty == 0) continue;
    record.flags.emplace_back(flag::kLooksNowhere);
    break;
  }
  set_attention(record, std::move(words.matrix.weights));
}

void check_forced(Index max_source_length, Index batch_tokens) {
  require_at_least("--max-source-length", max_source_length, 1);
  require_at_least("--batch-tokens", batch_tokens, 1);
}

}  // namespace

LengthFormula length_formula_from_name(std::string_view name) {
  if (name == "power") return LengthFormula::kPower;
  if (name == "gnmt") return LengthFormula::kGnmt;
  throw ConfigError("length formula '" + std::string(name) + "' is unknown; choices: power, gnmt");
}

Translator::Translator(const std::string& model_path) : model_(load_model(model_path)) {}

Translator::Translator(std::unique_ptr<const Model> model) : model_(std::move(model)) {}

std::vector<std::vector<Record>> Translator::translate(std::span<const std::string> lines,
                                                       const TranslateOptions& options,
                                                       Threads& threads) const {
  return translate_lines(*model_, lines, options, threads);
}

std::vector<std::vector<Record>> translate_lines(const Model& model,
                                                 std::span<const std::string> lines,
                                                 const TranslateOptions& options,
                                                 Threads& threads) {
  check(options);
  const SearchOptions search = search_options(options, model.network.config());
  std::vector<SourceLine> sources(lines.size());
  std::vector<std::vector<Record>> records(lines.size());
  std::vector<std::uint32_t> lengths, line_of;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Index line = options.first_line + static_cast<Index>(i);
    sources[i] = read_source(model.source_tokens, lines[i], options.max_source_length, line);
    records[i].push_back(begin_record(line, lines[i], sources[i]));
    if (sources[i].blank()) continue;
    lengths.push_back(static_cast<std::uint32_t>(sources[i].ids.size() + 1));
    line_of.push_back(static_cast<std::uint32_t>(i));
  }
  const std::vector<Batch> batches =
      plan_decoding(lengths, batch_budget(lengths, options.batch_tokens, threads));
  std::vector<std::unique_ptr<SearchWorkspace>> workspaces(
      static_cast<std::size_t>(threads.count()));
  threads.run(static_cast<Index>(batches.size()), [&](Index b, int worker) {
    const FloatEnvironment environment;
    std::unique_ptr<SearchWorkspace>& workspace = workspaces[static_cast<std::size_t>(worker)];
    if (!workspace) workspace = std::make_unique<SearchWorkspace>(model.network);
    const Batch& batch = batches[static_cast<std::size_t>(b)];
    std::vector<SearchSentence> sentences;
    for (const std::uint32_t k : batch) {
      const std::vector<std::int32_t>& ids = sources[line_of[k]].ids;
      const Index longest = 3 * static_cast<Index>(ids.size()) + 50;
      sentences.push_back({ids, options.max_length > 0 ? options.max_length : longest});
    }
    std::vector<std::vector<Hypothesis>> found =
        beam_search(model.network, sentences, search, *workspace);
    for (std::size_t k = 0; k < batch.size(); ++k) {
      const std::uint32_t i = line_of[batch[k]];
      const Record begun = std::move(records[i][0]);
      records[i] = make_records(model, sources[i], begun, std::move(found[k]));
    }
  });
  return records;
}

std::vector<Record> Translator::score(std::span<const Pair> pairs, const ScoreOptions& options,
                                      Threads& threads) const {
  check_forced(options.max_source_length, options.batch_tokens);
  const Model& model = *model_;
  std::vector<PairLines> lines =
      read_pair_lines(model, pairs, options.max_source_length, options.first_line);
  ForcedOptions forced;
  forced.with_weights = options.with_attention && model.network.config().has_attention();
  forced.batch_tokens = options.batch_tokens;
  std::vector<ForcedResult> results = force_lines(model, lines, forced, threads);
  std::vector<Record> records;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Index line = options.first_line + static_cast<Index>(i);
    records.push_back(begin_pair_record(line, pairs[i], lines[i], results[i]));
    Record& record = records.back();
    if (record.blank) continue;
    record.score = record.log_prob / length_penalty(options.formula, options.length_penalty,
                                                    static_cast<Index>(record.target_ids.size()));
    if (forced.with_weights) set_attention(record, std::move(results[i].weights));
    note_row_sums(model, record);
  }
  return records;
}

std::vector<Record> Translator::align(std::span<const Pair> pairs, const AlignOptions& options,
                                      Threads& threads) const {
  check_forced(options.max_source_length, options.batch_tokens);
  const Model& model = *model_;
  if (!model.network.config().has_attention()) {
    throw ConfigError(
        "this model has the `fixed` decoder, which has no attention to align by: train one with "
        "--decoder luong, bahdanau or conditional");
  }
  std::vector<PairLines> lines =
      read_pair_lines(model, pairs, options.max_source_length, options.first_line);
  ForcedOptions forced;
  forced.with_weights = true;
  forced.shift = options.shift ? alignment_shift(model.network.config().decoder) : 0;
  forced.batch_tokens = options.batch_tokens;
  std::vector<ForcedResult> results = force_lines(model, lines, forced, threads);
  std::vector<Record> records;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Index line = options.first_line + static_cast<Index>(i);
    if (lines[i].target.empty()) lines[i].source = {};  // a blank side makes a blank record
    records.push_back(begin_pair_record(line, pairs[i], lines[i], results[i]));
    Record& record = records.back();
    record.has_links = true;
    if (record.blank) continue;
    record.score = record.log_prob / static_cast<double>(record.target_ids.size());
    add_alignment(record, lines[i], std::move(results[i].weights), options.pieces);
    note_row_sums(model, record);
  }
  return records;
}

}  // namespace regard
