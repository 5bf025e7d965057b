// What people see of a command that works line by line: warnings, progress, a summary, all on
// standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "regard/text/tokenizer.h"
#include "regard/translate/record.h"

namespace regard::cli {

// "1h05m", "3m20s", "12s".
std::string duration_text(double seconds);
// With a comma every three digits.
std::string count_text(std::uint64_t n);

class LineReport {
 public:
  // `total_bytes` of the input, 0 if not known; `source_kind` decides which unseen tokens are worth
  // a warning each: characters, not words.
  LineReport(bool quiet, std::uint64_t total_bytes, TokenKind source_kind);
  ~LineReport() { clear_line(); }
  LineReport(const LineReport&) = delete;
  LineReport& operator=(const LineReport&) = delete;

  void note(const std::string& sentence);
  // The records of one line (one, or an n-best list).
  void add(const std::vector<Record>& records, std::int64_t wanted = 1);
  void add_bytes(std::uint64_t n) { bytes_ += n; }
  // Redraws the progress line, where standard error is a terminal and results go elsewhere.
  void draw();
  void finish();

 private:
  void clear_line();
  void warn_unseen(const Record& record);
  double seconds() const;

  using Clock = std::chrono::steady_clock;
  bool quiet_, terminal_;
  bool line_open_ = false;
  std::uint64_t total_bytes_, bytes_ = 0;
  TokenKind source_kind_;
  Clock::time_point start_ = Clock::now();
  std::set<std::string> seen_symbols_;
  std::uint64_t lines_ = 0, blank_ = 0, cut_ = 0, unseen_ = 0, copied_ = 0;
  std::uint64_t stopped_ = 0, repeated_ = 0, empty_ = 0, fewer_ = 0;
};

// The size of a regular file that holds plain text; 0 for anything else.
std::uint64_t plain_file_bytes(const std::string& path);

}  // namespace regard::cli
