// Which members of the axes go together. Whatever is refused is refused here, before any work.
#pragma once

#include "regard/attention/attention.h"

namespace regard::attention {

// Throws ConfigError, naming `function`, the member and why it has no meaning.
void check_axes(const char* function, const Attention& attention);

// The same for what one call gives and asks for: outputs, or gradients that come back from them.
struct Request {
  bool log_sum_exp = false;
  bool next_state = false;
  bool softmax_stats = false;
};
void check_request(const char* function, const Attention& attention, const QueryRows& queries,
                   const Request& request);

}  // namespace regard::attention
