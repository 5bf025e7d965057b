#include "regard/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace regard::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

int columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view text = environment("COLUMNS");
  int given = 0;
  std::from_chars(text.data(), text.data() + text.size(), given);
  return given > 0 ? given : TerminalOptions{}.width;
}

bool wants_color(const std::string& color) {
  if (color != "auto") return color == "always";
  return isatty(STDOUT_FILENO) == 1 && environment("NO_COLOR").empty() &&
         environment("TERM") != "dumb";
}

}  // namespace

TerminalOptions terminal_options(const std::string& color, bool ascii) {
  TerminalOptions options;
  options.ascii = ascii;
  options.width = columns();
  if (wants_color(color)) {
    const std::string_view depth = environment("COLORTERM");
    options.color =
        depth == "truecolor" || depth == "24bit" ? TerminalColor::kTruecolor : TerminalColor::k256;
  }
  return options;
}

}  // namespace regard::cli
