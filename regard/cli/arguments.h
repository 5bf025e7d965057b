// Options that several commands share, each declared once.
#pragma once

#include <string>

#include "regard/text/corpus.h"
#include "regard/translate/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace regard::cli {

// -m, --threads, -q.
struct CommonArguments {
  std::string model;
  int threads = 1;  // add_common() sets the number of processors
  bool quiet = false;
};
void add_common(CLI::App& command, CommonArguments& a);

// --beam, --max-length, ...: how translate, show and eval search.
struct SearchArguments {
  TranslateOptions options;
  std::string formula = "power";
};
void add_beam(CLI::App& command, SearchArguments& a);
void add_limits(CLI::App& command, SearchArguments& a);
// --length-penalty, --length-formula. True if one of them was given.
struct LengthArguments {
  double penalty = 1.0;
  std::string formula = "power";
  CLI::Option* penalty_option = nullptr;
  CLI::Option* formula_option = nullptr;
  bool given() const;
};
void add_length(CLI::App& command, LengthArguments& a);

void add_batch_tokens(CLI::App& command, Index& batch_tokens);
void add_max_source_length(CLI::App& command, Index& length);

// PAIRS, or --source and --target; --swap.
struct PairArguments {
  PairInput input;
  bool swap = false;
};
void add_pairs(CLI::App& command, PairArguments& a);
// Opens them: standard input without any. Blank sides are kept, so that line numbers agree.
PairReader open_pairs(const PairArguments& a, CleanupRule cleanup);
// False if standard input is a side.
bool reads_files_alone(const PairArguments& a);

}  // namespace regard::cli
