// One line in, one line out, in order, whatever the lines hold (field reports 1, 4, 7, 8, 9, 10,
// 12, 13 and 16).
#include "command_test_util.h"

namespace regard::commands {
namespace {

using OneLineInOneLineOut = CommandTest;

std::string reversed(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); i += 2) {
    out = std::string(1, line[i]) + (out.empty() ? "" : " ") + out;
  }
  return out;
}

TEST_F(OneLineInOneLineOut, FieldReport01BlankLinesAreAnsweredByBlankLines) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  for (const std::string blank : {"", "   ", "\t", "\xC2\xA0\xE3\x80\x80", "\r"}) {
    const Result r = run("translate" + model, "a b c\n" + blank + "\nd e f\n");
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(r.out, "c b a\n\nf e d\n");
  }
  EXPECT_EQ(run("translate" + model, "\n\n \n").out, "\n\n\n");
  EXPECT_EQ(run("translate" + model, "a b c").out, "c b a\n");
  const Result none = run("translate" + model, "");
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(run("translate --nbest 2" + model, "\n").out, "1\t1\t\t\n");
}

TEST_F(OneLineInOneLineOut, FieldReport01BlankLinesHaveEmptyFieldsNotMissingOnes) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  const auto j = parse_json(run("translate --json" + model, " \n").out);
  EXPECT_TRUE(j["score"].is_null());
  EXPECT_TRUE(j["log_prob"].is_null());
  for (const char* list : {"source_tokens", "target_tokens", "attention", "token_log_probs"}) {
    EXPECT_EQ(j[list], nlohmann::json::array()) << list;
  }
  EXPECT_EQ(run("score" + model, "a b\tb a\n\n\t\n").out.substr(0, 1), "-");
  EXPECT_EQ(split_lines(run("score" + model, "a b\tb a\n\n\t\nc\tc\n").out).size(), 4U);
  EXPECT_EQ(run("align" + model, "a b\tb a\n\nc\tc\n").out, "1-0 0-1\n\n0-0\n");
  const auto aligned = parse_json(run("align --format json" + model, "\n").out);
  EXPECT_EQ(aligned["links"], nlohmann::json::array());
  EXPECT_EQ(aligned["dropped"], nlohmann::json::array());
}

TEST_F(OneLineInOneLineOut, FieldReport04TextIsNeverAControlToken) {
  const Lines odd = {"</s>", "<s>", "<unk> <unk>", "<pad>", "ab </s> de", "</s></s>"};
  const Result words = run("translate -m '" + model_of(reverse_task()) + "'",
                           join_lines({"a b </s> c d", "<s>", "<unk> <unk>", "<pad>"}));
  EXPECT_EQ(split_lines(words.out).size(), 4U);
  const Lines out = split_lines(words.out);
  EXPECT_EQ(out[0].substr(0, 3), "d c");  // not cut at the marker
  for (const std::string& line : out) EXPECT_FALSE(line.empty());

  // Letter for letter, where letters are the tokens ("pad" has a letter of its own: p, a, d).
  const Result characters =
      run("translate -m '" + model_of(copy_task()) + "'", join_lines({"</s>", "<unk>", "<pad>"}));
  EXPECT_EQ(characters.out, "</s>\n<unk>\n<pad>\n");
  const auto j =
      parse_json(run("translate --json -m '" + model_of(copy_task()) + "'", "</s>\n").out);
  EXPECT_EQ(j["source_tokens"], (Lines{"<", "/", "s", ">", "</s>"}));
}

TEST_F(OneLineInOneLineOut, FieldReport07OnlyLineFeedsEndLines) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  const Lines lines = {"a \xE2\x80\xA8 b", "c \xC2\x85 d", "e \x0B f", "g \x0C h", "i \x1E j"};
  std::string pairs;
  for (const std::string& line : lines) pairs += line + "\t" + line + "\n";
  for (const std::string command : {"translate", "translate --json", "translate --nbest 1"}) {
    const Result r = run(command + model, join_lines(lines));
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(split_lines(r.out).size(), 5U) << command;
  }
  for (const std::string command : {"align", "align --format json", "score", "score --json"}) {
    const Result r = run(command + model, pairs);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(split_lines(r.out).size(), 5U) << command;
  }
  write("hyp", join_lines(lines));
  EXPECT_EQ(run("eval hyp hyp --metric exact").out, "exact\t100.00\n");
}

