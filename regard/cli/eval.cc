// regard eval: how good translations are, by the metrics of the field.
#include <CLI/CLI.hpp>
#include <memory>

#include "regard/base/error.h"
#include "regard/cli/arguments.h"
#include "regard/cli/chunks.h"
#include "regard/cli/command.h"
#include "regard/cli/line_report.h"
#include "regard/cli/output.h"
#include "regard/eval/evaluate.h"
#include "regard/translate/translator.h"
#include "regard/view/format.h"

namespace regard::cli {
namespace {

struct EvalArguments {
  CommonArguments common;
  SearchArguments search;
  LengthArguments length;
  std::vector<std::string> files;
  std::string source, metrics = "bleu,chrf", tokenize = "13a";
  bool lowercase = false, by_length = false, group = false, gold_from_one = false, swap = false;
};

// What is compared: sources are empty where they are not known.
struct Items {
  eval::Lines sources, hypotheses;
  eval::References references;
};

eval::Lines read_text(const std::string& path) {
  TextReader reader(path);
  eval::Lines lines;
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

Items read_hypotheses(const EvalArguments& a) {
  if (a.files.size() < 2) {
    throw ConfigError("eval takes HYP and one or more REF, or -m MODEL and one file of pairs");
  }
  if ((a.by_length || a.group) && a.source.empty()) {
    throw ConfigError("--by-length and --group need the sources: give their file with --source");
  }
  Items items;
  items.hypotheses = read_text(a.files[0]);
  std::vector<eval::Lines> references;
  for (std::size_t f = 1; f < a.files.size(); ++f) references.push_back(read_text(a.files[f]));
  items.references = eval::join_references(references);
  if (items.references.size() != items.hypotheses.size()) {
    throw FormatError(FormatError::Kind::kData,
                      a.files[0] + " has " + std::to_string(items.hypotheses.size()) + " lines, " +
                          a.files[1] + " has " + std::to_string(items.references.size()));
  }
  if (a.source.empty()) return items;
  items.sources = read_text(a.source);
  if (items.sources.size() != items.hypotheses.size()) {
    throw FormatError(FormatError::Kind::kData,
                      a.source + " has " + std::to_string(items.sources.size()) + " lines, " +
                          a.files[0] + " has " + std::to_string(items.hypotheses.size()));
  }
  return items;
}

Items translate_pairs(const EvalArguments& a) {
  if (a.files.size() > 1) throw ConfigError("eval -m takes one file of pairs");
  const Translator translator(a.common.model);
  TranslateOptions options = a.search.options;
  options.length_penalty = a.length.penalty;
  options.formula = length_formula_from_name(a.length.formula);
  Threads threads(a.common.threads);
  translator.translate({}, options, threads);
  PairArguments input;
  input.swap = a.swap;
  if (!a.files.empty()) input.input.pairs = a.files[0];
  PairReader reader = open_pairs(input, translator.model().source_tokens.cleanup_rule());
  LineReport report(a.common.quiet, plain_file_bytes(input.input.pairs),
                    translator.model().source_tokens.kind());
  Chunks<Pair> chunks([&](Pair& pair) { return reader.next(pair); }, [] { return true; });
  Items items;
  for (std::vector<Pair> pairs; chunks.read(pairs);) {
    eval::Lines sources;
    for (Pair& p : pairs) {
      report.add_bytes(p.source.size() + p.target.size() + 2);
      sources.push_back(std::move(p.source));
      items.references.push_back({std::move(p.target)});
    }
    for (const std::vector<Record>& records : translator.translate(sources, options, threads)) {
      items.hypotheses.push_back(records[0].target);
      report.add(records);
    }
    options.first_line += static_cast<Index>(sources.size());
    items.sources.insert(items.sources.end(), sources.begin(), sources.end());
    report.draw();
  }
  for (const std::string& note : reader.report().notes) report.note(note);
  report.finish();
  return items;
}

// Rows with equal source become one item with all their references; the hypothesis is that of the
// first row.
Items group_rows(const Items& rows) {
  Items items;
  eval::Lines first_references;
  for (const eval::Lines& r : rows.references) first_references.push_back(r[0]);
  const eval::GroupedRows grouped = eval::group_by_source(rows.sources, first_references);
  items.sources = grouped.sources;
  items.references = grouped.references;
  for (const std::size_t row : grouped.first_rows) {
    items.hypotheses.push_back(rows.hypotheses[row]);
  }
  return items;
}

void print(const eval::Scores& scores, const std::string& suffix, const std::string& tail,
           Output& output) {
  for (const auto& [metric, value] : scores) {
    output.line(metric + suffix + '\t' + fixed_number(value, 2) + tail);
  }
}

void evaluate(EvalArguments& a, Output& output) {
  const std::vector<std::string> metrics = eval::parse_metrics(a.metrics);
  eval::EvalOptions options;
  options.tokenization = eval::parse_tokenization(a.tokenize);
  options.lowercase = a.lowercase;
  options.first_gold_word = a.gold_from_one ? 1 : 0;
  if (a.group && a.files.size() > 2) throw ConfigError("--group takes one file of references");
  Items items = a.common.model.empty() ? read_hypotheses(a) : translate_pairs(a);
  if (a.group) items = group_rows(items);
  print(eval::evaluate(metrics, items.hypotheses, items.references, options), "", "", output);
  if (!a.by_length) return;
  for (const eval::LengthBucket& bucket : eval::evaluate_by_length(
           metrics, items.sources, items.hypotheses, items.references, options)) {
    print(bucket.scores, "/" + bucket.label, '\t' + std::to_string(bucket.items), output);
  }
}

}  // namespace

Run add_eval(CLI::App& app) {
  auto a = std::make_unique<EvalArguments>();
  CLI::App* c = app.add_subcommand("eval", "how good translations are; prints metric TAB per cent");
  c->add_option("FILES", a->files, "HYP REF..., or with -m a file of pairs (source TAB target)");
  add_common(*c, a->common);
  c->get_option("--model")->required(false)->description("translate the sources of PAIRS first");
  c->add_option("--metric", a->metrics,
                "bleu, chrf, chrf++, exact, wer (100 - exact: a line is an "
                "item), ser, cer, aer")
      ->type_name("NAMES")
      ->capture_default_str();
  c->add_option("--tokenize", a->tokenize, "of bleu: 13a, intl, char or none")
      ->type_name("NAME")
      ->capture_default_str();
  c->add_flag("--lowercase", a->lowercase, "both sides, before anything else");
  c->add_flag("--by-length", a->by_length,
              "and by words of the source: metric/1-8 TAB value TAB lines");
  c->add_flag("--group", a->group, "rows with equal source are references of one item");
  c->add_option("--source", a->source, "the sources of HYP, for --by-length and --group")
      ->type_name("F");
  c->add_flag("--swap", a->swap, "with -m: sources and targets change places");
  c->add_flag("--gold-from-one", a->gold_from_one, "aer: words of REF are counted from 1");
  add_beam(*c, a->search);
  add_length(*c, a->length);
  add_limits(*c, a->search);
  add_batch_tokens(*c, a->search.options.batch_tokens);
  return [a = std::move(a)] { return with_output([&](Output& output) { evaluate(*a, output); }); };
}

}  // namespace regard::cli
