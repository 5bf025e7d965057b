#include "regard/cli/compare_progress.h"

#include <unistd.h>

#include <cstdio>

#include "regard/cli/line_report.h"
#include "regard/view/format.h"

namespace regard::cli {
namespace {

constexpr double kRedrawSeconds = 0.5;
constexpr double kLineSeconds = 30.0;  // where there is no terminal

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

CompareProgress::CompareProgress() : terminal_(isatty(STDERR_FILENO) == 1) {}

std::string CompareProgress::place() const {
  return std::to_string(current_) + "/" + std::to_string(trials_) + " " + name_ + ": ";
}

void CompareProgress::print(const std::string& line, bool stays) {
  std::fprintf(stderr, "%s%s%s", line_open_ ? "\r\033[K" : "", line.c_str(),
               stays || !terminal_ ? "\n" : "");
  std::fflush(stderr);
  line_open_ = terminal_ && !stays;
  last_draw_ = Clock::now();
}

void CompareProgress::note(const std::string& sentence) {
  if (current_ <= 1) print(sentence, true);
}

void CompareProgress::begin(const std::string& name) {
  ++current_;
  name_ = name;
  entry_start_ = Clock::now();
}

void CompareProgress::end(const std::string& result) {
  const double took = seconds(Clock::now() - entry_start_);
  if (!result.empty()) {
    training_seconds_ += took;
    ++trained_;
    print(place() + result + "  (" + duration_text(took) + ")", true);
  } else {
    print(place() + "refused", true);
  }
}

void CompareProgress::update(const UpdateInfo& info) {
  const Clock::time_point now = Clock::now();
  if (seconds(now - last_draw_) < (terminal_ ? kRedrawSeconds : kLineSeconds)) return;
  // This entry and those to come take what an entry has taken so far.
  const double here = seconds(now - entry_start_);
  const double each = (training_seconds_ + here) / (trained_ + info.progress);
  const double left = each * (trials_ - current_ + 1 - info.progress);
  print(place() + "epoch " + fixed_number(info.epoch, 2) + "  update " +
            std::to_string(info.update) + "  loss " + fixed_number(info.loss_per_token, 3) +
            "  about " + duration_text(left) + " left",
        false);
}

}  // namespace regard::cli
