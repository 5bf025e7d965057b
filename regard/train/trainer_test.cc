// Training runs: they learn; the same bits twice, on any threads and processor, and across a stop.
#include "regard/train/trainer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/kernels/op_case_test_util.h"
#include "regard/train/reverse_task_test_util.h"
#include "regard/train/validation.h"

namespace regard {
namespace {

using test::Outcome;
using test::reverse_pairs;
using test::Task;
using test::tiny_options;
using test::tiny_task;
using test::train;

class Training : public ScratchFolder {
 protected:
  std::string path(const std::string& name) const { return folder() + "/" + name; }
  // MODEL of a run from nothing.
  std::string model_of(const Task& task, const TrainOptions& options,
                       const std::string& name) const {
    EXPECT_EQ(train(task, options, {path(name)}).end, TrainEnd::kFinished);
    return read_file(path(name));
  }
  static Index batches_per_epoch(const Task& task, const TrainOptions& options) {
    std::vector<PairLength> lengths;
    for (size_t i = 0; i < task.train.size(); ++i) {
      lengths.push_back({static_cast<std::uint32_t>(task.train.source[i].size() + 1),
                         static_cast<std::uint32_t>(task.train.target[i].size() + 1)});
    }
    return static_cast<Index>(
        plan_epoch(lengths, {static_cast<std::uint64_t>(options.batch_tokens), options.seed, 0})
            .batches.size());
  }
};

TEST_F(Training, LearnsATinyReverseTask) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.epochs = 40;
  o.patience = 0;
  o.dropout = {};
  o.learning_rate = 1e-2;
  const Outcome run = train(task, o, {path("m")});
  EXPECT_EQ(run.end, TrainEnd::kFinished);
  Threads alone;
  const auto model = load_model(path("m"));
  EXPECT_GE(translation_metric(*model, task.dev, "exact", 500, alone), 95.0);
  EXPECT_LT(mean_loss(model->network, task.dev, 500, alone), 0.1);
  // What the observer heard.
  ASSERT_FALSE(run.told.updates.empty());
  for (size_t i = 0; i < run.told.updates.size(); ++i) {
    const UpdateInfo& u = run.told.updates[i];
    EXPECT_EQ(u.update, static_cast<Index>(i + 1));
    EXPECT_FALSE(u.skipped);
    EXPECT_GT(u.source_tokens, 0);
    EXPECT_GE(u.progress, i == 0 ? 0.0 : run.told.updates[i - 1].progress);
  }
  EXPECT_EQ(run.told.updates.front().learning_rate, 1e-2);
  EXPECT_LT(run.told.updates.back().learning_rate, 1e-3);  // falls to nothing at the end
  EXPECT_EQ(run.told.validations.size(), 40u);
  EXPECT_TRUE(run.told.validations.front().best);
}

TEST_F(Training, TwiceGivesTheSameModel) {
  const Task task = tiny_task();
  const std::string first = model_of(task, tiny_options(), "a");
  EXPECT_EQ(first, model_of(task, tiny_options(), "b"));
  TrainOptions other = tiny_options();
  other.seed = 2;
  EXPECT_NE(first, model_of(task, other, "c"));
}

TEST_F(Training, AnyNumberOfThreadsGivesTheSameModel) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  for (const Index shards : {2, 4}) {
    o.shards = shards;
    std::string want;
    for (const int threads : {1, 2, 3, 4}) {
      o.threads = threads;
      const std::string got =
          model_of(task, o, "t" + std::to_string(shards) + std::to_string(threads));
      if (want.empty()) want = got;
      EXPECT_EQ(got, want) << threads << " threads";
    }
  }
}

TEST_F(Training, EveryInstructionSetGivesTheSameModel) {
  const Task task = tiny_task();
  std::string want;
  int runs = 0;
  test::on_each_isa([&] {
    if (current_isa() == Isa::kSse4) return;
    const std::string got = model_of(task, tiny_options(), "i" + std::to_string(runs++));
    if (want.empty()) want = got;
    EXPECT_EQ(got, want) << executed_isa();
  });
}

