// What is known of the terminal that standard output goes to.
#pragma once

#include <string>

#include "regard/view/terminal.h"

namespace regard::cli {

// `color` is auto (a terminal without NO_COLOR), always or never.
TerminalOptions terminal_options(const std::string& color, bool ascii);

}  // namespace regard::cli
