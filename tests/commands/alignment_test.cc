// Matrices that fit their tokens (field reports 27 and 28), and pictures of them.
#include <algorithm>
#include <cstdlib>

#include "command_test_util.h"

namespace regard::commands {
namespace {

class Alignments : public CommandTest {
 protected:
  static size_t words(const std::string& text) {
    size_t count = 0;
    bool inside = false;
    for (const char c : text) {
      count += c != ' ' && !inside;
      inside = c != ' ';
    }
    return count;
  }

  // Rows are target tokens, columns source tokens, each row sums to 1.
  static void expect_matrix(const nlohmann::json& j) {
    ASSERT_EQ(j["attention"].size(), j["target_tokens"].size());
    for (const auto& row : j["attention"]) {
      ASSERT_EQ(row.size(), j["source_tokens"].size());
      double sum = 0.0;
      for (const auto& x : row) sum += x.get<double>();
      EXPECT_NEAR(sum, 1.0, 1e-5);
    }
  }
};

TEST_F(Alignments, FieldReport27IndicesAreWordsOfTheLine) {
  for (const Task* task : {&reverse_task(), &copy_task(), &name_task()}) {
    const std::string rows = task->test + "\n";  // and a blank line
    write("pairs", rows);
    const std::string model = " -m '" + model_of(*task) + "' ";
    const Result hard = run("align pairs" + model);
    EXPECT_EQ(hard.code, 0) << hard.err;
    const Lines links = split_lines(hard.out),
                records = split_lines(run("align --format json pairs" + model).out);
    const Lines pairs = split_lines(rows);
    ASSERT_EQ(links.size(), pairs.size());
    ASSERT_EQ(records.size(), pairs.size());
    EXPECT_EQ(links.back(), "");
    for (size_t i = 0; i + 1 < pairs.size(); ++i) {
      const size_t tab = pairs[i].find('\t');
      const size_t sources = words(pairs[i].substr(0, tab)),
                   targets = words(pairs[i].substr(tab + 1));
      const auto j = parse_json(records[i]);
      EXPECT_EQ(j["source_tokens"].size(), sources);
      EXPECT_EQ(j["target_tokens"].size(), targets);
      EXPECT_EQ(j["dropped"].size(), targets);
      expect_matrix(j);
      std::string from_json;
      for (const auto& link : j["links"]) {
        EXPECT_LT(link[0].get<size_t>(), sources);
        EXPECT_LT(link[1].get<size_t>(), targets);
        from_json += (from_json.empty() ? "" : " ") + link[0].dump() + "-" + link[1].dump();
      }
      EXPECT_EQ(links[i], from_json);
    }
  }
}

TEST_F(Alignments, FieldReport27PiecesComeWithTheirTokens) {
  const std::string model = " -m '" + model_of(copy_task()) + "' ";
  const std::string pair = "ab de\tab de\n";
  const auto pieces = parse_json(run("align --pieces --format json" + model, pair).out);
  EXPECT_EQ(pieces["source_tokens"], (Lines{"a", "b", " ", "d", "e", "</s>"}));
  expect_matrix(pieces);
  EXPECT_EQ(run("align --pieces" + model, pair).out, "0-0 1-1 2-2 3-3 4-4\n");
  // The published rule: a word's row is the mean of its pieces' rows, its column the sum of its
  // pieces' columns; a blank's column joins the next word; what the end took is divided out.
  const auto merged = parse_json(run("align --format json" + model, pair).out);
  EXPECT_EQ(merged["source_tokens"], (Lines{"ab", "de"}));
  for (size_t row = 0; row < 2; ++row) {
    double first = 0.0, second = 0.0, end = 0.0;
    for (const size_t piece : {3 * row, 3 * row + 1}) {
      const auto& w = pieces["attention"][piece];
      first += (w[0].get<double>() + w[1].get<double>()) / 2;
      second += (w[2].get<double>() + w[3].get<double>() + w[4].get<double>()) / 2;
      end += w[5].get<double>() / 2;
    }
    EXPECT_NEAR(merged["attention"][row][0].get<double>(), first / (first + second), 1e-5);
    EXPECT_NEAR(merged["attention"][row][1].get<double>(), second / (first + second), 1e-5);
    EXPECT_NEAR(merged["dropped"][row].get<double>(), end, 1e-5);
  }
}

TEST_F(Alignments, FieldReport28MatricesFitTheirTokensAndMirrorTheReversal) {
  write("lines", first_column(reverse_task().test));
  const Lines records = split_lines(
      run("translate --json --nbest 3 lines -m '" + model_of(reverse_task()) + "'").out);
  size_t tokens = 0, mirrored = 0;
  for (const std::string& line : records) {
    const auto j = parse_json(line);
    expect_matrix(j);
    EXPECT_EQ(j["source_tokens"].back(), "</s>");
    EXPECT_EQ(j["target_tokens"].back() == "</s>", j["stop"] == "end");
    EXPECT_EQ(j["token_log_probs"].size(), j["target_tokens"].size());
    const size_t letters = j["source_tokens"].size() - 1;
    if (j["rank"] != 1 || j["target_tokens"].size() != letters + 1) continue;
    for (size_t i = 0; i < letters; ++i) {
      const auto row = j["attention"][i].get<std::vector<float>>();
      ++tokens;
      mirrored += static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin()) ==
                  letters - 1 - i;
    }
  }
  ASSERT_GE(tokens, 1000U);
  EXPECT_GE(static_cast<double>(mirrored), 0.95 * static_cast<double>(tokens));
}

TEST_F(Alignments, FieldReport28ForcedAndFreeDecodingLookAtTheSamePlaces) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  const auto free = parse_json(run("translate --json" + model, "a b c d\n").out);
  const auto forced = parse_json(run("score --json" + model, "a b c d\td c b a\n").out);
  for (const char* key : {"attention", "token_log_probs", "log_prob", "score", "target_tokens"}) {
    EXPECT_EQ(free[key], forced[key]) << key;
  }
}

