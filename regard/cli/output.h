// Standard output: results only.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace regard::cli {

// Buffers lines and writes them straight to the descriptor, so that every failure is seen.
class Output {
 public:
  // Errors of both: std::system_error; ReaderGone when nobody reads the pipe any more.
  void line(std::string_view text);
  void text(std::string_view text);
  void flush();

  struct ReaderGone {};

 private:
  std::string buffer_;
};

// Runs `body` and writes out what it gave, also when it ends with an error. A reader that went away
// ends it quietly: a person who piped into `head` got what was asked for. Returns the exit code 0.
int with_output(const std::function<void(Output&)>& body);

}  // namespace regard::cli
