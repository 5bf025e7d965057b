// One update: what its numbers are, and what they do not depend on.
#include "regard/train/updater.h"

#include <gtest/gtest.h>

#include <cmath>

#include "regard/kernels/op_case_test_util.h"
#include "regard/train/reverse_task_test_util.h"

namespace regard {
namespace {

using test::Task;
using test::tiny_options;
using test::tiny_task;

const std::vector<std::uint32_t> kBatch = {3, 14, 15, 9, 2, 6};

struct Steps {
  UpdateResult result;
  std::vector<float> parameters;
};

// `steps` updates on one batch from the start values of seed 1.
Steps run_steps(const Task& task, const TrainOptions& options, int threads, int steps = 2,
                const std::vector<std::uint32_t>& batch = kBatch) {
  const auto model = task.model();
  model->network.parameters().initialise(1);
  Threads team(threads);
  Updater updater(model->network, task.train, options, team);
  Steps r;
  for (int i = 0; i < steps; ++i) r.result = updater.run(batch, i, 1e-3);
  const Parameters& p = model->network.parameters();
  r.parameters.assign(p.data(), p.data() + p.size());
  return r;
}

TEST(Updater, ThreadsChangeNoBit) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  for (const Index shards : {1, 2, 4, 8}) {
    o.shards = shards;
    const Steps one = run_steps(task, o, 1);
    for (const int threads : {2, 5}) {
      const Steps many = run_steps(task, o, threads);
      EXPECT_TRUE(test::same_bits(one.parameters, many.parameters));
      EXPECT_EQ(one.result.loss, many.result.loss);
      EXPECT_EQ(one.result.gradient_norm, many.result.gradient_norm);
    }
  }
}

TEST(Updater, ShardsChangeRoundingAlone) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();  // dropout is on: its masks belong to the pair, not to the shard
  o.shards = 1;
  const Steps one = run_steps(task, o, 1, 1);
  for (const Index shards : {2, 4, 8}) {
    o.shards = shards;
    const Steps many = run_steps(task, o, 1, 1);
    EXPECT_NEAR(many.result.loss, one.result.loss, 1e-5 * one.result.loss);
    EXPECT_NEAR(many.result.gradient_norm, one.result.gradient_norm,
                1e-5 * one.result.gradient_norm);
    EXPECT_EQ(many.result.target_tokens, one.result.target_tokens);
    EXPECT_EQ(many.result.source_tokens, one.result.source_tokens);
  }
}

TEST(Updater, CountsRealTokensAndEndMarkers) {
  const Task task = tiny_task();
  Index source = 0, target = 0;
  for (const std::uint32_t i : kBatch) {
    source += static_cast<Index>(task.train.source[i].size()) + 1;
    target += static_cast<Index>(task.train.target[i].size()) + 1;
  }
  const Steps r = run_steps(task, tiny_options(), 1, 1);
  EXPECT_EQ(r.result.source_tokens, source);
  EXPECT_EQ(r.result.target_tokens, target);
  EXPECT_TRUE(r.result.finite);
}

TEST(Updater, MoreShardsThanPairsWork) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.shards = 8;
  const Steps few = run_steps(task, o, 2, 1, {3});
  o.shards = 1;
  const Steps one = run_steps(task, o, 1, 1, {3});
  EXPECT_EQ(few.result.loss, one.result.loss);
  EXPECT_TRUE(test::same_bits(few.parameters, one.parameters));
}

TEST(Updater, TheFirstStepOfAdamMovesEveryTouchedNumberByTheRate) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.clip = 0.0;
  const Steps before = run_steps(task, o, 1, 0), after = run_steps(task, o, 1, 1);
  int moved = 0;
  for (size_t k = 0; k < before.parameters.size(); ++k) {
    const float d = std::fabs(after.parameters[k] - before.parameters[k]);
    EXPECT_LT(d, 1.01e-3f);
    moved += d > 0.9e-3f ? 1 : 0;
  }
  EXPECT_GT(moved, static_cast<int>(before.parameters.size()) / 2);
}

TEST(Updater, LargeGradientsAreClippedToTheNorm) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.clip = 0.0;
  const double norm = run_steps(task, o, 1, 1).result.gradient_norm;
  const auto moment_norm = [&](double clip) {
    o.clip = clip;
    const auto model = task.model();
    model->network.parameters().initialise(1);
    Threads team;
    Updater updater(model->network, task.train, o, team);
    updater.run(kBatch, 0, 1e-3);
    double sum = 0.0;
    for (Index k = 0; k < model->network.parameters().size(); ++k) {
      sum += std::pow(static_cast<double>(updater.first_moment()[k]), 2.0);
    }
    return 10.0 * std::sqrt(sum);  // m = 0.1 g after one step
  };
  EXPECT_NEAR(moment_norm(0.0), norm, 1e-4 * norm);
  EXPECT_NEAR(moment_norm(2.0 * norm), norm, 1e-4 * norm);
  EXPECT_NEAR(moment_norm(0.25 * norm), 0.25 * norm, 1e-4 * norm);
}

}  // namespace
}  // namespace regard
