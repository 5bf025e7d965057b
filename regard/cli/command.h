// A command adds its options to the program and hands back what to run; main.cc turns exceptions
// into exit codes.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace CLI {
class App;
}

namespace regard::cli {

// Does the work and returns the exit code (0, or 130/143 after a signal). Made of any callable,
// which owns the parsed options; std::function would have to copy them.
class Run {
 public:
  template <class Body>
  Run(Body body) : holder_(std::make_unique<Holder<Body>>(std::move(body))) {}
  int operator()() const { return holder_->run(); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual int run() = 0;
  };
  template <class Body>
  struct Holder final : Base {
    explicit Holder(Body given) : body(std::move(given)) {}
    int run() override { return body(); }
    Body body;
  };
  std::unique_ptr<Base> holder_;
};

// Each adds its subcommand to `app`. The returned function reads the parsed options.
Run add_train(CLI::App& app);
Run add_translate(CLI::App& app);
Run add_align(CLI::App& app);
Run add_show(CLI::App& app);
Run add_score(CLI::App& app);
Run add_eval(CLI::App& app);
Run add_info(CLI::App& app);
Run add_compare(CLI::App& app);

// Set by the first SIGINT or SIGTERM once watch_signals() was called; a second one ends the process
// at once.
const std::atomic<bool>& stop_flag();
void watch_signals();
// 130 or 143 after a signal, else 0.
int signal_exit_code();

}  // namespace regard::cli
