// What the trainer refuses, and what it does when numbers run away.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/model/tensor_file.h"
#include "regard/train/reverse_task_test_util.h"

namespace regard {
namespace {

using test::Outcome;
using test::reverse_pairs;
using test::Task;
using test::tiny_options;
using test::tiny_task;
using test::train;
using test::Watcher;

class TrainerRefusals : public ScratchFolder {
 protected:
  std::string path(const std::string& name) const { return folder() + "/" + name; }
  // The message of the ConfigError that this run must give.
  std::string refusal(const Task& task, const TrainOptions& options, bool fresh = false) const {
    try {
      train(task, options, {path("m"), fresh});
    } catch (const ConfigError& e) {
      return e.what();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }
  static bool has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
    return text.find(part) != std::string::npos;
  }
  static bool exists(const std::string& path) { return std::filesystem::exists(path); }
  // Every number of a model or state file is finite.
  static void expect_finite(const std::string& file) {
    const std::string bytes = read_file(file);
    for (const TensorEntry& t : parse_tensor_file(as_bytes(bytes), file).tensors) {
      if (t.type != TensorType::kF32) continue;
      for (size_t k = 0; k < t.bytes.size(); k += 4) {
        float x = 0.0f;
        std::memcpy(&x, t.bytes.data() + k, 4);
        ASSERT_TRUE(std::isfinite(x)) << file << " " << t.name << " " << k / 4;
      }
    }
  }
  const Task task_ = tiny_task();
};

TEST_F(TrainerRefusals, AChangedOptionIsNamed) {
  TrainOptions o = tiny_options();
  train(task_, o, {path("m")}, 3);
  const std::string state = read_file(path("m.state"));
  const auto changed = [&](const char* option, const auto& change) {
    TrainOptions other = o;
    change(other);
    const std::string message = refusal(task_, other);
    has(message, option);
    has(message, "--fresh");
  };
  changed("--learning-rate 0.005, now it is 0.004",
          [](TrainOptions& t) { t.learning_rate = 4e-3; });
  changed("--batch-tokens 60, now it is 61", [](TrainOptions& t) { t.batch_tokens = 61; });
  changed("--shards 2, now it is 4", [](TrainOptions& t) { t.shards = 4; });
  changed("--seed", [](TrainOptions& t) { t.seed = 9; });
  changed("--clip", [](TrainOptions& t) { t.clip = 2.0; });
  changed("--label-smoothing", [](TrainOptions& t) { t.label_smoothing = 0.1f; });
  changed("--metric", [](TrainOptions& t) { t.metric = "exact"; });
  changed("--validate-every", [](TrainOptions& t) { t.validate_every = 5; });
  changed("--dropout-embedding", [](TrainOptions& t) { t.dropout.embedding = 0.1f; });
  changed("--dropout-layer", [](TrainOptions& t) { t.dropout.layer = 0.1f; });
  changed("--dropout-memory", [](TrainOptions& t) { t.dropout.memory = 0.1f; });
  changed("--dropout-readout", [](TrainOptions& t) { t.dropout.readout = 0.1f; });
  changed("--attention-dropout", [](TrainOptions& t) { t.dropout.attention = 0.1f; });
  Task other = tiny_task();
  other.config.hidden = other.config.encoder_hidden = 24;
  has(refusal(other, o), "model");
  EXPECT_EQ(read_file(path("m.state")), state);  // nothing was touched
  // What changes no bit may change.
  o.threads = 3;
  o.save_every = 2;
  o.patience = 7;
  EXPECT_EQ(train(task_, o, {path("m")}).end, TrainEnd::kFinished);
}

TEST_F(TrainerRefusals, ASmallDifferenceOfAnOptionIsOne) {
  TrainOptions o = tiny_options();
  o.learning_rate = 1e-7;
  train(task_, o, {path("m")}, 3);
  o.learning_rate = 2e-7;
  has(refusal(task_, o), "--learning-rate");
}

TEST_F(TrainerRefusals, OtherDataIsFound) {
  train(task_, tiny_options(), {path("m")}, 3);
  const auto pairs = task_.train.text, dev = task_.dev.text;
  const auto with = [&](const std::vector<Pair>& train_pairs, const std::vector<Pair>& dev_pairs) {
    return refusal(Task(train_pairs, dev_pairs, 12, 20), tiny_options());
  };
  auto other = pairs;
  std::swap(other[3], other[4]);
  has(with(other, dev), "other data");
  other = pairs;
  other.pop_back();
  has(with(other, dev), "other data");
  auto less = dev;
  less.pop_back();
  has(with(pairs, less), "other data");
  // The same ids, but they stand for other words.
  other = pairs;
  for (Pair& p : other) {
    for (std::string* side : {&p.source, &p.target}) {
      for (char& c : *side) c = c == ' ' ? ' ' : static_cast<char>(c + 10);
    }
  }
  auto letters = dev;
  for (Pair& p : letters) {
    for (std::string* side : {&p.source, &p.target}) {
      for (char& c : *side) c = c == ' ' ? ' ' : static_cast<char>(c + 10);
    }
  }
  has(with(other, letters), "other data");
}

TEST_F(TrainerRefusals, AModelWithoutStateIsKept) {
  write("m", "precious");
  const std::string message = refusal(task_, tiny_options());
  has(message, "without a checkpoint");
  has(message, "--fresh");
  EXPECT_EQ(read_file(path("m")), "precious");
  EXPECT_FALSE(exists(path("m.state")));
  EXPECT_EQ(train(task_, tiny_options(), {path("m"), true}).end, TrainEnd::kFinished);
  EXPECT_NE(read_file(path("m")), "precious");
}

TEST_F(TrainerRefusals, FreshStartsAgainOverAnotherRun) {
  train(task_, tiny_options(), {path("other")});
  TrainOptions o = tiny_options();
  o.seed = 5;
  train(task_, o, {path("m")});
  const Outcome run = train(task_, tiny_options(), {path("m"), true});
  EXPECT_EQ(run.told.updates.front().update, 1);
  EXPECT_EQ(read_file(path("m")), read_file(path("other")));
}

TEST_F(TrainerRefusals, ADamagedStateIsAModelError) {
  train(task_, tiny_options(), {path("m")}, 3);
  std::string bytes = read_file(path("m.state"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  write("m.state", bytes);
  EXPECT_THROW(train(task_, tiny_options(), {path("m")}), FormatError);
  write("m.state", "");
  EXPECT_THROW(train(task_, tiny_options(), {path("m")}), FormatError);
}

TEST_F(TrainerRefusals, ASecondTrainerIsRefusedWhileOneRuns) {
  const auto first = task_.model(), second = task_.model();
  Watcher told;
  {
    Trainer one(*first, task_.train, task_.dev, tiny_options(), {path("m")}, told);
    try {
      Trainer two(*second, task_.train, task_.dev, tiny_options(), {path("m")}, told);
      ADD_FAILURE() << "not refused";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::operation_would_block);
      has(e.what(), "m.lock");
    }
  }
  EXPECT_NO_THROW(Trainer(*second, task_.train, task_.dev, tiny_options(), {path("m")}, told));
}

TEST_F(TrainerRefusals, OptionsOutOfRangeAreNamed) {
  const auto bad = [&](const char* option, const auto& change) {
    TrainOptions o = tiny_options();
    change(o);
    has(refusal(task_, o), option);
    EXPECT_FALSE(exists(path("m.lock"))) << option;
  };
  bad("--epochs is -1", [](TrainOptions& o) { o.epochs = -1; });
  bad("--updates", [](TrainOptions& o) { o.updates = -1; });
  bad("--batch-tokens", [](TrainOptions& o) { o.batch_tokens = -1; });
  bad("--patience", [](TrainOptions& o) { o.patience = -1; });
  bad("--validate-every", [](TrainOptions& o) { o.validate_every = -1; });
  bad("--save-every", [](TrainOptions& o) { o.save_every = -1; });
  bad("--shards", [](TrainOptions& o) { o.shards = 3; });
  bad("--shards", [](TrainOptions& o) { o.shards = 16; });
  bad("--learning-rate", [](TrainOptions& o) { o.learning_rate = 0.0; });
  bad("--learning-rate", [](TrainOptions& o) { o.learning_rate = std::nan(""); });
  bad("--learning-rate",
      [](TrainOptions& o) { o.learning_rate = std::numeric_limits<double>::infinity(); });
  bad("--clip", [](TrainOptions& o) { o.clip = -1.0; });
  bad("--label-smoothing", [](TrainOptions& o) { o.label_smoothing = 1.0f; });
  bad("--dropout-memory", [](TrainOptions& o) { o.dropout.memory = 1.5f; });
  bad("--attention-dropout", [](TrainOptions& o) { o.dropout.attention = 1.0f; });
  bad("--coverage-loss", [](TrainOptions& o) { o.coverage_loss = -1.0f; });
  bad("--coverage-loss", [](TrainOptions& o) { o.coverage_loss = 1.0f; });  // not coverage
  bad("metric", [](TrainOptions& o) { o.metric = "beauty"; });
}

TEST_F(TrainerRefusals, NothingToTrainOnIsSaid) {
  Task empty = tiny_task();
  empty.train = {};
  has(refusal(empty, tiny_options()), "no pair to train on");
}

TEST_F(TrainerRefusals, AFolderThatIsNotThereIsAResource) {
  EXPECT_THROW(train(task_, tiny_options(), {path("absent/m")}), std::system_error);
}

TEST_F(TrainerRefusals, AHugeRateLeavesFilesOfFiniteNumbers) {
  for (const double rate : {1e6, 1e30}) {
    TrainOptions o = tiny_options();
    o.learning_rate = rate;
    const std::string name = "r" + std::to_string(rate > 1e20);
    train(task_, o, {path(name)});
    expect_finite(path(name));
    expect_finite(path(name + ".state"));
    EXPECT_EQ(train(task_, o, {path(name)}).end, TrainEnd::kAlreadyFinished);
  }
}

TEST_F(TrainerRefusals, ParametersThatAreNotFiniteReachNoFile) {
  for (const bool at_validation : {true, false}) {
    const auto model = task_.model();
    Watcher told;
    TrainOptions o = tiny_options();
    o.validate_every = at_validation ? 5 : 1000;
    o.save_every = at_validation ? 1000 : 5;
    const std::string name = at_validation ? "v" : "s";
    told.on_update = [&](const UpdateInfo& info) {
      Parameters& p = model->network.parameters();
      // Nobody reads the source's begin marker, so losses stay finite.
      if (info.update == 3) {
        p.value(p.find("source.embedding"))(kBeginId, 0) = std::numeric_limits<float>::infinity();
      }
    };
    Trainer trainer(*model, task_.train, task_.dev, o, {path(name)}, told);
    try {
      trainer.run(std::atomic<bool>(false));
      ADD_FAILURE() << "not stopped";
    } catch (const NumericError& e) {
      has(e.what(), "update 5");
      has(e.what(), "--learning-rate");
    }
    EXPECT_FALSE(exists(path(name)));
    expect_finite(path(name + ".state"));
  }
}

TEST_F(TrainerRefusals, FiveUpdatesInARowThatAreNotFiniteStopTheRun) {
  const auto model = task_.model();
  Watcher told;
  TrainOptions o = tiny_options();
  o.validate_every = o.save_every = 1000;
  std::string before;
  told.on_update = [&](const UpdateInfo& info) {
    if (info.update != 3) return;
    before = read_file(path("m.state"));
    Parameters& p = model->network.parameters();
    const Matrix table = p.value(p.find("source.embedding"));
    for (Index k = 0; k < table.rows * table.cols; ++k)
      table.data[k] = std::numeric_limits<float>::infinity();
  };
  Trainer trainer(*model, task_.train, task_.dev, o, {path("m")}, told);
  EXPECT_THROW(trainer.run(std::atomic<bool>(false)), NumericError);
  ASSERT_EQ(told.updates.size(), 7u);  // the fifth is told by the exception
  for (size_t i = 3; i < 7; ++i) EXPECT_TRUE(told.updates[i].skipped);
  EXPECT_LT(told.updates[6].learning_rate, 0.2 * told.updates[2].learning_rate);
  EXPECT_EQ(read_file(path("m.state")), before);
  EXPECT_FALSE(exists(path("m")));
}

TEST_F(TrainerRefusals, OneUpdateThatIsNotFiniteIsSkipped) {
  const auto model = task_.model();
  Watcher told;
  std::vector<float> saved;
  told.on_update = [&](const UpdateInfo& info) {
    Parameters& p = model->network.parameters();
    const Matrix table = p.value(p.find("source.embedding"));
    if (info.update == 3) {
      saved.assign(p.data(), p.data() + p.size());
      for (Index k = 0; k < table.rows * table.cols; ++k) table.data[k] = std::nanf("");
    } else if (info.update == 4) {
      EXPECT_TRUE(info.skipped);
      for (Index k = 0; k < table.rows * table.cols; ++k)
        table.data[k] = saved[static_cast<size_t>(table.data - p.data() + k)];
      EXPECT_TRUE(std::equal(saved.begin(), saved.end(), p.data()));  // nothing else was changed
    } else {
      EXPECT_FALSE(info.skipped);
    }
  };
  Trainer trainer(*model, task_.train, task_.dev, tiny_options(), {path("m")}, told);
  EXPECT_EQ(trainer.run(std::atomic<bool>(false)), TrainEnd::kFinished);
  expect_finite(path("m"));
  expect_finite(path("m.state"));
}

}  // namespace
}  // namespace regard
