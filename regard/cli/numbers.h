// Numbers as results print them: with a point, whatever the locale.
#pragma once

#include <string>

namespace regard::cli {

// The shortest digits that read back to the same double.
std::string shortest_number(double value);

}  // namespace regard::cli
