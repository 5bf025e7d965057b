// Every score and normaliser learns, on any number of threads to the same bits, and goes on after a
// stop.
#include <gtest/gtest.h>

#include <filesystem>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/model/attention_choices_test_util.h"
#include "regard/train/reverse_task_test_util.h"
#include "regard/train/validation.h"

namespace regard {
namespace {

using test::Task;
using test::tiny_options;
using test::tiny_task;
using test::train;

class AttentionTraining : public ScratchFolder {
 protected:
  std::string path(const std::string& name) const { return folder() + "/" + name; }

  // The tiny task, with what attention_choices() makes of its configuration.
  static std::vector<Task> tasks() {
    const Task base = tiny_task();
    std::vector<Task> all;
    for (const ModelConfig& c : test::attention_choices(base.config, 5)) {
      all.push_back(base);
      all.back().config = c;
    }
    return all;
  }
};

// A model that knows nothing has a loss near log 7 = 1.95: six letters and the end. Measured: 0.09
// to 0.42 after this run.
TEST_F(AttentionTraining, EveryScoreAndNormaliserLearns) {
  TrainOptions o = tiny_options();
  o.epochs = 12;
  o.learning_rate = 1e-2;
  o.dropout = {};
  Threads alone;
  int number = 0;
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_json(task.config));
    const std::string name = path("m" + std::to_string(number++));
    const auto run = train(task, o, {name});
    for (const UpdateInfo& u : run.told.updates) EXPECT_FALSE(u.skipped);
    const auto model = load_model(name);
    const double loss = mean_loss(model->network, task.dev, 500, alone);
    EXPECT_LT(loss, run.told.updates.front().loss_per_token / 2.0);
    RecordProperty(name.substr(name.rfind('/') + 1), std::to_string(loss));
  }
}

TEST_F(AttentionTraining, ThreadsAndAStopChangeNoBit) {
  int number = 0;
  for (const Task& task : tasks()) {
    SCOPED_TRACE(to_json(task.config));
    TrainOptions o = tiny_options();
    o.epochs = 1;
    o.dropout.attention = 0.2f;
    if (task.config.attention == AttentionKind::kCoverage) o.coverage_loss = 0.5f;
    const std::string one = path("one" + std::to_string(number)),
                      two = path("two" + std::to_string(number++));
    train(task, o, {one});
    o.threads = 2;
    train(task, o, {two}, 2);  // stopped after two updates
    train(task, o, {two});
    EXPECT_EQ(read_file(one), read_file(two));
  }
}

TEST_F(AttentionTraining, ALossOfCoverageIsPartOfTheLoss) {
  Task task = tiny_task();
  task.config.attention = AttentionKind::kCoverage;
  TrainOptions o = tiny_options();
  o.updates = 1;
  o.dropout = {};
  const double without = train(task, o, {path("a")}).told.updates[0].loss_per_token;
  o.coverage_loss = 1.0f;
  const double with = train(task, o, {path("b")}).told.updates[0].loss_per_token;
  EXPECT_GT(with, without);
  EXPECT_LT(with,
            without + 1.0);  // what is looked at twice is at most all, from the second step on
}

TEST_F(AttentionTraining, ALossOfCoverageWithoutCoverageIsRefusedBeforeAnythingIsWritten) {
  TrainOptions o = tiny_options();
  o.coverage_loss = 1.0f;
  EXPECT_THROW(train(tiny_task(), o, {path("m")}), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(path("m.lock")));
}

}  // namespace
}  // namespace regard
