// regard translate: a line in, a line out, in order.
#include <CLI/CLI.hpp>
#include <memory>

#include "regard/cli/arguments.h"
#include "regard/cli/chunks.h"
#include "regard/cli/command.h"
#include "regard/cli/line_report.h"
#include "regard/cli/numbers.h"
#include "regard/cli/output.h"
#include "regard/text/corpus.h"
#include "regard/translate/record_json.h"
#include "regard/translate/translator.h"

namespace regard::cli {
namespace {

struct TranslateArguments {
  CommonArguments common;
  SearchArguments search;
  LengthArguments length;
  std::string file = "-";
  CLI::Option* nbest = nullptr;
  bool json = false, lenient = false;

  bool lists() const { return nbest->count() > 0; }
};

void print(const TranslateArguments& a, const std::vector<Record>& records, Output& output) {
  for (const Record& r : records) {
    if (a.json) {
      output.line(to_json(r));
    } else if (a.lists()) {
      output.line(std::to_string(r.line) + '\t' + std::to_string(r.rank) + '\t' +
                  (r.blank ? "" : shortest_number(r.score)) + '\t' + r.target);
    } else {
      output.line(r.target);
    }
  }
}

void translate(TranslateArguments& a, Output& output) {
  const Translator translator(a.common.model);
  TranslateOptions& options = a.search.options;
  options.length_penalty = a.length.penalty;
  options.formula = length_formula_from_name(a.length.formula);
  options.with_attention = a.json;
  Threads threads(a.common.threads);
  translator.translate({}, options, threads);  // refuses options before it reads anything

  TextReader reader(a.file, a.lenient);
  LineReport report(a.common.quiet, plain_file_bytes(a.file),
                    translator.model().source_tokens.kind());
  Chunks<std::string> chunks(
      [&](std::string& line) { return reader.next(line); },
      [&] { return a.file != "-" || reader.has_line() || standard_input_ready(); });
  for (std::vector<std::string> lines; chunks.read(lines);) {
    for (const std::vector<Record>& records : translator.translate(lines, options, threads)) {
      print(a, records, output);
      report.add(records, options.nbest);
    }
    output.flush();
    options.first_line += static_cast<Index>(lines.size());
    for (const std::string& line : lines) report.add_bytes(line.size() + 1);
    report.draw();
  }
  for (const std::string& note : reader.notes()) report.note(note);
  report.finish();
}

}  // namespace

Run add_translate(CLI::App& app) {
  auto a = std::make_unique<TranslateArguments>();
  CLI::App* c = app.add_subcommand("translate", "a line in, a line out");
  c->add_option("FILE", a->file, "text, a sentence a line; .gz, .zst; - is standard input")
      ->capture_default_str();
  add_common(*c, a->common);
  add_beam(*c, a->search);
  a->nbest = c->add_option("--nbest", a->search.options.nbest,
                           "prints lists: line TAB rank TAB score TAB text");
  a->nbest->type_name("N");
  add_length(*c, a->length);
  add_limits(*c, a->search);
  add_batch_tokens(*c, a->search.options.batch_tokens);
  c->add_flag("--json", a->json, "a record a line: tokens, scores, attention, flags");
  c->add_flag("--lenient", a->lenient, "bytes that are not UTF-8 become U+FFFD");
  return [a = std::move(a)] { return with_output([&](Output& output) { translate(*a, output); }); };
}

}  // namespace regard::cli