TEST_F(Training, AStopAndGoingOnGivesTheModelOfAnUninterruptedRun) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();  // dropout is on
  const std::string want = model_of(task, o, "whole");
  const std::string state = read_file(path("whole.state"));
  const Index epoch = batches_per_epoch(task, o);
  ASSERT_GT(epoch, 8);
  for (const Index stop : {Index{1}, Index{7}, epoch - 1, epoch, epoch + epoch / 2, 3 * epoch}) {
    const std::string name = "stopped" + std::to_string(stop);
    const Outcome first = train(task, o, {path(name)}, stop);
    EXPECT_EQ(first.end, TrainEnd::kStopped);
    EXPECT_EQ(first.told.updates.size(), static_cast<size_t>(stop));
    const Outcome second = train(task, o, {path(name)});
    EXPECT_EQ(second.end, TrainEnd::kFinished);
    EXPECT_EQ(second.told.updates.front().update, stop + 1);
    EXPECT_EQ(read_file(path(name)), want) << "stop at " << stop;
    EXPECT_EQ(read_file(path(name + ".state")), state) << "stop at " << stop;
  }
}

TEST_F(Training, AStopAtEveryUpdateGivesTheModelOfAnUninterruptedRun) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.updates = 30;
  o.validate_every = 4;
  o.save_every = 3;
  o.threads = 2;
  const std::string want = model_of(task, o, "whole");
  for (Index stop = 1;; ++stop) {
    const Outcome run = train(task, o, {path("m")}, stop);
    if (run.end == TrainEnd::kFinished) break;
    ASSERT_EQ(run.told.updates.size(), 1u);
  }
  EXPECT_EQ(read_file(path("m")), want);
}

TEST_F(Training, EpochsOfOneBatchCanBeStopped) {
  const std::vector<Pair> pairs = {{"a b", "b a"}, {"c", "c"}};
  const Task task(pairs, pairs, 8, 8);
  TrainOptions o = tiny_options();
  o.epochs = 20;
  o.shards = 1;
  const std::string want = model_of(task, o, "whole");
  EXPECT_EQ(train(task, o, {path("m")}, 7).end, TrainEnd::kStopped);
  EXPECT_EQ(train(task, o, {path("m")}).end, TrainEnd::kFinished);
  EXPECT_EQ(read_file(path("m")), want);
}

TEST_F(Training, ARunThatWasKilledGoesOnFromItsLastState) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.validate_every = 3;
  o.save_every = 10;
  const std::string want = model_of(task, o, "whole");
  struct Killed {};
  // After a MODEL has been written but no state except the one of the start; then later.
  for (const Index at : {1, 4, 13, 40}) {
    const std::string name = "killed" + std::to_string(at);
    const auto model = task.model();
    test::Watcher told;
    told.on_update = [&](const UpdateInfo& info) {
      if (info.update == at) throw Killed();
    };
    {
      Trainer trainer(*model, task.train, task.dev, o, {path(name)}, told);
      EXPECT_THROW(trainer.run(std::atomic<bool>(false)), Killed);
    }
    EXPECT_EQ(train(task, o, {path(name)}).end, TrainEnd::kFinished);
    EXPECT_EQ(read_file(path(name)), want) << at;
  }
}

TEST_F(Training, AFinishedRunSaysSoAndMoreEpochsExtendIt) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.epochs = 2;
  const std::string first = model_of(task, o, "m");
  const Outcome again = train(task, o, {path("m")});
  EXPECT_EQ(again.end, TrainEnd::kAlreadyFinished);
  EXPECT_TRUE(again.told.updates.empty());
  EXPECT_EQ(read_file(path("m")), first);
  std::filesystem::remove(path("m"));
  EXPECT_EQ(train(task, o, {path("m")}).end, TrainEnd::kAlreadyFinished);
  EXPECT_EQ(read_file(path("m")), first) << "a MODEL that was taken away comes back from the state";
  o.epochs = 3;
  const Outcome more = train(task, o, {path("m")});
  EXPECT_EQ(more.end, TrainEnd::kFinished);
  EXPECT_EQ(static_cast<Index>(more.told.updates.size()), batches_per_epoch(task, o));
  ASSERT_FALSE(more.told.notes.empty());
  EXPECT_NE(more.told.notes[0].find("extended"), std::string::npos);
  o.updates = more.told.updates.back().update + 2;
  EXPECT_EQ(train(task, o, {path("m")}).end, TrainEnd::kAlreadyFinished);  // epochs are done
  o.epochs = 10;
  EXPECT_EQ(train(task, o, {path("m")}).told.updates.size(), 2u);
}

TEST_F(Training, PatienceEndsARunAndMoreOfItExtends) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.epochs = 1000;
  o.learning_rate = 0.3;  // gets nowhere
  o.patience = 2;
  const Outcome run = train(task, o, {path("m")});
  EXPECT_EQ(run.end, TrainEnd::kFinished);
  EXPECT_EQ(run.told.validations.back().patience_used, 2);
  EXPECT_LT(run.told.validations.size(), 60u);
  EXPECT_EQ(train(task, o, {path("m")}).end, TrainEnd::kAlreadyFinished);
  o.patience = 3;
  EXPECT_FALSE(train(task, o, {path("m")}).told.updates.empty());
}

