#include "regard/cli/train_progress.h"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

namespace regard::cli {
namespace {

constexpr double kRedrawSeconds = 0.5;
constexpr double kLineSeconds = 30.0;  // where there is no terminal

std::string duration(double seconds) {
  const long s = static_cast<long>(seconds + 0.5);
  char text[32];
  if (s < 60) {
    std::snprintf(text, sizeof text, "%lds", s);
  } else if (s < 3600) {
    std::snprintf(text, sizeof text, "%ldm%02lds", s / 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%ldh%02ldm", s / 3600, s / 60 % 60);
  }
  return text;
}

}  // namespace

TrainProgress::TrainProgress(const std::string& log_path, const std::string& metric)
    : metric_(metric), log_path_(log_path), terminal_(isatty(STDERR_FILENO) == 1) {
  if (log_path.empty()) return;
  log_.open(log_path, std::ios::app);
  if (!log_) throw std::system_error(errno, std::generic_category(), log_path);
}

void TrainProgress::clear_line() {
  if (line_open_) std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

void TrainProgress::note(const std::string& sentence) {
  clear_line();
  std::fprintf(stderr, "%s\n", sentence.c_str());
}

double TrainProgress::tokens_per_second() const {
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  return elapsed.count() > 0.0 ? tokens_ / elapsed.count() : 0.0;
}

void TrainProgress::draw(const UpdateInfo& info) {
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  const double done = info.progress - first_progress_;
  const double left = done > 0.0 ? elapsed.count() * (1.0 - info.progress) / done : 0.0;
  std::fprintf(stderr,
               "%sepoch %.2f  update %lld  loss %.3f  rate %.2g  %.0f tokens/s  at most %s left%s",
               terminal_ ? "\r\033[K" : "", info.epoch, static_cast<long long>(info.update),
               loss_tokens_ > 0.0 ? loss_sum_ / loss_tokens_ : 0.0, info.learning_rate,
               tokens_per_second(), duration(left).c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
  line_open_ = terminal_;
  last_draw_ = Clock::now();
}

void TrainProgress::update(const UpdateInfo& info) {
  if (first_progress_ < 0.0) first_progress_ = info.progress;
  tokens_ += static_cast<double>(info.source_tokens + info.target_tokens);
  loss_sum_ += info.loss_per_token * static_cast<double>(info.target_tokens);
  loss_tokens_ += static_cast<double>(info.target_tokens);
  if (info.skipped) {
    note("update " + std::to_string(info.update) +
         ": loss or gradient is not finite; skipped, and the rate halved");
  }
  const std::chrono::duration<double> since = Clock::now() - last_draw_;
  if (since.count() > (terminal_ ? kRedrawSeconds : kLineSeconds)) draw(info);
  if (!log_.is_open()) return;
  nlohmann::ordered_json j = {{"event", "update"},
                              {"update", info.update},
                              {"epoch", info.epoch},
                              {"loss", info.loss_per_token},
                              {"learning_rate", info.learning_rate},
                              {"gradient_norm", info.gradient_norm},
                              {"source_tokens", info.source_tokens},
                              {"target_tokens", info.target_tokens}};
  log(j.dump());
}

void TrainProgress::validation(const ValidationInfo& info) {
  clear_line();
  std::string metric;
  if (metric_ != "loss") {
    char text[64];
    std::snprintf(text, sizeof text, "  dev %s %.2f", metric_.c_str(), info.metric);
    metric = text;
  }
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  std::fprintf(
      stderr, "epoch %.2f  update %lld  train loss %.3f  dev loss %.4f%s%s  (%s, %.0f tokens/s)\n",
      info.epoch, static_cast<long long>(info.update),
      loss_tokens_ > 0.0 ? loss_sum_ / loss_tokens_ : 0.0, info.loss_per_token, metric.c_str(),
      info.best ? "  best" : "", duration(elapsed.count()).c_str(), tokens_per_second());
  loss_sum_ = loss_tokens_ = 0.0;
  if (!log_.is_open()) return;
  nlohmann::ordered_json j = {{"event", "validation"},
                              {"update", info.update},
                              {"epoch", info.epoch},
                              {"dev_loss", info.loss_per_token},
                              {"metric", info.metric},
                              {"best", info.best},
                              {"patience_used", info.patience_used}};
  log(j.dump());
}

void TrainProgress::log(const std::string& json) {
  log_ << json << '\n' << std::flush;
  if (!log_) throw std::system_error(errno, std::generic_category(), log_path_);
}

}  // namespace regard::cli
