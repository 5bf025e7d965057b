#include "regard/cli/arguments.h"
#include "regard/cli/command.h"
namespace regard::cli {
Run add_info(CLI::App& app) {
  app.add_subcommand("info", "");
  return [] { return 1; };
}
}  // namespace regard::cli
