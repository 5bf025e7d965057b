// What people and log files see of a training run.
#pragma once

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "regard/train/trainer.h"

namespace regard::cli {

// Sentences and a progress line on standard error (redrawn on a terminal, now and then a line
// elsewhere); JSON lines in a file when asked for.
class TrainProgress : public TrainObserver {
 public:
  // `log_path` empty: no file; else lines are appended, so that a resumed run goes on in its file.
  // Errors: std::system_error with the path.
  TrainProgress(const std::string& log_path, const std::string& metric);

  void note(const std::string& sentence) override;
  void update(const UpdateInfo& info) override;
  void validation(const ValidationInfo& info) override;

 private:
  double tokens_per_second() const;
  void clear_line();
  void draw(const UpdateInfo& info);
  void log(const std::string& json);

  using Clock = std::chrono::steady_clock;
  std::string metric_;
  std::ofstream log_;
  std::string log_path_;
  bool terminal_;
  bool line_open_ = false;
  Clock::time_point start_ = Clock::now(), last_draw_ = Clock::now();
  double first_progress_ = -1.0;
  double tokens_ = 0.0;
  // Since the last line that stays.
  double loss_sum_ = 0.0, loss_tokens_ = 0.0;
};

}  // namespace regard::cli
