// The same bytes for any batch, thread count, instruction set and way of feeding the input (field
// reports 23, 29, 30 and 31).
#include <cmath>

#include "command_test_util.h"

namespace regard::commands {
namespace {

class SameBits : public CommandTest {
 protected:
  std::string model() const { return " -m '" + model_of(reverse_task()) + "' "; }
  // Lines of all lengths, some twice, some blank, some with words that the model never saw.
  Lines lines(size_t count) const {
    const Lines sources = split_lines(first_column(reverse_task().test));
    Lines out;
    for (size_t i = 0; i < count; ++i) {
      out.push_back(i % 17 == 5 ? "" : sources[i * 7 % sources.size()]);
      if (i % 23 == 3) out.back() = "q unseen" + std::to_string(i) + " z";
    }
    return out;
  }
};

TEST_F(SameBits, FieldReport31TheBatchSizeChangesNothing) {
  write("lines", join_lines(lines(500)));
  const std::string command = "translate --nbest 5 lines" + model();
  const std::string wanted = run(command + "--batch-tokens 1 --threads 1").out;
  EXPECT_GE(split_lines(wanted).size(), 2000U);
  for (const char* batch : {"26", "65", "832", "6500"}) {
    EXPECT_EQ(run(command + "--batch-tokens " + batch).out, wanted) << batch;
  }
}

TEST_F(SameBits, ThreadsAndInstructionSetsGiveTheSameRecords) {
  write("lines", join_lines(lines(120)));
  write("pairs", reverse_task().test);
  for (const std::string command :
       {"translate --json --nbest 3 lines", "score --json pairs", "align --format json pairs"}) {
    const std::string wanted = run(command + model() + "--threads 1").out;
    EXPECT_GE(split_lines(wanted).size(), 120U);
    EXPECT_EQ(run(command + model() + "--threads 8 --batch-tokens 50").out, wanted) << command;
    for (const std::string isa : {"avx512", "avx2", "scalar"}) {
      const Result r = run(command + model(), "", "REGARD_FORCE_ISA=" + isa);
      if (r.code == 2 && isa != "scalar") continue;  // this processor does not have it
      EXPECT_EQ(r.code, 0) << r.err;
      EXPECT_EQ(r.out, wanted) << command << " on " << isa;
    }
  }
  EXPECT_EQ(run("translate" + model(), "a\n", "REGARD_FORCE_ISA=abacus").code, 2);
}

TEST_F(SameBits, GreedyIsABeamOfOneAndTakesTheLikeliestWordEachTime) {
  const Result r = run("show --steps --beam 1 a b c d e" + model());
  EXPECT_NE(r.out.find("a b c d e -> e d c b a"), std::string::npos) << r.out;
  const auto greedy = parse_json(run("translate --json --beam 1" + model(), "a b c d e\n").out);
  const auto wide = parse_json(run("translate --json --beam 5" + model(), "a b c d e\n").out);
  EXPECT_EQ(greedy, wide);  // the model is sure of it
}

TEST_F(SameBits, FieldReport23ScoresAreSumsDividedByThePublishedFormula) {
  write("lines", join_lines(lines(200)));
  for (const std::string formula : {"power", "gnmt"}) {
    for (const std::string penalty : {"0", "0.6", "1", "-0.3"}) {
      const std::string length = " --length-formula " + formula + " --length-penalty " + penalty;
      const Lines records =
          split_lines(run("translate --json --nbest 5 --bar-unknown lines" + length + model()).out);
      std::string pairs;
      std::vector<double> log_probs, scores;
      double last = 0.0;
      for (const std::string& line : records) {
        const auto j = parse_json(line);
        if (j["log_prob"].is_null()) continue;
        double sum = 0.0;
        for (const auto& x : j["token_log_probs"]) sum += static_cast<double>(x.get<float>());
        EXPECT_EQ(j["log_prob"].get<double>(), sum) << line;
        const auto t = static_cast<double>(j["target_tokens"].size());
        const double lp = std::pow(formula == "power" ? t : (5.0 + t) / 6.0, std::stod(penalty));
        EXPECT_NEAR(j["score"].get<double>(), sum / lp, 1e-9 * std::abs(sum));
        if (j["rank"] != 1) {
          EXPECT_LE(j["score"].get<double>(), last);
        }
        last = j["score"].get<double>();
        if (j["stop"] != "end") continue;
        pairs += j["source"].get<std::string>() + "\t" + j["target"].get<std::string>() + "\n";
        log_probs.push_back(j["log_prob"]);
        scores.push_back(j["score"]);
      }
      ASSERT_GE(scores.size(), 500U);
      write("pairs", pairs);
      const Lines plain = split_lines(run("score pairs" + model()).out);
      const Lines normalised = split_lines(run("score pairs" + length + model()).out);
      ASSERT_EQ(plain.size(), scores.size());
      for (size_t i = 0; i < scores.size(); ++i) {
        EXPECT_EQ(std::stod(plain[i]), log_probs[i]);
        EXPECT_EQ(std::stod(normalised[i]), scores[i]);
      }
    }
  }
}

TEST_F(SameBits, FieldReport29SettingsOfTheCountryChangeNothing) {
  write("pairs", reverse_task().test);
  for (const std::string command :
       {"translate --nbest 3 --length-penalty 0.5 pairs", "score --json pairs", "info --json"}) {
    const std::string all = command == "info --json"
                                ? command + " '" + model_of(reverse_task()) + "'"
                                : command + model();
    const std::string wanted = run(all, "", "LC_ALL=C").out;
    EXPECT_FALSE(wanted.empty());
    for (const std::string locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"}) {
      EXPECT_EQ(run(all, "", "LC_ALL=" + locale).out, wanted) << all << locale;
    }
  }
}

class FieldReport30 : public SameBits {};

TEST_F(FieldReport30, AFileAPipeANamedPipeAndASlowWriterGiveTheSameBytes) {
  write("lines", join_lines(lines(500)));
  const std::string command = "\"$REGARD\" translate -q --beam 2" + model();
  const std::string wanted = shell(command + "lines").out;
  EXPECT_EQ(split_lines(wanted).size(), 500U);
  EXPECT_EQ(shell(command + "< lines").out, wanted);
  EXPECT_EQ(shell("cat lines | " + command).out, wanted);
  EXPECT_EQ(shell("cat lines | " + command + "-").out, wanted);
  EXPECT_EQ(shell("mkfifo pipe; cat lines > pipe & " + command + "pipe").out, wanted);
  EXPECT_EQ(shell("dd if=lines bs=1 status=none | " + command).out, wanted);
  EXPECT_EQ(shell("gzip -c lines | " + command).out, wanted);
}

TEST_F(FieldReport30, AClosedInputIsAnEmptyOne) {
  const Result r = shell("\"$REGARD\" translate" + model() + "<&-");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, "");
}

TEST_F(FieldReport30, AnAnswerComesBeforeTheNextQuestion) {
  const Result r = shell("mkfifo in out; \"$REGARD\" translate -q" + model() +
                         "< in > out & exec 3> in 4< out\n"
                         "for line in 'a b c' 'd e f' 'g h i'; do\n"
                         "  echo \"$line\" >&3; timeout 60 head -n 1 <&4 || exit 9\n"
                         "done; exec 3>&-; wait");
  EXPECT_EQ(r.out, "c b a\nf e d\ni h g\n");
  EXPECT_EQ(r.code, 0) << r.err;
}

TEST_F(FieldReport30, AReaderThatQuitsEndsItQuietly) {
  std::string many;
  for (int i = 0; i < 200; ++i) many += join_lines(lines(100));
  write("many", many);
  const Result r = shell("{ \"$REGARD\" translate -q --beam 1" + model() +
                         "many; echo $? > code; } | head -n 1");
  EXPECT_EQ(split_lines(r.out).size(), 1U);
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(read(folder() + "/code"), "0\n");
}

TEST_F(FieldReport30, AFullDeviceIsAnError) {
  for (const std::string& command :
       {"translate" + model(), "translate --json" + model(), "show a b" + model(),
        "info '" + model_of(reverse_task()) + "'"}) {
    const Result r = shell("\"$REGARD\" " + command + " > /dev/full", "a b c\n");
    EXPECT_EQ(r.code, 5) << command;
    EXPECT_NE(r.err.find("standard output"), std::string::npos) << r.err;
  }
}

}  // namespace
}  // namespace regard::commands
