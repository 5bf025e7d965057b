#include "regard/text/corpus.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "regard/base/error.h"
#include "regard/text/utf8.h"

namespace regard {
namespace {

// U+200B, U+200C, U+200D, U+2060, U+FEFF.
constexpr std::array<std::string_view, 5> kZeroWidth = {
    "\xE2\x80\x8B", "\xE2\x80\x8C", "\xE2\x80\x8D", "\xE2\x81\xA0", kByteOrderMark};

std::uint64_t count_zero_width(std::string_view line) {
  std::uint64_t count = 0;
  for (const std::string_view character : kZeroWidth) {
    for (std::size_t at = line.find(character); at != std::string_view::npos;
         at = line.find(character, at + character.size())) {
      ++count;
    }
  }
  return count;
}

[[noreturn]] void throw_data(const std::string& message) {
  throw FormatError(FormatError::Kind::kData, message);
}

// "1 row" or "3 rows".
std::string amount(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

const PairInput& checked(const PairInput& input) {
  const bool two = !input.source.empty() && !input.target.empty();
  const bool any = !input.source.empty() || !input.target.empty();
  if (input.pairs.empty() ? !two : any) {
    throw ConfigError("pairs are either one TSV file, or a source file and a target file");
  }
  if (input.source == "-" && input.target == "-") {
    throw ConfigError("source and target can not both be standard input");
  }
  return input;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

TextReader::TextReader(const std::string& path, bool lenient) : reader_(path), lenient_(lenient) {}

bool TextReader::next(std::string& line) {
  if (!reader_.next(line)) return false;
  if (lenient_) {
    replaced_ += repair_utf8(line);
  } else if (const auto error = find_utf8_error(line)) {
    const bool after_mark = reader_.line_number() == 1 && reader_.dropped_byte_order_mark();
    const std::size_t offset = error->offset + (after_mark ? kByteOrderMark.size() : 0);
    throw_data(place() + ": byte offset " + std::to_string(offset) + ": " + describe(*error, line) +
               "; convert the file to UTF-8, or have such bytes replaced with --lenient");
  }
  zero_width_ += count_zero_width(line);
  return true;
}

std::vector<std::string> TextReader::notes() const {
  std::vector<std::string> notes;
  if (reader_.dropped_byte_order_mark()) {
    notes.push_back(name() + ": a byte order mark at the start was dropped");
  }
  if (replaced_ > 0) {
    notes.push_back(name() + ": U+FFFD was put in place of bytes that are not UTF-8 " +
                    amount(replaced_, "time"));
  }
  if (zero_width_ > 0) {
    notes.push_back(name() + ": " + amount(zero_width_, "zero-width character") +
                    " (U+200B to U+200D, U+2060, U+FEFF), kept like any other");
  }
  return notes;
}

std::uint64_t TextReader::count_rest() {
  std::uint64_t count = 0;
  for (std::string line; reader_.next(line);) ++count;
  return count;
}

PairReader::PairReader(const PairInput& input, const CorpusOptions& options)
    : options_(options),
      first_(checked(input).pairs.empty() ? input.source : input.pairs, options.lenient) {
  if (!input.pairs.empty()) return;
  second_.emplace(input.target, options.lenient);
  if (same_file(input.source, input.target)) {
    start_notes_.push_back("source and target are the same file, " + input.source);
  }
}

bool PairReader::next(Pair& pair) {
  while (second_ ? next_parallel(pair) : next_row(pair)) {
    const bool blank = is_blank_line(pair.source, options_.cleanup) ||
                       is_blank_line(pair.target, options_.cleanup);
    blank_side_ += blank ? 1 : 0;
    if (blank && !options_.keep_blank) continue;
    if (options_.swap) std::swap(pair.source, pair.target);
    ++kept_;
    return true;
  }
  return false;
}

bool PairReader::next_row(Pair& pair) {
  while (first_.next(line_)) {
    ++rows_;
    const auto tabs = std::count(line_.begin(), line_.end(), '\t');
    if (tabs == 1) {
      const std::size_t tab = line_.find('\t');
      pair.source.assign(line_, 0, tab);
      pair.target.assign(line_, tab + 1);
      return true;
    }
    if (tabs == 0 && is_blank_line(line_, options_.cleanup)) {
      pair = {};
      return true;
    }
    if (!options_.lenient) {
      throw_data(first_.place() + ": found " +
                 amount(static_cast<std::uint64_t>(tabs) + 1, "column") +
                 ", wanted 2 (source TAB target); mend the row, or have such rows skipped with "
                 "--lenient");
    }
    if (malformed_++ == 0) first_malformed_ = rows_;
  }
  return false;
}

bool PairReader::next_parallel(Pair& pair) {
  const bool source = first_.next(pair.source);
  const bool target = second_->next(pair.target);
  if (source && !target) throw_mismatch(first_, pair.source);
  if (target && !source) throw_mismatch(*second_, pair.target);
  rows_ += source ? 1 : 0;
  return source;
}

// `longer` has given one line more than the other, `extra`, and may have others.
void PairReader::throw_mismatch(TextReader& longer, const std::string& extra) {
  const std::uint64_t rest = longer.count_rest();
  std::string message =
      first_.name() + " and " + second_->name() +
      " do not have the same number of lines: " + std::to_string(first_.line_number()) +
      " against " + std::to_string(second_->line_number());
  if (rest == 0 && extra.empty()) {
    message += "; the last line of " + longer.name() + " is an extra empty line: remove it";
  } else {
    message += "; line N of one must be the translation of line N of the other";
  }
  throw_data(message);
}

CorpusReport PairReader::report() const {
  CorpusReport report;
  report.rows = rows_;
  report.kept = kept_;
  report.blank_side = blank_side_;
  report.malformed = malformed_;
  report.notes = start_notes_;
  const auto add = [&](const TextReader& reader) {
    report.replaced += reader.replaced();
    report.zero_width += reader.zero_width();
    for (auto& note : reader.notes()) report.notes.push_back(std::move(note));
  };
  add(first_);
  if (second_) add(*second_);
  if (malformed_ > 0) {
    report.notes.push_back(first_.name() + ": " + amount(malformed_, "row") +
                           " without exactly two columns skipped, the first is row " +
                           std::to_string(first_malformed_));
  }
  if (blank_side_ > 0) {
    report.notes.push_back(amount(blank_side_, "pair") + " with a blank side" +
                           (options_.keep_blank ? "" : " left out"));
  }
  return report;
}

std::vector<Pair> read_pairs(const PairInput& input, const CorpusOptions& options,
                             CorpusReport* report) {
  PairReader reader(input, options);
  std::vector<Pair> pairs;
  for (Pair pair; reader.next(pair);) pairs.push_back(pair);
  if (report != nullptr) *report = reader.report();
  return pairs;
}

}  // namespace regard
