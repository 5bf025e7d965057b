// What a search may and may not give (field reports 14, 17, 19 and 20).
#include <algorithm>

#include "command_test_util.h"

namespace regard::commands {
namespace {

using Search = CommandTest;

std::string target_of(const std::string& row) { return row.substr(row.find('\t') + 1); }

TEST_F(Search, FieldReport14UnknownWordsAreCopiesOfTheAlignedWord) {
  const std::string model = " -m '" + model_of(name_task()) + "' ";
  const Lines rows = split_lines(name_task().test);
  const Result r = run("translate" + model, first_column(name_task().test));
  const Lines out = split_lines(r.out);
  ASSERT_EQ(out.size(), rows.size());
  size_t copied = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string name = "zqyx" + std::to_string(i);
    const auto words = ' ' + out[i] + ' ';
    copied += words.find(' ' + name + ' ') != std::string::npos;
    EXPECT_EQ(out[i].find("<unk>"), std::string::npos) << out[i];
    EXPECT_EQ(out[i].find("</s>"), std::string::npos) << out[i];
    EXPECT_EQ(out[i].find("\xEF\xBF\xBD"), std::string::npos) << out[i];
  }
  EXPECT_GE(copied, 45U);
  EXPECT_NE(r.err.find("unknown tokens replaced by a copy"), std::string::npos) << r.err;
  const auto j =
      parse_json(run("translate --json" + model, rows[0].substr(0, rows[0].find('\t'))).out);
  EXPECT_EQ(j["flags"], Lines{"unknown"});
  EXPECT_EQ(j["target"], target_of(rows[0]));
  EXPECT_EQ(run("translate --json --bar-unknown" + model, "mo zqyx gida kem\n").out.find("unknown"),
            std::string::npos);
}

TEST_F(Search, FieldReport17ABeamMayBeWiderThanTheVocabulary) {
  const std::string model = " -m '" + model_of(symbols_task()) + "' ";
  const std::string input = first_column(symbols_task().test);
  const size_t lines = split_lines(input).size();
  for (const std::string beam : {"1", "2", "5", "50", "1000"}) {
    const Result r =
        run("translate --max-length 2 --bar-unknown --beam " + beam + " --nbest " + beam + model,
            input);
    EXPECT_EQ(r.code, 0) << r.err;
    const size_t found = split_lines(r.out).size();
    EXPECT_LE(found, lines * std::stoul(beam));
    if (beam == "1000") {
      EXPECT_EQ(found, lines * (3 + 9));  // strings of one symbol and of two
      EXPECT_NE(r.err.find("with fewer hypotheses than asked for"), std::string::npos) << r.err;
    }
  }
}

// The space is small enough to ask for every string.
TEST_F(Search, FieldReport17ABeamAsLargeAsTheSearchSpaceFindsTheBestString) {
  const std::string model = " -m '" + model_of(symbols_task()) + "' ";
  Lines strings = {""};
  std::string pairs;
  for (size_t i = 0; i < strings.size(); ++i) {
    if (!strings[i].empty()) pairs += "a b c\t" + strings[i] + "\n";
    if (strings[i].size() >= 7) continue;
    for (const char* symbol : {"a", "b", "c"}) {
      strings.push_back(strings[i] + (strings[i].empty() ? "" : " ") + symbol);
    }
  }
  const Lines scores = split_lines(run("score --length-penalty 1" + model, pairs).out);
  ASSERT_EQ(scores.size(), 3U + 9U + 27U + 81U);
  const auto best = std::max_element(
      scores.begin(), scores.end(),
      [](const std::string& a, const std::string& b) { return std::stod(a) < std::stod(b); });
  const std::string wanted =
      target_of(split_lines(pairs)[static_cast<size_t>(best - scores.begin())]);
  const Result r =
      run("translate --nbest 1 --beam 500 --max-length 4 --bar-unknown" + model, "a b c\n");
  EXPECT_EQ(r.out, "1\t1\t" + *best + "\t" + wanted + "\n");
}

TEST_F(Search, FieldReport19OutputIsBoundedAndRepetitionIsFlagged) {
  const std::string model = " -m '" + model_of(unripe_task()) + "' ";
  std::string fifty, letters;
  std::mt19937 random(19);
  for (int i = 0; i < 50; ++i) fifty += "e ";
  for (int i = 0; i < 200; ++i)
    letters += std::string(1, static_cast<char>('a' + random() % 26)) + " ";
  const Lines lines = {"q", fifty, "??????", letters};
  for (const std::string beam : {"1", "5"}) {
    const Result r = run("translate --json --beam " + beam + model, join_lines(lines));
    EXPECT_EQ(r.code, 0);
    const Lines out = split_lines(r.out);
    ASSERT_EQ(out.size(), 4U);
    bool flagged = false;
    for (const std::string& line : out) {
      const auto j = parse_json(line);
      EXPECT_LE(j["target_tokens"].size(), 3 * (j["source_tokens"].size() - 1) + 51) << line;
      for (const std::string flag : j["flags"])
        flagged |= flag == "repeated" || flag == "max_length";
    }
    if (beam != "1") continue;  // a wider beam may find a way out
    EXPECT_TRUE(flagged) << r.out;
    EXPECT_TRUE(r.err.find("repetitive") != std::string::npos ||
                r.err.find("length limit") != std::string::npos)
        << r.err;
  }
  const auto limited = parse_json(run("translate --json --max-length 7" + model, fifty).out);
  EXPECT_LE(limited["target_tokens"].size(), 8U);
}

TEST_F(Search, FieldReport20ASourceWithTextGivesText) {
  write("lines", first_column(reverse_task().test));
  for (const Task* task : {&reverse_task(), &unripe_task(), &fixed_task()}) {
    for (const std::string search :
         {"--beam 1", "--beam 5", "--beam 20 --length-penalty 0",
          "--beam 5 --length-formula gnmt --length-penalty 2", "--beam 5 --length-penalty -1"}) {
      const Result r = run("translate lines -m '" + model_of(*task) + "' " + search);
      EXPECT_EQ(r.code, 0) << r.err;
      const Lines out = split_lines(r.out);
      EXPECT_EQ(out.size(), 200U);
      EXPECT_EQ(std::count(out.begin(), out.end(), ""), 0) << task->name << search;
    }
  }
}

}  // namespace
}  // namespace regard::commands
