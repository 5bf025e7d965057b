// A trial measures what the trainer made, leaves no file, and reads attention rows as they are.
#include "regard/train/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/train/reverse_task_test_util.h"
#include "regard/train/validation.h"

namespace regard {
namespace {

using test::Task;
using test::tiny_options;
using test::tiny_task;

// Temporary folders are made in the test's own.
class CompareTrial : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder().c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before_.c_str(), 1);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
    ScratchFolder::TearDown();
  }

  Task task_ = tiny_task();
  std::unique_ptr<Model> model_ = task_.model();
  Trial trial_{task_.train, task_.dev, tiny_options(), "exact", true};
  test::Watcher watcher_;
  std::atomic<bool> stop_{false};

 private:
  std::string before_;
};

TEST_F(CompareTrial, MeasuresTheModelThatItLeaves) {
  const std::optional<TrialFigures> f = run_trial(*model_, trial_, watcher_, stop_);
  ASSERT_TRUE(f);
  Threads alone;
  EXPECT_EQ(f->updates, static_cast<Index>(watcher_.updates.size()));
  EXPECT_EQ(f->dev_loss, mean_loss(model_->network, task_.dev, 60, alone));
  EXPECT_EQ(f->metric, translation_metric(*model_, task_.dev, "exact", 60, alone));
  EXPECT_EQ(f->trained.entropy, row_figures(model_->network, task_.dev, 60, alone).entropy);
  EXPECT_NE(f->trained.entropy, f->untrained.entropy);
  EXPECT_GT(f->training_tokens_per_second, 0.0);
  EXPECT_GT(f->decoding_sentences_per_second, 0.0);
}

TEST_F(CompareTrial, StoppedGivesNothing) {
  watcher_.on_update = [&](const UpdateInfo& info) { stop_ = info.update == 2; };
  EXPECT_FALSE(run_trial(*model_, trial_, watcher_, stop_));
  EXPECT_EQ(watcher_.updates.size(), 2U);
}

TEST_F(CompareTrial, ARefusalLeavesNoFileEither) {
  trial_.options.coverage_loss = 1.0f;
  EXPECT_THROW(run_trial(*model_, trial_, watcher_, stop_), ConfigError);
}

TEST_F(CompareTrial, AFolderThatCanNotBeMadeIsAnErrorOfTheSystem) {
  ::setenv("TMPDIR", "/dev/null", 1);
  EXPECT_THROW(run_trial(*model_, trial_, watcher_, stop_), std::system_error);
}

// Equal scores: every row is flat over its own source, so the figures are those of the lengths.
TEST(RowFigures, OfFlatRowsAreThoseOfTheLengths) {
  const Task task = tiny_task();
  const auto model = task.model();  // all zero
  Threads alone, team(3);
  model->network.parameters().pack(alone, false);
  double rows = 0.0, entropy = 0.0, largest = 0.0, length = 0.0;
  for (size_t i = 0; i < task.dev.size(); ++i) {
    const auto n = static_cast<double>(task.dev.source[i].size() + 1);
    const auto t = static_cast<double>(task.dev.target[i].size() + 1);
    rows += t;
    entropy += t * std::log(n);
    largest += t / n;
    length += t * n;
  }
  for (const Index batch_tokens : {7, 60}) {
    const RowFigures f = row_figures(model->network, task.dev, batch_tokens, alone);
    EXPECT_EQ(f.rows, static_cast<Index>(rows));
    // Weights are floats: each differs from 1 / n by at most 1e-7 of it.
    EXPECT_NEAR(f.entropy, entropy / rows, 1e-6);
    EXPECT_NEAR(f.largest, largest / rows, 1e-6);
    EXPECT_NEAR(f.log_source_length, std::log(length / rows), 1e-12);
    EXPECT_EQ(row_figures(model->network, task.dev, batch_tokens, team).entropy, f.entropy);
  }
}

TEST(RowFigures, AreNoneWithoutAttention) {
  Task task = tiny_task();
  task.config.decoder = DecoderKind::kFixed;
  task.config.input_feeding = false;
  Threads alone;
  EXPECT_EQ(row_figures(task.model()->network, task.dev, 60, alone).rows, 0);
}

TEST(ParameterCount, CountsByTheStartOfNames) {
  Parameters p;
  p.add({"attention.v", 1, 5});
  p.add({"attention.key.weight", 4, 3});
  p.add({"output.weight", 2, 2});
  p.allocate();
  EXPECT_EQ(parameter_count(p), 5 + 12 + 4);  // padding is no parameter
  EXPECT_EQ(parameter_count(p, "attention."), 5 + 12);
}

}  // namespace
}  // namespace regard
