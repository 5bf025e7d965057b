// Validation: the loss is the score of forced decoding, and nothing depends on batches or threads.
#include "regard/train/validation.h"

#include <gtest/gtest.h>

#include "regard/search/beam.h"
#include "regard/train/reverse_task_test_util.h"

namespace regard {
namespace {

using test::Task;
using test::tiny_options;
using test::tiny_task;

std::unique_ptr<Model> start(const Task& task) {
  auto model = task.model();
  model->network.parameters().initialise(3);
  Threads alone;
  model->network.parameters().pack(alone, true);
  return model;
}

// log p of each target token of one pair, alone, as search scores it: step by step.
std::vector<float> stepwise(const Seq2seq& network, std::span<const std::int32_t> source,
                            std::span<const std::int32_t> target) {
  const std::vector<std::span<const std::int32_t>> sources = {source}, targets = {target};
  const PairBatch batch = PairBatch::pack(sources, targets);
  Tape tape(network.parameters(), nullptr);
  const DecoderMemory memory = network.encode(tape, batch.source);
  const Index zero = 0;
  DecoderState state = network.decoder().start(tape, memory, &zero, 1);
  std::vector<float> out;
  for (Index t = 0; t < batch.target.rows(); ++t) {
    const auto step = network.decoder().step(tape, memory, state,
                                             &batch.target.ids[static_cast<size_t>(t)], &zero, 1);
    state = step.state;
    out.push_back(
        network.next_log_probs(tape, step.readout)(0, batch.next[static_cast<size_t>(t)]));
  }
  return out;
}

TEST(Validation, TheLossIsTheScoreOfForcedDecoding) {
  const Task task = tiny_task();
  const auto model = start(task);
  Threads alone;
  double sum = 0.0;
  Index tokens = 0;
  for (size_t i = 0; i < task.dev.size(); ++i) {
    for (const float x : stepwise(model->network, task.dev.source[i], task.dev.target[i])) {
      sum -= static_cast<double>(x);
      ++tokens;
    }
  }
  EXPECT_NEAR(mean_loss(model->network, task.dev, 60, alone), sum / static_cast<double>(tokens),
              1e-12);
}

TEST(Validation, TrainingScoresAsSearchDoes) {
  const Task task = tiny_task();
  const auto model = start(task);
  const std::vector<std::uint32_t> batch = {5, 8, 13, 21};
  double want = 0.0;
  for (const std::uint32_t i : batch) {
    for (const float x : stepwise(model->network, task.train.source[i], task.train.target[i]))
      want -= static_cast<double>(x);
  }
  TrainOptions o = tiny_options();
  o.dropout = {};
  Threads alone;
  Updater updater(model->network, task.train, o, alone);
  EXPECT_NEAR(updater.run(batch, 0, 1e-3).loss, want, 1e-12 * want);
}

TEST(Validation, BatchesAndThreadsChangeNothing) {
  const Task task = tiny_task();
  const auto model = start(task);
  Threads alone, team(3);
  const double loss = mean_loss(model->network, task.dev, 60, alone);
  EXPECT_EQ(mean_loss(model->network, task.dev, 60, team), loss);
  EXPECT_NEAR(mean_loss(model->network, task.dev, 7, alone), loss, 1e-12);
  const double metric = translation_metric(*model, task.dev, "ser", 60, alone);
  EXPECT_EQ(translation_metric(*model, task.dev, "ser", 60, team), metric);
  EXPECT_EQ(translation_metric(*model, task.dev, "ser", 7, alone), metric);
}

TEST(Validation, RowsOfOneSourceAreReferencesOfOneItem) {
  std::vector<Pair> pairs = {{"a", "a"}, {"b", "b"}, {"a", "b"}};
  Task task(pairs, pairs, 16, 16);
  TrainOptions o = tiny_options();
  o.epochs = 60;
  o.learning_rate = 1e-2;
  const auto model = task.model();
  model->network.parameters().initialise(1);
  Threads alone;
  Updater updater(model->network, task.train, o, alone);
  for (Index i = 0; i < 80; ++i) updater.run(std::vector<std::uint32_t>{0, 1, 2}, i, 1e-2);
  // Either answer to "a" is right.
  EXPECT_EQ(translation_metric(*model, task.dev, "exact", 60, alone), 100.0);
}

TEST(Validation, BlankSidesAreNoTrouble) {
  Task task = tiny_task();
  const auto model = start(task);
  Threads alone;
  for (const Pair& blank : {Pair{"", ""}, Pair{"", "a"}, Pair{"a", ""}}) {
    const EncodedPairs dev = encode_pairs({blank}, task.tokens, 0);
    EXPECT_GE(mean_loss(model->network, dev, 60, alone), 0.0);
    EXPECT_GE(translation_metric(*model, dev, "exact", 60, alone), 0.0);
  }
  EXPECT_EQ(mean_loss(model->network, {}, 60, alone), 0.0);
}

}  // namespace
}  // namespace regard