TEST_F(OneLineInOneLineOut, FieldReport08AByteOrderMarkIsDroppedWithANote) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  const Result r = run("translate" + model,
                       "\xEF\xBB\xBF"
                       "a b c\nd e f\n");
  EXPECT_EQ(r.out, "c b a\nf e d\n");
  EXPECT_NE(r.err.find("byte order mark"), std::string::npos) << r.err;
  // In the middle it is a character like any other, and counted.
  const Result middle = run("translate" + model,
                            "a b c\n\xEF\xBB\xBF"
                            "d e f\n");
  EXPECT_EQ(split_lines(middle.out).size(), 2U);
  EXPECT_NE(middle.err.find("zero-width"), std::string::npos) << middle.err;
}

TEST_F(OneLineInOneLineOut, FieldReport09SpellingsOfAnAccentAndKindsOfBlanksAreOne) {
  const std::string model = " -m '" + model_of(copy_task()) + "' ";
  const Result composed = run("translate --nbest 3" + model, "p\xC3\xA9r\xC3\xB4 ab\n");
  EXPECT_EQ(split_lines(composed.out)[0].substr(split_lines(composed.out)[0].rfind('\t') + 1),
            "p\xC3\xA9r\xC3\xB4 ab");
  for (const std::string other : {"pe\xCC\x81ro\xCC\x82 ab\n",
                                  "p\xC3\xA9r\xC3\xB4\xC2\xA0"
                                  "ab\n",
                                  "p\xC3\xA9r\xC3\xB4\xE3\x80\x80"
                                  "ab\n",
                                  "  p\xC3\xA9ro\xCC\x82\t ab \n"}) {
    EXPECT_EQ(run("translate --nbest 3" + model, other).out, composed.out);
  }
}

TEST_F(OneLineInOneLineOut, FieldReport10BadBytesEndTheRunAfterTheLinesBeforeThem) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  for (const std::string& bad :
       {std::string("\xFF"), std::string("\xE2\x80"), std::string("\xC0\xAF"),
        std::string("\xED\xA0\x80"), std::string(1, '\0')}) {
    const std::string input = "a b c\nd e f\ng " + bad + " h\ni j k\n";
    const Result r = run("translate" + model, input);
    EXPECT_EQ(r.code, 3);
    EXPECT_EQ(r.out, "c b a\nf e d\n");
    EXPECT_NE(r.err.find("standard input:3: byte offset 2"), std::string::npos) << r.err;
    const Result lenient = run("translate --lenient" + model, input);
    EXPECT_EQ(lenient.code, 0);
    EXPECT_EQ(split_lines(lenient.out).size(), 4U);
    EXPECT_NE(lenient.err.find("U+FFFD"), std::string::npos) << lenient.err;
  }
  EXPECT_EQ(run("show a '\xFF'" + model).code, 3);
}

// 24 % of the lines are blank, wherever they fall in a batch.
TEST_F(OneLineInOneLineOut, FieldReport12BlankLinesDoNotShiftOutputs) {
  std::mt19937 random(12);
  const Lines sources = split_lines(first_column(reverse_task().test));
  Lines lines, wanted;
  for (size_t i = 0; i < 1300; ++i) {
    const bool blank = random() % 100 < 24;
    lines.push_back(blank ? "" : sources[i % sources.size()]);
    wanted.push_back(reversed(lines.back()));
  }
  write("lines", join_lines(lines));
  std::string first;
  for (const int batch : {1, 7, 16, 64}) {
    for (const int threads : {1, 2, 8}) {
      const Result r =
          run("translate --beam 2 -m '" + model_of(reverse_task()) + "' lines --batch-tokens " +
              std::to_string(13 * batch) + " --threads " + std::to_string(threads));
      ASSERT_EQ(r.code, 0) << r.err;
      if (first.empty()) first = r.out;
      ASSERT_EQ(r.out, first) << "batch " << batch << ", threads " << threads;
    }
  }
  const Lines out = split_lines(first);
  ASSERT_EQ(out.size(), lines.size());
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(out[i].empty(), lines[i].empty()) << "line " << i + 1;
    wrong += out[i] != wanted[i];
  }
  EXPECT_LE(wrong, 26);  // 2 %: the model's own mistakes
}

