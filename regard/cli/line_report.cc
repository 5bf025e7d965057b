#include "regard/cli/line_report.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "regard/text/utf8.h"
#include "regard/text/vocabulary.h"
#include "regard/translate/flags.h"
#include "regard/view/cells.h"
#include "regard/view/format.h"

namespace regard::cli {
namespace {

constexpr std::size_t kMostWarnings = 20;  // of a kind

bool has_flag(const Record& record, std::string_view flag) {
  return std::find(record.flags.begin(), record.flags.end(), flag) != record.flags.end();
}

std::string code_point_text(char32_t c) {
  std::string digits(8, '\0');
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::uint32_t>(c), 16)
          .ptr;
  digits.resize(static_cast<std::size_t>(end - digits.data()));
  for (char& d : digits) d = static_cast<char>(d >= 'a' ? d - 'a' + 'A' : d);
  return "U+" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::string plural(std::uint64_t n, const char* noun) {
  return count_text(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::max(0.0, seconds) + 0.5);
  const auto two = [](std::uint64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  if (s < 60) return std::to_string(s) + "s";
  if (s < 3600) return std::to_string(s / 60) + "m" + two(s % 60) + "s";
  return std::to_string(s / 3600) + "h" + two(s / 60 % 60) + "m";
}

std::string count_text(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::uint64_t plain_file_bytes(const std::string& path) {
  if (path.empty() || path == "-" || path.ends_with(".gz") || path.ends_with(".zst")) return 0;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return 0;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  return ignored ? 0 : size;
}

LineReport::LineReport(bool quiet, std::uint64_t total_bytes, TokenKind source_kind)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0),
      total_bytes_(total_bytes),
      source_kind_(source_kind) {}

double LineReport::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void LineReport::clear_line() {
  if (line_open_) std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

void LineReport::note(const std::string& sentence) {
  if (quiet_) return;
  clear_line();
  std::fprintf(stderr, "%s\n", sentence.c_str());
}

// Characters that the model was never trained on, one warning each: a person can mend those. Words
// that it never saw are everyday life, and only counted.
void LineReport::warn_unseen(const Record& record) {
  unseen_ += record.unseen.size();
  if (source_kind_ == TokenKind::kWord) return;
  for (const std::string& text : record.unseen) {
    for (std::size_t position = 0; position < text.size();) {
      const std::size_t begin = position;
      const char32_t c = next_code_point(text, position);
      const std::string symbol = text.substr(begin, position - begin);
      if (!seen_symbols_.insert(symbol).second) continue;
      if (seen_symbols_.size() <= kMostWarnings) {
        note("line " + std::to_string(record.line) + ": the model has never seen '" +
             visible_text(symbol) + "' (" + code_point_text(c) +
             "); it is read as the unknown token");
      } else if (seen_symbols_.size() == kMostWarnings + 1) {
        note("further symbols that the model has never seen are only counted");
      }
    }
  }
}

void LineReport::add(const std::vector<Record>& records, std::int64_t wanted) {
  ++lines_;
  const Record& record = records.front();
  if (record.blank) {
    ++blank_;
    return;
  }
  warn_unseen(record);
  if (has_flag(record, flag::kCutSource)) {
    if (++cut_ <= kMostWarnings) {
      note("line " + std::to_string(record.line) + ": its " +
           count_text(static_cast<std::uint64_t>(record.source_length)) +
           " tokens were cut to the first " +
           count_text(static_cast<std::uint64_t>(record.source_read)) + " (--max-source-length)");
    } else if (cut_ == kMostWarnings + 1) {
      note("further lines that were cut are only counted");
    }
  }
  if (has_flag(record, flag::kUnknown)) {
    copied_ += static_cast<std::uint64_t>(
        std::count(record.target_ids.begin(), record.target_ids.end(), kUnknownId));
  }
  stopped_ += has_flag(record, flag::kMaxLength);
  repeated_ += has_flag(record, flag::kRepeated);
  empty_ += has_flag(record, flag::kEmpty);
  fewer_ += static_cast<std::int64_t>(records.size()) < wanted;
}

void LineReport::draw() {
  if (quiet_ || !terminal_) return;
  const double s = seconds();
  const double rate = s > 0.0 ? static_cast<double>(lines_) / s : 0.0;
  std::string text = plural(lines_, "line") + "  " + fixed_number(rate, 1) + " lines/s";
  if (total_bytes_ > 0 && bytes_ > 0) {
    const double done =
        std::min(1.0, static_cast<double>(bytes_) / static_cast<double>(total_bytes_));
    constexpr int kBar = 30;
    const auto full = static_cast<std::size_t>(done * kBar);
    text = "[" + std::string(full, '#') + std::string(kBar - full, '.') + "] " +
           fixed_number(100.0 * done, 0) + " %  " + text + "  " +
           duration_text(s * (1.0 - done) / done) + " left";
  }
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  line_open_ = true;
}

void LineReport::finish() {
  clear_line();
  if (quiet_) return;
  const double s = seconds();
  std::string text = plural(lines_, "line");
  if (blank_ > 0) text += " (" + count_text(blank_) + " blank)";
  text += " in " + fixed_number(s, 2) + " s, " +
          fixed_number(s > 0.0 ? static_cast<double>(lines_) / s : 0.0, 1) + " lines/s";
  const auto add = [&](std::uint64_t n, const std::string& what) {
    if (n > 0) text += "; " + what;
  };
  add(cut_, plural(cut_, "source") + " cut");
  add(unseen_, plural(unseen_, "source token") + " never seen");
  add(copied_, plural(copied_, "unknown token") + " replaced by a copy");
  add(stopped_, count_text(stopped_) + " stopped at the length limit");
  add(repeated_, count_text(repeated_) + " repetitive");
  add(empty_, count_text(empty_) + " empty");
  add(fewer_, plural(fewer_, "line") + " with fewer hypotheses than asked for");
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace regard::cli
