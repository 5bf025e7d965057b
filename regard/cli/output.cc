#include "regard/cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace regard::cli {
namespace {

constexpr std::size_t kFull = 1 << 16;

}  // namespace

void Output::line(std::string_view line) {
  text(line);
  text("\n");
}

void Output::text(std::string_view text) {
  buffer_.append(text);
  if (buffer_.size() >= kFull) flush();
}

void Output::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = write(STDOUT_FILENO, buffer_.data() + done, buffer_.size() - done);
    if (n < 0) {
      if (errno == EINTR) continue;
      const int code = errno;
      buffer_.clear();
      if (code == EPIPE) throw ReaderGone{};
      throw std::system_error(code, std::generic_category(), "standard output");
    }
    done += static_cast<std::size_t>(n);
  }
  buffer_.clear();
}

int with_output(const std::function<void(Output&)>& body) {
  std::signal(SIGPIPE, SIG_IGN);
  Output output;
  try {
    try {
      body(output);
    } catch (const Output::ReaderGone&) {
      throw;
    } catch (...) {
      output.flush();
      throw;
    }
    output.flush();
  } catch (const Output::ReaderGone&) {
  }
  return 0;
}

}  // namespace regard::cli
