#include "regard/cli/chunks.h"

#include <poll.h>
#include <unistd.h>

namespace regard::cli {

bool standard_input_ready() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) != 0;
}

}  // namespace regard::cli
