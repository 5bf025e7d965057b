#include "regard/view/terminal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "regard/base/error.h"
#include "regard/view/cells.h"
#include "regard/view/test_records.h"

namespace regard {
namespace {

using testing_records::bread;
using testing_records::has_direction_control;
using testing_records::joined;
using testing_records::left_to_right_words;
using testing_records::lines_of;
using testing_records::many_words;
using testing_records::record_of;

constexpr const char* kFrame = "\u2502";

std::string without_colors(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// The columns at which `mark` stands in a line.
std::vector<int> columns_of(const std::string& line, const std::string& mark) {
  std::vector<int> columns;
  for (std::size_t at = line.find(mark); at != line.npos; at = line.find(mark, at + 1)) {
    columns.push_back(display_width(line.substr(0, at)));
  }
  return columns;
}

TerminalOptions bare(int width) {
  TerminalOptions options;
  options.width = width;
  options.heading = false;
  options.legend = false;
  return options;
}

TEST(Terminal, FirstPictureLooksLikeThis) {
  EXPECT_EQ(
      render_terminal(bread()),
      "  read   nous mangeons du pain\n"
      "  wrote  we are eating bread\n"
      "\n"
      "             nous    mangeons     du       pain     (end)\n"
      "      we \u2502[\u2588\u2588\u2588\u2588\u2588 93]        4         1         1         1\n"
      "     are \u2502 \u2591\u2591\u2591\u2591\u2591 21 [\u2593\u2593\u2593\u2593\u2593 72]       "
      " 3         2         2\n"
      "  eating \u2502        2 [\u2588\u2588\u2588\u2588\u2588 91]        4         2         1\n"
      "   bread \u2502        1         3  \u2592\u2592\u2592\u2592\u2592 38 "
      "[\u2593\u2593\u2593\u2593\u2593 57]        1\n"
      "   (end) \u2502        \u00b7         1         2         3 [\u2588\u2588\u2588\u2588\u2588 "
      "94]\n"
      "\n"
      "  Columns: what the model read. Rows: what it wrote. Each row says where it\n"
      "  looked, in per cent, while it wrote that word.\n"
      "  0 \u00b7\u2591\u2592\u2593\u2588 100 %, [ ] or \u25b8 the largest of its row\n");
}

TEST(Terminal, HeadingAndLegendCanBeLeftOut) {
  TerminalOptions options;
  options.heading = false;
  EXPECT_EQ(render_terminal(bread(), options).find("wrote  we"), std::string::npos);
  EXPECT_NE(render_terminal(bread(), options).find("Columns: what"), std::string::npos);
  options.legend = false;
  EXPECT_EQ(render_terminal(bread(), options).find("Columns: what"), std::string::npos);
}

TEST(Terminal, PlainPictureHasNoEscapeSequence) {
  for (const int width : {40, 80, 200}) {
    TerminalOptions options;
    options.width = width;
    EXPECT_EQ(render_terminal(record_of(many_words(), many_words()), options).find('\x1b'),
              std::string::npos);
  }
}

TEST(Terminal, AsciiPictureOfAsciiWordsIsAscii) {
  TerminalOptions options;
  options.ascii = true;
  for (const int width : {40, 80}) {
    options.width = width;
    const std::string text = render_terminal(bread(), options);
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
      return c == '\n' || (c >= ' ' && c <= '~');
    })) << text;
  }
}

TEST(Terminal, ColumnsOfAnyScriptLineUp) {
  // Brackets mark the largest weight of a row, here the diagonal; each must open where its column
  // does.
  const auto words = left_to_right_words();
  const auto lines = lines_of(render_terminal(record_of(words, words), bare(120)));
  ASSERT_EQ(lines.size(), words.size() + 2);
  const int frame = columns_of(lines[1], kFrame).at(0);
  std::vector<int> opens;
  for (std::size_t r = 1; r < lines.size(); ++r) {
    EXPECT_EQ(columns_of(lines[r], kFrame), std::vector<int>{frame}) << lines[r];
    const auto open = columns_of(lines[r], "[");
    const auto close = columns_of(lines[r], "]");
    ASSERT_EQ(open.size(), 1U);
    ASSERT_EQ(close.size(), 1U);
    if (!opens.empty()) {
      EXPECT_GT(open[0], opens.back());
    }
    opens.push_back(open[0]);
    // Its label, in the header, lies between the brackets.
    const std::string label = r <= words.size() ? words[r - 1] : "(end)";
    const int at = columns_of(lines[0], label).at(0);
    EXPECT_GT(at, open[0] - 1) << label;
    EXPECT_LE(at + display_width(label), close[0] + 1) << label;
  }
  for (std::size_t r = 1; r < opens.size(); ++r)
    EXPECT_EQ(opens[r] - opens[r - 1], opens[1] - opens[0]);
}

TEST(Terminal, NoLineIsWiderThanAskedFor) {
  std::vector<std::string> longer;
  for (int i = 0; i < 5; ++i) {
    for (const std::string& word : left_to_right_words()) longer.push_back(word);
  }
  std::vector<std::string> rtl(30, "\u0646\u0623\u0643\u0644");
  for (const auto& source : {many_words(), longer, rtl, std::vector<std::string>(300, "x"),
                             std::vector<std::string>{"one"}}) {
    for (const auto& target : {many_words(), rtl}) {
      for (int width = 40; width <= 130; width += 7) {
        for (const TerminalColor color : {TerminalColor::kNone, TerminalColor::kTruecolor}) {
          TerminalOptions options;
          options.width = width;
          options.color = color;
          for (const std::string& line :
               lines_of(without_colors(render_terminal(record_of(source, target), options)))) {
            ASSERT_LE(display_width(line), width) << line;
          }
        }
      }
    }
  }
}

