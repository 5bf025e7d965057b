#include "regard/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <thread>

namespace regard::cli {

void add_common(CLI::App& command, CommonArguments& a) {
  a.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  command.add_option("-m,--model", a.model, "the model file")->required()->type_name("MODEL");
  command.add_option("--threads", a.threads, "results don't depend on it")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("-q,--quiet", a.quiet, "no progress, warnings or summary on standard error");
}

void add_beam(CLI::App& command, SearchArguments& a) {
  command.add_option("--beam", a.options.beam, "hypotheses kept at each step; 1 is greedy")
      ->type_name("K")
      ->capture_default_str();
}

void add_limits(CLI::App& command, SearchArguments& a) {
  command
      .add_option("--max-length", a.options.max_length, "output tokens; 0: 3 x source tokens + 50")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--min-length", a.options.min_length, "output tokens; 0 lets it say nothing")
      ->type_name("N")
      ->capture_default_str();
  add_max_source_length(command, a.options.max_source_length);
  command.add_flag("--bar-unknown", a.options.bar_unknown,
                   "never write the unknown word (else it becomes a copy of a source word)");
}

void add_length(CLI::App& command, LengthArguments& a) {
  a.penalty_option = command
                         .add_option("--length-penalty", a.penalty,
                                     "A: score = log p / lp(T), lp = T^A; 0: log p alone")
                         ->type_name("A")
                         ->capture_default_str();
  a.formula_option =
      command.add_option("--length-formula", a.formula, "power: T^A; gnmt: ((5 + T) / 6)^A")
          ->check(CLI::IsMember({"power", "gnmt"}))
          ->type_name("NAME")
          ->capture_default_str();
}

bool LengthArguments::given() const {
  return penalty_option->count() + formula_option->count() > 0;
}

void add_batch_tokens(CLI::App& command, Index& batch_tokens) {
  command
      .add_option("--batch-tokens", batch_tokens,
                  "padded tokens that run together; results don't depend on it")
      ->type_name("N")
      ->capture_default_str();
}

void add_max_source_length(CLI::App& command, Index& length) {
  command.add_option("--max-source-length", length, "tokens; a longer source is cut, and flagged")
      ->type_name("N")
      ->capture_default_str();
}

void add_pairs(CLI::App& command, PairArguments& a) {
  command.add_option("PAIRS", a.input.pairs,
                     "source TAB target a line; .gz, .zst, or standard input (-, default)");
  command.add_option("--source", a.input.source, "instead of PAIRS: a file of sources")
      ->type_name("F");
  command.add_option("--target", a.input.target, "and one of targets, line by line")
      ->type_name("F");
  command.add_flag("--swap", a.swap, "sources and targets change places");
}

PairReader open_pairs(const PairArguments& a, CleanupRule cleanup) {
  PairInput input = a.input;
  if (input.pairs.empty() && input.source.empty() && input.target.empty()) input.pairs = "-";
  CorpusOptions options;
  options.swap = a.swap;
  options.keep_blank = true;
  options.cleanup = cleanup;
  return PairReader(input, options);
}

bool reads_files_alone(const PairArguments& a) {
  const PairInput& in = a.input;
  const bool none = in.pairs.empty() && in.source.empty() && in.target.empty();
  return !none && in.pairs != "-" && in.source != "-" && in.target != "-";
}

}  // namespace regard::cli
