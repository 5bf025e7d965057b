// The regard command: parses, runs one subcommand, turns exceptions into the exit codes of the
// manual.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "regard/base/error.h"
#include "regard/cli/command.h"
#include "regard/kernels/isa.h"

namespace regard::cli {
namespace {

std::atomic<bool> g_stop{false};
std::atomic<int> g_signal{0};

void on_signal(int signal) {
  if (g_stop.exchange(true)) _exit(128 + signal);
  g_signal.store(signal);
}

int report(const char* kind, const char* what, int code) {
  std::fprintf(stderr, "regard: %s%s\n", kind, what);
  return code;
}

int run_checked(const Run& run) {
  try {
    require_isa();
    return run();
  } catch (const ConfigError& e) {
    return report("", e.what(), 2);
  } catch (const ShapeError& e) {
    return report("", e.what(), 2);
  } catch (const FormatError& e) {
    return report("", e.what(), e.kind() == FormatError::Kind::kModel ? 4 : 3);
  } catch (const NumericError& e) {
    return report("", e.what(), 6);
  } catch (const std::system_error& e) {
    return report("", e.what(), 5);
  } catch (const std::bad_alloc&) {
    return report("", "out of memory: fewer --batch-tokens or a smaller model need less", 5);
  } catch (const std::exception& e) {
    return report("unexpected: ", e.what(), 1);
  }
}

int main_checked(int argc, char** argv) {
  CLI::App app{
      "regard: sequence-to-sequence with attention, on the CPU you have.\n"
      "Trains a model from pairs of lines, translates, aligns, and shows where the model looked."};
  app.name("regard");
  app.require_subcommand(1);
  app.set_version_flag("--version", "regard " REGARD_VERSION);
  using Add = Run (*)(CLI::App&);
  std::vector<std::pair<const char*, Run>> commands;
  for (const auto& [name, add] :
       std::initializer_list<std::pair<const char*, Add>>{{"train", add_train},
                                                          {"translate", add_translate},
                                                          {"align", add_align},
                                                          {"show", add_show},
                                                          {"score", add_score},
                                                          {"eval", add_eval},
                                                          {"info", add_info},
                                                          {"compare", add_compare}}) {
    commands.emplace_back(name, add(app));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  }
  for (const auto& [name, run] : commands) {
    if (app.got_subcommand(name)) return run_checked(run);
  }
  return 2;
}

}  // namespace

const std::atomic<bool>& stop_flag() { return g_stop; }

void watch_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

int signal_exit_code() { return g_signal.load() == 0 ? 0 : 128 + g_signal.load(); }

}  // namespace regard::cli

int main(int argc, char** argv) { return regard::cli::main_checked(argc, argv); }
