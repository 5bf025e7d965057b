// Options, exit codes, and the commands eval and info.
#include "command_test_util.h"

namespace regard::commands {
namespace {

using Usage = CommandTest;

TEST_F(Usage, HelpFitsAScreenAndSaysWhatIsDefault) {
  for (const std::string command :
       {"translate", "align", "show", "score", "eval", "info", "compare"}) {
    const Result r = run(command + " --help");
    EXPECT_EQ(r.code, 0);
    EXPECT_LE(split_lines(r.out).size(), 40U) << r.out;
    for (const std::string& line : split_lines(r.out)) EXPECT_LE(line.size(), 120U) << line;
  }
  EXPECT_NE(run("translate -h").out.find("--beam K=5"), std::string::npos);
}

TEST_F(Usage, WhatCanNotBeDoneIsRefusedWithCodeTwo) {
  const std::string model = " -m '" + model_of(symbols_task()) + "' ";
  const Lines refused = {std::string("translate"),
                         "translate --beam 0" + model,
                         "translate --beam five" + model,
                         "translate --nbest 9" + model,
                         "translate --length-formula other" + model,
                         "translate --threads 0" + model,
                         "translate --max-source-length 0" + model,
                         "translate --no-such-option" + model,
                         "align --format xml" + model,
                         "score --batch-tokens 0" + model,
                         "align a.tsv --source b" + model,
                         "score --source -  --target -" + model,
                         "eval --metric elegance a b",
                         "eval --tokenize letters a b",
                         std::string("eval one-file"),
                         std::string("eval a b --by-length"),
                         std::string("unheard-of"),
                         std::string("")};
  for (const std::string& command : refused) {
    const Result r = run(command, "a\n");
    EXPECT_EQ(r.code, 2) << command << "\n" << r.err;
    EXPECT_EQ(r.out, "") << command;
    EXPECT_FALSE(r.err.empty()) << command;
  }
}

TEST_F(Usage, FilesThatAreMissingDamagedOrMalformedHaveCodesOfTheirOwn) {
  const std::string model = " -m '" + model_of(symbols_task()) + "' ";
  const std::string bytes = read(model_of(symbols_task()));
  write("half.regard", bytes.substr(0, bytes.size() / 2));
  write("text.regard", "this is no model\n");
  write("three.tsv", "a\tb\na\tb\tc\n");
  const std::vector<std::pair<std::string, int>> cases = {
      {"translate -m missing.regard", 5},
      {"translate missing.txt" + model, 5},
      {"translate -m half.regard", 4},
      {"info text.regard", 4},
      {"score three.tsv" + model, 3},
      {"align three.tsv" + model, 3},
      {"eval three.tsv missing.txt", 5},
      {"translate ." + model, 5},
      {"eval three.tsv three.tsv three.tsv --metric aer", 2}};
  for (const auto& [command, code] : cases) {
    const Result r = run(command, "a\n");
    EXPECT_EQ(r.code, code) << command << "\n" << r.err;
    EXPECT_EQ(r.err.substr(0, 8), "regard: ") << r.err;
  }
  const Result r = run("score three.tsv" + model);
  EXPECT_EQ(split_lines(r.out).size(), 1U);  // the row before the bad one
  EXPECT_NE(r.err.find("three.tsv:2"), std::string::npos) << r.err;
}

TEST_F(Usage, PairsMayBeTwoFilesOrSwapped) {
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  write("pairs", "a b c\tc b a\n\nd e\te d\n");
  write("swapped", "c b a\ta b c\n\ne d\td e\n");
  write("source", "a b c\n\nd e\n");
  write("target", "c b a\n\ne d\n");
  for (const std::string command : {"score", "align", "score --json", "align --format json"}) {
    const std::string wanted = run(command + " pairs" + model).out;
    EXPECT_EQ(split_lines(wanted).size(), 3U);
    EXPECT_EQ(run(command + " --source source --target target" + model).out, wanted);
    EXPECT_EQ(run(command + " --swap swapped" + model).out, wanted);
    EXPECT_EQ(run(command + model, read(folder() + "/pairs")).out, wanted);
    EXPECT_EQ(run(command + " -q pairs" + model).err, "");
  }
}

TEST_F(Usage, TheSummaryCountsOnStandardError) {
  const Result r = run("translate -m '" + model_of(reverse_task()) + "'", "a b c\n\nzz d e\n");
  EXPECT_NE(r.err.find("3 lines (1 blank) in "), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("1 source token never seen"), std::string::npos) << r.err;
  EXPECT_EQ(run("translate -q -m '" + model_of(reverse_task()) + "'", "a\n").err, "");
}

TEST_F(Usage, EvalComparesFilesOrTranslatesFirst) {
  write("test.tsv", reverse_task().test);
  write("lines", first_column(reverse_task().test));
  const std::string model = " -m '" + model_of(reverse_task()) + "' ";
  write("out", run("translate lines" + model).out);
  Lines targets = split_lines(reverse_task().test);
  for (std::string& t : targets) t = t.substr(t.find('\t') + 1);
  write("ref", join_lines(targets));
  const std::string metrics = " --metric bleu,chrf,exact,wer,ser,cer --by-length --tokenize none ";
  const Result files = run("eval out ref --source lines" + metrics);
  EXPECT_EQ(files.code, 0) << files.err;
  EXPECT_EQ(run("eval test.tsv" + metrics + model).out, files.out);
  const Lines lines = split_lines(files.out);
  EXPECT_EQ(lines[0].substr(0, 5), "bleu\t");
  EXPECT_EQ(lines[0][lines[0].size() - 3], '.');  // two decimals
  EXPECT_EQ(lines[6].substr(0, 9), "bleu/1-8\t");

  write("two", "A b\nc\n");
  write("other", "a b\nx\n");
  write("third", "y\nc\n");
  EXPECT_EQ(run("eval two other --metric exact").out, "exact\t0.00\n");
  EXPECT_EQ(run("eval two other --metric exact --lowercase").out, "exact\t50.00\n");
  EXPECT_EQ(run("eval two other third --metric exact,wer").out, "exact\t50.00\nwer\t50.00\n");
  write("same", "s\ns\n");
  EXPECT_EQ(run("eval two other --source same --group --metric exact").out, "exact\t0.00\n");
  EXPECT_EQ(run("eval third third --source same --group --metric exact").out, "exact\t100.00\n");
  write("links", "0-0 1-1\n0-0\n");
  write("gold", "1-1 2p2\n1-1\n");
  EXPECT_EQ(split_lines(run("eval links gold --metric aer --gold-from-one").out)[0], "aer\t0.00");
  write("short", "a\n");
  EXPECT_EQ(run("eval two short").code, 3);
}

TEST_F(Usage, InfoTellsWhatAFileHolds) {
  const std::string model = " '" + model_of(symbols_task()) + "' ";
  const Result r = run("info" + model);
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* part :
       {"parameters", "word tokens, 6 in the vocabulary", "decoder", "updates", "output.weight"}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
  }
  const auto j = parse_json(run("info --json" + model).out);
  EXPECT_EQ(j["configuration"]["decoder"], "luong");
  EXPECT_EQ(j["source"]["size"], 6);
  EXPECT_EQ(j["bytes"], read(model_of(symbols_task())).size());
  std::int64_t count = 0;
  for (const auto& t : j["tensors"])
    count += t["rows"].get<std::int64_t>() * t["cols"].get<std::int64_t>();
  EXPECT_EQ(j["parameters"], count);
}

}  // namespace
}  // namespace regard::commands
