// Options of attention, from `regard train` to `info` and `show --steps`.
#include "command_test_util.h"

namespace regard::commands {
namespace {

class Attention : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    std::string rows;
    for (const char* row : {"a b c\tc b a\n", "b a\ta b\n", "c\tc\n", "a c\tc a\n"}) {
      rows += row;
    }
    write("pairs.tsv", rows);
  }
  Result train(const std::string& options) {
    return run(
        "train pairs.tsv -o m --fresh --threads 1 --tokens word --embedding 8 --hidden 8 "
        "--updates 6 " +
        options);
  }
  void expect_in(const std::string& text, const Lines& parts) {
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
  }
};

TEST_F(Attention, IsStoredShownAndExplained) {
  const Result r = train(
      "--attention scaled-dot --normalizer local-p --window 3 --projections --heads 2 "
      "--temperature 0.5 --attention-dropout 0.1");
  ASSERT_EQ(r.code, 0) << r.err;
  expect_in(r.err, {"scaled-dot attention by local-p in 2 heads"});
  const auto c = parse_json(run("info --json m").out)["configuration"];
  EXPECT_EQ(c["attention"], "scaled-dot");
  EXPECT_EQ(c["normalizer"], "local-p");
  EXPECT_EQ(c["window"], 3);
  EXPECT_EQ(c["heads"], 2);
  EXPECT_EQ(c["projections"], true);
  EXPECT_EQ(c["temperature"], 0.5);
  expect_in(run("info m").out, {"normalizer            local-p", "attention.center.v.weight"});
  expect_in(run("show -m m --steps a b c").out,
            {"W_Q s_i . W_K h_j / sqrt(4)", "softmax(e_i / 0.5)_j within 3 of p_i",
             "W_O sum_j a_ij W_V h_j", "2 heads"});
}

TEST_F(Attention, TemperatureAndWindowHaveDefaultsOfTheirOwn) {
  ASSERT_EQ(train("--attention cosine --projections --normalizer sparsemax").code, 0);
  auto c = parse_json(run("info --json m").out)["configuration"];
  EXPECT_EQ(c["temperature"], 0.1);
  EXPECT_EQ(c["window"], 0);
  expect_in(run("show -m m --steps a b c").out, {"/ 0.1", "sparsemax(e_i)_j"});
  ASSERT_EQ(train("--normalizer mocha").code, 0);
  c = parse_json(run("info --json m").out)["configuration"];
  EXPECT_EQ(c["temperature"], 1.0);
  EXPECT_EQ(c["window"], 2);
}

TEST_F(Attention, LocationKnowsTheLongestSourceOfItsData) {
  ASSERT_EQ(train("--attention location").code, 0);
  EXPECT_EQ(parse_json(run("info --json m").out)["configuration"]["longest_source"], 4);
  const Result longer = run("translate -m m", "a b c a\n");
  EXPECT_EQ(longer.code, 2);
  expect_in(longer.err, {"learnt 4 places", "has 5", "--max-source-length 3"});
  EXPECT_EQ(run("translate -m m --max-source-length 3", "a b c a\n").code, 0);
}

TEST_F(Attention, WhatHasNoMeaningIsRefusedWithAWayOut) {
  const std::pair<const char*, const char*> refused[] = {
      {"--normalizer hardmax", "--straight-through"},
      {"--straight-through", "hardmax"},
      {"--attention dot", "--encoder-hidden 4"},
      {"--heads 2", "--projections"},
      {"--heads 3 --projections", "--heads 3"},
      {"--attention general --projections", "--attention dot"},
      {"--attention coverage --normalizer monotonic", "location-sensitive"},
      {"--attention dot --encoder-hidden 4 --weight-norm", "no v"},
      {"--window 4", "--window"},
      {"--temperature -1", "--temperature"},
      {"--decoder fixed --normalizer sparsemax", "no attention"},
      {"--coverage-loss 1", "--attention coverage"},
      {"--attention-dropout 1", "--attention-dropout"},
      {"--attention nearest", "choose one of additive"},
      {"--normalizer softest", "choose one of softmax"}};
  for (const auto& [options, words] : refused) {
    const Result r = train(options);
    EXPECT_EQ(r.code, 2) << options << "\n" << r.err;
    EXPECT_NE(r.err.find(words), std::string::npos) << options << "\n" << r.err;
  }
}

}  // namespace
}  // namespace regard::commands
