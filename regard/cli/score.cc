// regard score: how likely a model finds each target, given its source.
#include <CLI/CLI.hpp>
#include <memory>

#include "regard/cli/arguments.h"
#include "regard/cli/command.h"
#include "regard/cli/numbers.h"
#include "regard/cli/pair_lines.h"
#include "regard/translate/record_json.h"
#include "regard/translate/translator.h"

namespace regard::cli {
namespace {

struct ScoreArguments {
  CommonArguments common;
  PairArguments pairs;
  LengthArguments length;
  ScoreOptions options;
  bool json = false;
};

void score(ScoreArguments& a, Output& output) {
  const Translator translator(a.common.model);
  ScoreOptions& options = a.options;
  options.length_penalty = a.length.penalty;
  options.formula = length_formula_from_name(a.length.formula);
  options.with_attention = a.json;
  Threads threads(a.common.threads);
  for_pairs(
      {a.common, a.pairs, translator, output},
      [&](const std::vector<Pair>& pairs, Index first_line) {
        options.first_line = first_line;
        return translator.score(pairs, options, threads);
      },
      [&](const Record& r) {
        if (a.json) return to_json(r);
        if (r.blank) return std::string();
        return shortest_number(a.length.given() ? r.score : r.log_prob);
      });
}

}  // namespace

Run add_score(CLI::App& app) {
  auto a = std::make_unique<ScoreArguments>();
  CLI::App* c = app.add_subcommand(
      "score", "log p of each target, given its source; with a length option its score");
  add_pairs(*c, a->pairs);
  add_common(*c, a->common);
  add_length(*c, a->length);
  add_max_source_length(*c, a->options.max_source_length);
  add_batch_tokens(*c, a->options.batch_tokens);
  c->add_flag("--json", a->json, "a record a line: one log p a token, attention, flags");
  return [a = std::move(a)] { return with_output([&](Output& output) { score(*a, output); }); };
}

}  // namespace regard::cli
