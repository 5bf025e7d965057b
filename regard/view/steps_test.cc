#include "regard/view/steps.h"

#include <gtest/gtest.h>

#include "regard/base/error.h"
#include "regard/view/cells.h"
#include "regard/view/test_records.h"

namespace regard {
namespace {

using testing_records::bread;
using testing_records::has_direction_control;
using testing_records::lines_of;
using testing_records::many_words;
using testing_records::record_of;

std::vector<StepDetail> steps_of(const Record& record) {
  std::vector<StepDetail> steps;
  for (std::int64_t r = 0; r < record.attention.rows; ++r) {
    StepDetail step;
    for (std::int64_t c = 0; c < record.attention.cols; ++c) {
      step.weights.push_back(record.attention(r, c));
      step.scores.push_back(4.0F * record.attention(r, c) - 1.0F);
    }
    step.context_norm = 2.5F;
    step.top = {{record.target_tokens[static_cast<std::size_t>(r)].text, 0.875F},
                {"they", 0.0625F}};
    steps.push_back(step);
  }
  return steps;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Steps, ExplainTheThreeStagesOnceAndShowEveryWord) {
  StepsOptions options;
  options.score_formula = "v^T tanh(W_1 s_i + W_2 h_j)";
  const std::string text = render_steps(bread(), steps_of(bread()), options);
  for (const char* once : {"1 score", "2 normalise", "3 combine", "v^T tanh(W_1 s_i + W_2 h_j)"}) {
    EXPECT_EQ(count(text, once), 1U) << once;
  }
  for (const char* word : {"Word 1 of 5: we", "Word 4 of 5: bread", "Word 5 of 5: (end)"}) {
    EXPECT_EQ(count(text, word), 1U) << word;
  }
  EXPECT_EQ(count(text, "length of c_4: 2.50"), 1U);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Steps, ShowScoreWeightAndBarOfEachPosition) {
  const auto lines = lines_of(render_steps(bread(), steps_of(bread())));
  bool found = false;
  for (const std::string& line : lines) {
    if (line.find("looks at") == line.npos || line.find("93.0 %") == line.npos) continue;
    found = true;
    EXPECT_NE(line.find("nous"), line.npos);
    EXPECT_NE(line.find("2.72"), line.npos);
    EXPECT_NE(line.find("\u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588"), line.npos);
  }
  EXPECT_TRUE(found);
}

TEST(Steps, ListTheLargestOfManyPositionsInSourceOrder) {
  const Record record = record_of(std::vector<std::string>(40, "w"), {"a", "b"});
  StepsOptions options;
  options.most_positions = 5;
  const std::string text = render_steps(record, steps_of(record), options);
  EXPECT_EQ(count(text, "and 36 other positions, together"), 3U);
}

TEST(Steps, FitTheWidthForAnyScript) {
  const Record record = record_of(many_words(), many_words());
  for (int width = 64; width <= 124; width += 10) {
    StepsOptions options;
    options.terminal.width = width;
    const std::string text = render_steps(record, steps_of(record), options);
    EXPECT_FALSE(has_direction_control(text));
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(Steps, RightToLeftLabelsComeLast) {
  const std::string word = "\u0646\u0623\u0643\u0644";
  const Record record = record_of({word, "x"}, {"a"});
  for (const std::string& line : lines_of(render_steps(record, steps_of(record)))) {
    if (line.find(word) == line.npos) continue;
    EXPECT_TRUE(line.ends_with(word)) << line;
  }
}

TEST(Steps, SayThatAFixedModelReadsOneVector) {
  Record record = bread();
  std::vector<StepDetail> steps = steps_of(record);
  record.has_attention = false;
  record.attention = {};
  for (StepDetail& step : steps) step.scores = step.weights = {};
  const std::string text = render_steps(record, steps);
  EXPECT_EQ(count(text, "No attention to show: this model has the `fixed` decoder."), 1U);
  EXPECT_EQ(count(text, "looks at"), 0U);
  EXPECT_EQ(count(text, "next word    "), 5U + 1U);
}

TEST(Steps, SayThatABlankLineIsBlank) {
  Record record;
  record.blank = true;
  EXPECT_EQ(render_steps(record, {}), "  (a blank line: nothing to show)\n");
}

TEST(Steps, RefuseListsThatDoNotFitTheTokens) {
  std::vector<StepDetail> steps = steps_of(bread());
  steps.pop_back();
  EXPECT_THROW(render_steps(bread(), steps), ShapeError);
  steps = steps_of(bread());
  steps[1].scores.pop_back();
  EXPECT_THROW(render_steps(bread(), steps), ShapeError);
  steps = steps_of(bread());
  steps[1].weights.pop_back();
  EXPECT_THROW(render_steps(bread(), steps), ShapeError);
}

}  // namespace
}  // namespace regard
