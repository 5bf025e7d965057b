// What people see while entries of a comparison are trained one after another.
#pragma once

#include <chrono>
#include <string>

#include "regard/train/trainer.h"

namespace regard::cli {

// On standard error: a line that is redrawn on a terminal, now and then a line elsewhere, and one
// that stays when an entry is done.
class CompareProgress : public TrainObserver {
 public:
  CompareProgress();

  // That many more than before.
  void expect(int trials) { trials_ += trials; }
  void begin(const std::string& name);
  // Empty: refused.
  void end(const std::string& result);

  // What a run tells of itself is the same for all of them: only the first one is heard.
  void note(const std::string& sentence) override;
  void update(const UpdateInfo& info) override;
  void validation(const ValidationInfo&) override {}

 private:
  using Clock = std::chrono::steady_clock;
  std::string place() const;
  void print(const std::string& line, bool stays);

  bool terminal_, line_open_ = false;
  int trials_ = 0, current_ = 0;
  std::string name_;
  Clock::time_point start_ = Clock::now(), entry_start_ = start_, last_draw_ = start_;
  double training_seconds_ = 0.0;  // of entries that were not refused
  int trained_ = 0;
};

}  // namespace regard::cli