TEST(Terminal, ShowsTheSameCellsWithAndWithoutColor) {
  TerminalOptions options = bare(80);
  options.color = TerminalColor::kTruecolor;
  const std::string colored = render_terminal(bread(), options);
  EXPECT_NE(colored.find("\x1b[48;2;"), std::string::npos);
  options.color = TerminalColor::k256;
  const std::string table = render_terminal(bread(), options);
  EXPECT_NE(table.find("\x1b[48;5;"), std::string::npos);
  EXPECT_EQ(table.find("\x1b[48;2;"), std::string::npos);
  EXPECT_EQ(without_colors(colored), without_colors(table));
  for (const char* number : {"93", "21", "72", "91", "38", "57", "94"}) {
    EXPECT_NE(without_colors(colored).find(number), std::string::npos) << number;
  }
  // Every line that changes the colours ends with the terminal's own.
  for (const std::string& line : lines_of(colored)) {
    if (line.find('\x1b') != line.npos) {
      EXPECT_EQ(line.rfind('\x1b'), line.rfind("\x1b[0m")) << line;
    }
  }
}

TEST(Terminal, LongSourceStandsUprightInNarrowColumns) {
  std::vector<std::string> words(30, "wort");
  const auto lines = lines_of(render_terminal(record_of(words, {"word"}), bare(80)));
  ASSERT_EQ(lines.size(), 5U + 2U);  // the letters of "(end)", two rows
  EXPECT_EQ(columns_of(lines[1], "w").size(), 30U);
  EXPECT_EQ(columns_of(lines[4], "t").size(), 30U);
}

TEST(Terminal, TooManyColumnsAreCutIntoBands) {
  const std::string text =
      render_terminal(record_of(std::vector<std::string>(100, "w"), {"word"}), bare(80));
  EXPECT_NE(text.find("columns 1 to "), std::string::npos);
  EXPECT_NE(text.find(" to 101 of 101"), std::string::npos);
}

TEST(Terminal, RightToLeftLabelsStandAloneOrLast) {
  const std::vector<std::string> arabic = {"\u0627\u0644\u0648\u0644\u062F",
                                           "\u064A\u0623\u0643\u0644"};
  const std::vector<std::string> english = {"boy", "eats"};
  // As columns: one label a line, nothing after it.
  for (const std::string& line : lines_of(render_terminal(record_of(arabic, english), bare(80)))) {
    for (const std::string& word : arabic) {
      const std::size_t at = line.find(word);
      if (at == line.npos) continue;
      EXPECT_EQ(at + word.size(), line.size()) << line;
    }
    EXPECT_FALSE(line.find(arabic[0]) != line.npos && line.find(arabic[1]) != line.npos);
  }
  // As rows: at the end, in order.
  const auto lines = lines_of(render_terminal(record_of(english, arabic), bare(80)));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_TRUE(lines[1].ends_with(arabic[0]));
  EXPECT_TRUE(lines[2].ends_with(arabic[1]));
  EXPECT_TRUE(lines[3].ends_with("(end)"));
  EXPECT_EQ(columns_of(lines[1], kFrame), columns_of(lines[3], kFrame));
}

TEST(Terminal, WritesNoDirectionControlAndNoControlCharacter) {
  const std::string text = render_terminal(record_of(many_words(), many_words()));
  EXPECT_FALSE(has_direction_control(text));
  EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == '\x7F';
  }));
}

TEST(Terminal, MarksTheFirstOfEqualPeaksAndNoneOfAZeroRow) {
  Record record = record_of({"a"}, {"b"});
  record.attention.weights = {0.5F, 0.5F, 0.0F, 0.0F};
  const auto lines = lines_of(render_terminal(record, bare(80)));
  EXPECT_NE(lines[1].find("[\u2593\u2593 50]"), std::string::npos);
  EXPECT_EQ(columns_of(lines[1], "[").size(), 1U);
  EXPECT_TRUE(columns_of(lines[2], "[").empty());
}

TEST(Terminal, ShowsWeightsThatAreNoNumber) {
  Record record = record_of({"a"}, {"b"});
  record.attention.weights[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(render_terminal(record, bare(80)).find('?'), std::string::npos);
}

TEST(Terminal, SaysThatABlankLineIsBlank) {
  Record record;
  record.blank = true;
  EXPECT_EQ(render_terminal(record), "  (a blank line: nothing to show)\n");
}

TEST(Terminal, SaysThatAFixedModelHasNoAttention) {
  Record record = bread();
  record.has_attention = false;
  record.attention = {};
  const std::string text = render_terminal(record);
  EXPECT_NE(text.find("we are eating bread"), std::string::npos);
  EXPECT_NE(text.find("No attention to show: this model has the `fixed` decoder."),
            std::string::npos);
}

TEST(Terminal, DrawsARecordWithoutTargetOrSource) {
  Record record;
  record.has_attention = true;
  record.source = record.target = "";
  EXPECT_NO_THROW(render_terminal(record));
  record.target_tokens = {{"a", 0, 1}};
  record.attention.rows = 1;
  EXPECT_NO_THROW(render_terminal(record));
}

TEST(Terminal, RefusesAMatrixThatDoesNotFitTheTokens) {
  Record record = bread();
  record.target_tokens.pop_back();
  EXPECT_THROW(render_terminal(record), ShapeError);
}

}  // namespace
}  // namespace regard
