#include "regard/cli/arguments.h"
#include "regard/cli/command.h"
namespace regard::cli {
Run add_show(CLI::App& app) {
  app.add_subcommand("show", "");
  return [] { return 1; };
}
}  // namespace regard::cli