TEST_F(Alignments, AModelWithoutAttentionTranslatesAndRefusesToAlign) {
  const std::string model = " -m '" + model_of(fixed_task()) + "' ";
  const Result r = run("align" + model, "a\tb\n");
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.err.find("--decoder"), std::string::npos) << r.err;
  EXPECT_TRUE(parse_json(run("translate --json" + model, "a b\n").out)["attention"].is_null());
  EXPECT_EQ(run("show --steps a b" + model).code, 0);
}

TEST_F(Alignments, ShowPrintsTheSentenceThenTheMatrix) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  const Result r = run("show a b c" + model);
  EXPECT_EQ(r.code, 0) << r.err;
  const Lines lines = split_lines(r.out);
  EXPECT_EQ(lines[0], "a b c -> c b a");
  EXPECT_EQ(r.out.find('\x1B'), std::string::npos);  // no colour into a pipe
  EXPECT_NE(r.out.find("(end)"), std::string::npos);
  EXPECT_NE(run("show --color always a b c" + model).out.find('\x1B'), std::string::npos);
  EXPECT_EQ(run("show --quiet 'a b' c" + model).out, r.out);
  EXPECT_EQ(split_lines(run("show 'a b c' --target 'b b'" + model).out)[0], "a b c -> b b");
  const std::string ascii = run("show --ascii a b c" + model).out;
  EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](char c) { return c > 0; })) << ascii;
}

TEST_F(Alignments, ShowDrawsWritesRecordsAndExplains) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  EXPECT_EQ(run("show a b c --svg picture.svg" + model).code, 0);
  const std::string svg = read(folder() + "/picture.svg");
  EXPECT_EQ(svg.substr(0, 4), "<svg") << svg.substr(0, 60);
  EXPECT_EQ(run("show a b c --svg -" + model).out, svg);
  EXPECT_EQ(run("show a b c --svg none/picture.svg" + model).code, 5);
  const auto shown = parse_json(run("show a b c --json" + model).out);
  EXPECT_EQ(shown, parse_json(run("translate --json" + model, "a b c\n").out));
  const std::string steps = run("show a b c --steps" + model).out;
  for (const char* part : {"Word 1 of 4: c", "v . tanh(W_1 s_i + W_2 h_j)", "next word"}) {
    EXPECT_NE(steps.find(part), std::string::npos) << part << "\n" << steps;
  }
  EXPECT_EQ(run("show ''" + model).code, 0);
  EXPECT_EQ(run("show 'a\nb'" + model).code, 2);
}

}  // namespace
}  // namespace regard::commands
