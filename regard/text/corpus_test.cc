#include "regard/text/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <system_error>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"

namespace regard {
namespace {

using Pairs = std::vector<Pair>;

// The message of the data error that reading gives; "" for none.
std::string error_of(const PairInput& input, const CorpusOptions& options = {}) {
  try {
    read_pairs(input, options);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kData);
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool has_note(const CorpusReport& report, const std::string& part) {
  return std::any_of(report.notes.begin(), report.notes.end(),
                     [&](const std::string& note) { return has(note, part); });
}

class CorpusTest : public ScratchFolder {
 protected:
  PairInput tsv(const std::string& bytes) const { return {write("x.tsv", bytes), "", ""}; }
  PairInput parallel(const std::string& source, const std::string& target) const {
    return {"", write("x.src", source), write("x.tgt", target)};
  }
};

TEST_F(CorpusTest, RowsAndParallelFilesGiveTheSamePairs) {
  const Pairs expected = {{"a b", "c"}, {"d", "e f"}};
  CorpusReport report;
  EXPECT_EQ(read_pairs(tsv("a b\tc\r\nd\te f"), {}, &report), expected);
  EXPECT_EQ(report.rows, 2u);
  EXPECT_EQ(report.kept, 2u);
  EXPECT_TRUE(report.notes.empty());
  EXPECT_EQ(read_pairs(parallel("a b\nd\n", "c\ne f"), {}), expected);
  CorpusOptions swapped;
  swapped.swap = true;
  EXPECT_EQ(read_pairs(tsv("c\ta b\ne f\td\n"), swapped), expected);
  EXPECT_EQ(read_pairs(parallel("c\ne f\n", "a b\nd\n"), swapped), expected);
}

TEST_F(CorpusTest, ARowWithoutExactlyTwoColumnsIsAnErrorWithItsNumber) {
  const std::string three = error_of(tsv("a\tb\nc\td\te\n"));
  EXPECT_TRUE(has(three, "x.tsv:2: found 3 columns, wanted 2")) << three;
  EXPECT_TRUE(has(three, "--lenient")) << three;
  EXPECT_TRUE(has(error_of(tsv("one\n")), "x.tsv:1: found 1 column,"));
  CorpusOptions lenient;
  lenient.lenient = true;
  CorpusReport report;
  EXPECT_EQ(read_pairs(tsv("a\tb\nc\td\te\none\nf\tg\n"), lenient, &report),
            (Pairs{{"a", "b"}, {"f", "g"}}));
  EXPECT_EQ(report.rows, 4u);
  EXPECT_EQ(report.malformed, 2u);
  EXPECT_TRUE(has_note(report, "2 rows without exactly two columns skipped, the first is row 2"));
}

TEST_F(CorpusTest, PairsWithABlankSideAreLeftOutAndCountedOrKept) {
  const auto input = tsv("a\tb\nc\t\n\t\xC2\xA0\n\n \nd\te\n");
  CorpusReport report;
  EXPECT_EQ(read_pairs(input, {}, &report), (Pairs{{"a", "b"}, {"d", "e"}}));
  EXPECT_EQ(report.rows, 6u);
  EXPECT_EQ(report.blank_side, 4u);
  EXPECT_TRUE(has_note(report, "4 pairs with a blank side left out"));
  CorpusOptions keep;
  keep.keep_blank = true;
  EXPECT_EQ(read_pairs(input, keep, &report),
            (Pairs{{"a", "b"}, {"c", ""}, {"", "\xC2\xA0"}, {"", ""}, {"", ""}, {"d", "e"}}));
  EXPECT_EQ(report.kept, 6u);
}

TEST_F(CorpusTest, TabIsPartOfTheTextInParallelFiles) {
  EXPECT_EQ(read_pairs(parallel("a\tb c\n", "c b\ta\n"), {}), (Pairs{{"a\tb c", "c b\ta"}}));
}

TEST_F(CorpusTest, FilesOfDifferentLengthAreRefusedWithBothPathsAndCounts) {
  std::string source;
  std::string target;
  for (int i = 1; i <= 2000; ++i) {
    source += "s\n";
    if (i != 468) target += "t\n";
  }
  for (const bool lenient : {false, true}) {
    CorpusOptions options;
    options.lenient = lenient;
    const std::string message = error_of(parallel(source, target), options);
    EXPECT_TRUE(has(message, "x.src") && has(message, "x.tgt")) << message;
    EXPECT_TRUE(has(message, "2000 against 1999")) << message;
  }
  EXPECT_TRUE(has(error_of(parallel("a\n", "a\nb\nc\n")), "1 against 3"));
  EXPECT_TRUE(has(error_of(parallel("", "a\n")), "0 against 1"));
  const std::string extra = error_of(parallel("a\nb\n", "a\nb\n\n"));
  EXPECT_TRUE(has(extra, "2 against 3")) << extra;
  EXPECT_TRUE(has(extra, "x.tgt is an extra empty line")) << extra;
  EXPECT_FALSE(has(error_of(parallel("a\nb\n", "a\nb\n\n\n")), "extra"));
}

TEST_F(CorpusTest, OneFileForBothSidesIsAllowedWithANote) {
  const auto path = write("x", "a\n");
  CorpusReport report;
  EXPECT_EQ(read_pairs({"", path, folder() + "/./x"}, {}, &report), (Pairs{{"a", "a"}}));
  EXPECT_TRUE(has_note(report, "the same file"));
}

TEST_F(CorpusTest, EachBadByteIsAnErrorWithFileRowAndByte) {
  const std::vector<std::string> bad = {"\xFF", "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80",
                                        std::string(1, '\0')};
  std::string before;
  for (int i = 1; i < 700; ++i) before += "a\tb\n";
  for (const auto& bytes : bad) {
    const auto input = tsv(before + "ab\tc" + bytes + "\n" + before);
    const std::string message = error_of(input);
    EXPECT_TRUE(has(message, "x.tsv:700: byte offset 4: ")) << message;
    CorpusOptions lenient;
    lenient.lenient = true;
    CorpusReport report;
    const Pairs pairs = read_pairs(input, lenient, &report);
    EXPECT_EQ(report.rows, 1399u);
    EXPECT_EQ(pairs.size(), 1399u);
    EXPECT_GE(report.replaced, 1u);
    EXPECT_EQ(pairs[699].target.substr(0, 4), "c\xEF\xBF\xBD");
    EXPECT_TRUE(has_note(report, "U+FFFD"));
  }
  EXPECT_TRUE(has(error_of(parallel("a\nb\n", "a\nb\xFF\n")), "x.tgt:2: byte offset 1: byte FF"));
  EXPECT_TRUE(has(error_of(tsv("\xEF\xBB\xBF"
                               "a\xFF\tb\n")),
                  "byte offset 4"));
}

TEST_F(CorpusTest, AByteOrderMarkGoesAtTheStartAndStaysInside) {
  const std::string mark = "\xEF\xBB\xBF";
  CorpusReport report;
  const auto clean = read_pairs(tsv("a\tb\nc\td\n"), {});
  EXPECT_EQ(read_pairs(tsv(mark + "a\tb\nc\td\n"), {}, &report), clean);
  EXPECT_TRUE(has_note(report, "byte order mark at the start was dropped"));
  EXPECT_EQ(report.zero_width, 0u);
  EXPECT_EQ(read_pairs(parallel(mark + "a\nc\n", mark + "b\nd\n"), {}, &report), clean);
  EXPECT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(read_pairs(tsv("a\tb\n" + mark + "c\td\n"), {}, &report)[1].source, mark + "c");
  EXPECT_EQ(report.zero_width, 1u);
  EXPECT_TRUE(has_note(report, "1 zero-width character "));
}

TEST_F(CorpusTest, RareSeparatorsMakeNoRows) {
  const auto input = tsv("a\xE2\x80\xA8x\tb\na\xC2\x85\tb\na\v\tb\na\f\tb\na\x1E\tb\n");
  EXPECT_EQ(read_pairs(input, {}).size(), 5u);
}

TEST_F(CorpusTest, InputsThatMakeNoSenseAreRefused) {
  const auto path = write("x", "a\tb\n");
  EXPECT_THROW(read_pairs({}, {}), ConfigError);
  EXPECT_THROW(read_pairs({"", path, ""}, {}), ConfigError);
  EXPECT_THROW(read_pairs({path, path, path}, {}), ConfigError);
  EXPECT_THROW(read_pairs({"", "-", "-"}, {}), ConfigError);
  EXPECT_THROW(read_pairs({folder(), "", ""}, {}), std::system_error);
  EXPECT_THROW(read_pairs({"", path, folder()}, {}), std::system_error);
  EXPECT_THROW(read_pairs({folder() + "/missing", "", ""}, {}), std::system_error);
}

TEST_F(CorpusTest, TextLinesAreCheckedOneByOne) {
  TextReader reader(write("x", "fine\nb\xFFz\n"));
  std::string line;
  EXPECT_TRUE(reader.next(line));
  EXPECT_EQ(line, "fine");
  EXPECT_THROW(reader.next(line), FormatError);
  TextReader lenient(write("x", "fine\nb\xFFz\n"), true);
  lenient.next(line);
  EXPECT_TRUE(lenient.next(line));
  EXPECT_EQ(line, "b\xEF\xBF\xBDz");
  EXPECT_EQ(lenient.replaced(), 1u);
  EXPECT_EQ(lenient.line_number(), 2u);
}

}  // namespace
}  // namespace regard
