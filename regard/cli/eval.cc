#include "regard/cli/arguments.h"
#include "regard/cli/command.h"
namespace regard::cli {
Run add_eval(CLI::App& app) {
  app.add_subcommand("eval", "");
  return [] { return 1; };
}
}  // namespace regard::cli