TEST_F(Training, ModelIsTheBetterOnDevOfTheBestAndTheAverage) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.epochs = 8;
  o.learning_rate = 2e-2;
  const Outcome run = train(task, o, {path("m")});
  Threads alone;
  const double kept = mean_loss(load_model(path("m"))->network, task.dev, o.batch_tokens, alone);
  double best = 1e9;
  for (const ValidationInfo& v : run.told.validations) best = std::min(best, v.loss_per_token);
  const bool average =
      !run.told.notes.empty() && run.told.notes.back().find("average") != std::string::npos;
  EXPECT_TRUE(average ? kept < best : kept == best) << kept << " " << best;
  // The model that is handed back is the one on disk.
  EXPECT_EQ(format_model(*run.model, run.model->network.parameters().data()), read_file(path("m")));
}

TEST_F(Training, AMetricChoosesTheBest) {
  const Task task = tiny_task();
  TrainOptions o = tiny_options();
  o.metric = "exact";
  const Outcome run = train(task, o, {path("m")});
  for (const ValidationInfo& v : run.told.validations) EXPECT_LE(v.metric, 100.0);
  EXPECT_NE(run.told.validations.back().metric, run.told.validations.back().loss_per_token);
  o.metric = "ser";  // smaller is better
  const Outcome errors = train(task, o, {path("e")});
  double least = 1e9;
  for (const ValidationInfo& v : errors.told.validations) {
    EXPECT_EQ(v.best, v.metric < least);
    least = std::min(least, v.metric);
  }
}

TEST_F(Training, WithoutDevTheNewestIsKept) {
  Task task = tiny_task();
  task.dev = {};
  const Outcome run = train(task, tiny_options(), {path("m")});
  EXPECT_EQ(run.end, TrainEnd::kFinished);
  EXPECT_TRUE(run.told.validations.empty());
  EXPECT_EQ(format_model(*run.model, run.model->network.parameters().data()), read_file(path("m")));
  EXPECT_EQ(train(task, tiny_options(), {path("m")}).end, TrainEnd::kAlreadyFinished);
}

TEST_F(Training, AHandfulOfPairsIsLearnt) {
  const std::vector<Pair> five = {{"the cat", "le chat"},
                                  {"a dog", "un chien"},
                                  {"bread", "du pain"},
                                  {"we eat", "nous mangeons"},
                                  {"the dog", "le chien"}};
  for (const size_t n : {1, 2, 5}) {
    const std::vector<Pair> pairs(five.begin(), five.begin() + static_cast<std::ptrdiff_t>(n));
    const Task task(pairs, pairs, 32, 32);
    TrainOptions o;
    o.threads = 1;        // all else is the default,
    o.save_every = 1000;  // but for files that would only take time
    const Outcome run = train(task, o, {path("m" + std::to_string(n))});
    EXPECT_EQ(run.end, TrainEnd::kFinished);
    EXPECT_LE(run.told.updates.size(), 300u);
    Threads alone;
    EXPECT_EQ(translation_metric(*load_model(path("m" + std::to_string(n))), task.dev, "exact", 500,
                                 alone),
              100.0)
        << n;
  }
}

TEST_F(Training, PairsLongerThanTheBatchAreLeftOut) {
  std::vector<Pair> pairs = reverse_pairs(60, 1, {6, 1, 4});
  const Task fit(pairs, {}, 12, 20);
  for (const Pair& p : reverse_pairs(3, 2, {6, 30, 30})) pairs.push_back(p);
  const Task task(pairs, {}, 12, 20);
  TrainOptions o = tiny_options();
  o.batch_tokens = 20;
  const Outcome run = train(task, o, {path("m")});
  ASSERT_FALSE(run.told.notes.empty());
  EXPECT_NE(run.told.notes[0].find("3 pairs are longer than --batch-tokens 20"), std::string::npos);
  Index tokens = 0, want = 0;
  for (const UpdateInfo& u : run.told.updates) tokens += u.source_tokens;
  for (const auto& s : fit.train.source) want += static_cast<Index>(s.size()) + 1;
  EXPECT_EQ(tokens, o.epochs * want);
  o.batch_tokens = 1;
  EXPECT_THROW(train(task, o, {path("n")}), ConfigError);
}

}  // namespace
}  // namespace regard