TEST_F(OneLineInOneLineOut, FieldReport13OverLongLinesAreCutAndNamed) {
  Lines lines(3000, "a b c");
  lines[580] = "";
  for (int i = 0; i < 5000; ++i) lines[580] += "d ";
  lines[2899] = std::string(50000, 'x');
  write("lines", join_lines(lines));
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  const Result r = run("translate --beam 1 --max-length 20" + model + "lines");
  EXPECT_EQ(r.code, 0);
  const Lines out = split_lines(r.out);
  ASSERT_EQ(out.size(), 3000U);
  EXPECT_EQ(out[579], "c b a");
  EXPECT_EQ(out[2999], "c b a");
  EXPECT_NE(r.err.find("line 581: its 5,000 tokens were cut to the first 1,000"), std::string::npos)
      << r.err;
  EXPECT_NE(r.err.find("1 source cut"), std::string::npos) << r.err;
  write("long", lines[580] + "\n");
  const auto j = parse_json(
      run("translate --json --beam 1 --max-length 5 --max-source-length 50" + model + "long").out);
  EXPECT_EQ(j["flags"][0], "cut_source");
  EXPECT_EQ(j["source_tokens"].size(), 51U);
  EXPECT_EQ(j["attention"][0].size(), 51U);

  // Characters: the line without a blank is the long one.
  write("characters", "ab\n" + std::string(50000, 'a') + "\nba\n");
  const Result c = run("translate --beam 1 --max-length 20 --max-source-length 100 -m '" +
                       model_of(copy_task()) + "' characters");
  EXPECT_EQ(split_lines(c.out).size(), 3U);
  EXPECT_NE(c.err.find("line 2: its 50,000 tokens were cut to the first 100"), std::string::npos)
      << c.err;
}

TEST_F(OneLineInOneLineOut, FieldReport16UnseenCharactersAreNamedAndHarmNoOtherLine) {
  const std::string model = " -m '" + model_of(copy_task()) + "' ";
  Lines lines = split_lines(first_column(copy_task().test));
  ASSERT_EQ(lines.size(), 200U);
  const Result before = run("translate" + model, join_lines(lines));
  EXPECT_EQ(before.err.find("never seen"), std::string::npos) << before.err;
  lines[56] = "wo\xE5\xAD\x97rd\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD";
  const Result after = run("translate" + model, join_lines(lines));
  EXPECT_EQ(after.code, 0);
  EXPECT_NE(after.err.find("line 57: the model has never seen '\xE5\xAD\x97' (U+5B57)"),
            std::string::npos)
      << after.err;
  EXPECT_NE(after.err.find("U+1F44D"), std::string::npos) << after.err;
  EXPECT_NE(after.err.find("U+1F3FD"), std::string::npos) << after.err;
  // The same where records list words, not the model's tokens.
  const Result aligned = run("align" + model, "wo\xE5\xAD\x97rd \xE5\xAD\x98\tword \xE5\xAD\x98\n");
  EXPECT_EQ(aligned.code, 0);
  EXPECT_NE(aligned.err.find("(U+5B57)"), std::string::npos) << aligned.err;
  EXPECT_NE(aligned.err.find("(U+5B58)"), std::string::npos) << aligned.err;
  Lines wanted = split_lines(before.out), out = split_lines(after.out);
  ASSERT_EQ(out.size(), 200U);
  EXPECT_FALSE(out[56].empty());
  out.erase(out.begin() + 56);
  wanted.erase(wanted.begin() + 56);
  EXPECT_EQ(out, wanted);
}

}  // namespace
}  // namespace regard::commands
