// An encoder of self-attention from train to show --self.
#include "command_test_util.h"

namespace regard::commands {
namespace {

// Hardly trained: its options, its file and its pictures are what is looked at here.
const Task& self_attention_task() {
  static const Task task{"self-attention", symbols_task().train, symbols_task().test,
                         "--tokens word --hidden 16 --embedding 8 --updates 20 "
                         "--encoder self-attention --encoder-heads 2 --positions relative"};
  return task;
}

using SelfAttention = CommandTest;

TEST_F(SelfAttention, IsStoredInTheModel) {
  const auto c = parse_json(run("info --json '" + model_of(self_attention_task()) + "'").out);
  const auto& configuration = c["configuration"];
  EXPECT_EQ(configuration["encoder"], "self-attention");
  EXPECT_EQ(configuration["encoder_layers"], 2);
  EXPECT_EQ(configuration["decoder_layers"], 1);
  EXPECT_EQ(configuration["encoder_hidden"], 16);
  EXPECT_EQ(configuration["encoder_heads"], 2);
  EXPECT_EQ(configuration["feed_forward"], 64);
  EXPECT_EQ(configuration["positions"], "relative");
}

TEST_F(SelfAttention, TranslatesToTheSameBitsInAnyBatch) {
  const std::string model = " -m '" + model_of(self_attention_task()) + "' ";
  const std::string input = first_column(self_attention_task().test);
  const Result together = run("translate --json --threads 2" + model, input);
  EXPECT_EQ(together.code, 0) << together.err;
  EXPECT_EQ(run("translate --json --threads 1 --batch-tokens 1" + model, input).out, together.out);
}

TEST_F(SelfAttention, ShowDrawsTheSentenceAgainstItself) {
  const std::string model = " -m '" + model_of(self_attention_task()) + "' ";
  const Result r = run("show --self --layer 2 --head 1 a b c" + model);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(split_lines(r.out)[0], "a b c (layer 2, head 1)");
  EXPECT_NE(r.out.find("(end)"), std::string::npos) << r.out;
  EXPECT_NE(run("show --self --layer 2 --head 2 a b c" + model).out, r.out);
  EXPECT_EQ(run("show --self --layer 1 --head 1 a b c" + model).out,
            run("show --self a b c" + model).out);
  EXPECT_EQ(run("show --self ''" + model).code, 0);
  const auto j = parse_json(run("show --self --json a b c" + model).out);
  EXPECT_EQ(j["layer"], 1);
  EXPECT_EQ(j["head"], 1);
  EXPECT_EQ(j["source_tokens"], (Lines{"a", "b", "c", "</s>"}));
  EXPECT_EQ(j["target_tokens"], j["source_tokens"]);
  ASSERT_EQ(j["attention"].size(), 4U);
  for (const auto& row : j["attention"]) {
    double sum = 0.0;
    for (const double weight : row) sum += weight;
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
  EXPECT_EQ(run("show --self a b c --svg picture.svg" + model).code, 0);
  const std::string svg = read(folder() + "/picture.svg");
  EXPECT_NE(svg.find("Self-attention, layer 1, head 1: a b c"), std::string::npos) << svg;
}

TEST_F(SelfAttention, WhatCanNotBeShownIsAUsageErrorThatNamesAWayOut) {
  const std::string model = " -m '" + model_of(self_attention_task()) + "' ";
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Result r = run("show a b" + arguments);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(words), std::string::npos) << r.err;
  };
  refused(" --self --layer 3" + model, "layers 1 to 2");
  refused(" --self --head 0" + model, "heads 1 to 2");
  refused(" --head 1" + model, "--self");
  refused(" --self --steps" + model, "--self");
  refused(" --self --target a" + model, "--self");
  refused(" --self -m '" + model_of(symbols_task()) + "'", "--encoder self-attention");
}

TEST_F(SelfAttention, TrainRefusesWhatHasNoMeaning) {
  write("pairs.tsv", symbols_task().train);
  const auto refused = [&](const std::string& options, const std::string& words) {
    const Result r = run("train pairs.tsv -o m --tokens word --hidden 16 " + options);
    EXPECT_EQ(r.code, 2) << r.err;
    EXPECT_NE(r.err.find(words), std::string::npos) << r.err;
  };
  refused("--encoder transformer", "gru, lstm, self-attention");
  refused("--positions relative", "--encoder self-attention");
  refused("--encoder-heads 4", "--encoder self-attention");
  refused("--encoder self-attention --encoder-heads 3", "divides");
  refused("--encoder self-attention --unidirectional", "no direction");
  refused("--encoder self-attention --positions learnt", "none, sinusoidal, relative");
}

}  // namespace
}  // namespace regard::commands
