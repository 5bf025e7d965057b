// Commands that take pairs and print a line for each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "regard/cli/arguments.h"
#include "regard/cli/output.h"
#include "regard/translate/translator.h"

namespace regard::cli {

struct PairCommand {
  const CommonArguments& common;
  const PairArguments& pairs;
  const Translator& translator;
  Output& output;
};

// Reads pairs in chunks, has `work` make their records (the second argument is the number of the
// first line) and prints what `print` makes of each; reports on standard error. `work` is called
// once without pairs before anything is read, so that it can refuse its options.
void for_pairs(const PairCommand& command,
               const std::function<std::vector<Record>(const std::vector<Pair>&, Index)>& work,
               const std::function<std::string(const Record&)>& print);

}  // namespace regard::cli
