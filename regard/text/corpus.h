// Corpora: lines that are sure to be UTF-8, and pairs of them.
//
// Strict (default): a bad byte or a malformed row is an error that names file, row and byte.
// Lenient: a bad byte becomes U+FFFD, a malformed row is skipped, and both are counted. Either way
// every line of a file is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "regard/text/cleanup.h"
#include "regard/text/line_reader.h"

namespace regard {

// Lines of a path (or "-") that are well-formed UTF-8.
class TextReader {
 public:
  // Errors: as LineReader.
  explicit TextReader(const std::string& path, bool lenient = false);

  // The next line; false at the end.
  // Errors: as LineReader; FormatError (data) with file, line and byte offset for a bad byte,
  // unless lenient.
  bool next(std::string& line);

  // As LineReader::has_line.
  bool has_line() const { return reader_.has_line(); }

  std::uint64_t line_number() const { return reader_.line_number(); }
  const std::string& name() const { return reader_.name(); }
  std::string place() const { return reader_.place(); }

  std::uint64_t replaced() const { return replaced_; }      // U+FFFD put in place of bad bytes
  std::uint64_t zero_width() const { return zero_width_; }  // U+200B..D, U+2060, U+FEFF: kept

  // Sentences for people about what was dropped, replaced or odd so far.
  std::vector<std::string> notes() const;

  // Reads and counts the lines that are left, whatever they hold.
  std::uint64_t count_rest();

 private:
  LineReader reader_;
  bool lenient_;
  std::uint64_t replaced_ = 0;
  std::uint64_t zero_width_ = 0;
};

struct Pair {
  std::string source;
  std::string target;
  bool operator==(const Pair&) const = default;
};

// Where pairs are: one TSV file (source TAB target), or two parallel files.
struct PairInput {
  std::string pairs;   // a path or "-"; empty if the other two are given
  std::string source;  // a path or "-"
  std::string target;
};

struct CorpusOptions {
  bool lenient = false;
  bool swap = false;        // source and target change places
  bool keep_blank = false;  // pairs with a blank side are given, not left out (align, score)
  CleanupRule cleanup = CleanupRule::kNfcSpaces;  // says what is blank
};

struct CorpusReport {
  std::uint64_t rows = 0;          // rows read
  std::uint64_t kept = 0;          // pairs given
  std::uint64_t blank_side = 0;    // pairs with a blank side, given or not
  std::uint64_t malformed = 0;     // rows skipped for their columns
  std::uint64_t replaced = 0;      // U+FFFD put in place of bad bytes
  std::uint64_t zero_width = 0;    // zero-width characters, kept
  std::vector<std::string> notes;  // sentences for people about all that is not ordinary
};

// Pairs, one after another, as raw lines. In a TSV file a row has exactly two columns; a row with
// nothing but blanks and no TAB is a pair of two blank sides. In parallel files TAB is a blank.
class PairReader {
 public:
  // Errors: ConfigError unless either `pairs` or both of the others are given, or if both sides are
  // standard input; std::system_error as LineReader.
  PairReader(const PairInput& input, const CorpusOptions& options);

  // The next pair; false at the end.
  // Errors: FormatError (data): bad bytes and wrong columns unless lenient, files of different
  // length always.
  bool next(Pair& pair);

  // Is a row at hand, so that next() will not wait for input?
  bool has_row() const { return first_.has_line() && (!second_ || second_->has_line()); }

  // The row of the last pair, from 1.
  std::uint64_t row() const { return rows_; }

  // What has been seen so far; complete at the end.
  CorpusReport report() const;

 private:
  bool next_row(Pair& pair);
  bool next_parallel(Pair& pair);
  [[noreturn]] void throw_mismatch(TextReader& longer, const std::string& extra);

  CorpusOptions options_;
  TextReader first_;                  // the TSV file, or the source side
  std::optional<TextReader> second_;  // the target side
  std::string line_;
  std::vector<std::string> start_notes_;
  std::uint64_t rows_ = 0;
  std::uint64_t kept_ = 0;
  std::uint64_t blank_side_ = 0;
  std::uint64_t malformed_ = 0;
  std::uint64_t first_malformed_ = 0;
};

// All pairs of an input. Errors: as PairReader.
std::vector<Pair> read_pairs(const PairInput& input, const CorpusOptions& options,
                             CorpusReport* report = nullptr);

}  // namespace regard
