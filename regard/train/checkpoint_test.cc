// The checkpoint: everything comes back; what does not fit is refused.
#include "regard/train/checkpoint.h"

#include <gtest/gtest.h>

#include <functional>
#include <system_error>

#include "regard/base/error.h"
#include "regard/base/file.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/model/tensor_file.h"

namespace regard {
namespace {

struct Numbers {
  std::vector<float> parameters, first, second;
  explicit Numbers(float x) : parameters(20, x), first(20, x + 1), second(20, x + 2) {}
  CheckpointBlocks blocks() { return {parameters.data(), first.data(), second.data(), 20}; }
};

class CheckpointFile : public ScratchFolder {
 protected:
  CheckpointFile() {
    TrainState& s = checkpoint_.state;
    s.update = 17;
    s.adam_steps = 16;
    s.epoch = 3;
    s.batch = 4;
    s.skipped_in_row = 1;
    s.rate_factor = 0.5;
    s.has_best = true;
    s.best_score = -0.1234567890123456789;
    s.bad_validations = 2;
    s.validated_update = 15;
    checkpoint_.best.assign(20, 7.0f);
    checkpoint_.recent = {std::vector<float>(20, 8.0f), std::vector<float>(20, 9.0f)};
  }
  std::string path() const { return folder() + "/state"; }
  void save() { save_checkpoint(path(), run_, checkpoint_, numbers_.blocks()); }
  // Loading fails with this error whose message holds `words`.
  template <class E>
  void expect_refusal(const RunIdentity& run, const std::string& words, Index size = 20) {
    Checkpoint loaded;
    Numbers numbers(0.0f);
    CheckpointBlocks blocks = numbers.blocks();
    blocks.size = size;
    try {
      load_checkpoint(path(), run, loaded, blocks);
      ADD_FAILURE() << "loaded; wanted: " << words;
    } catch (const E& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find(path()), 0u) << e.what();
    }
  }
  void change(const std::function<void(TensorFile&)>& fn) {
    save();
    const std::string bytes = read_file(path());
    TensorFile file = parse_tensor_file(as_bytes(bytes), path());
    fn(file);
    write("state", format_tensor_file(file));
  }
  RunIdentity run_{{{"--seed", "1"}, {"--clip", "2"}}, "0123456789abcdef"};
  Checkpoint checkpoint_;
  Numbers numbers_{1.0f};
};

TEST_F(CheckpointFile, EverythingComesBack) {
  save();
  Checkpoint loaded;
  Numbers numbers(0.0f);
  load_checkpoint(path(), run_, loaded, numbers.blocks());
  EXPECT_EQ(numbers.parameters, numbers_.parameters);
  EXPECT_EQ(numbers.first, numbers_.first);
  EXPECT_EQ(numbers.second, numbers_.second);
  EXPECT_EQ(loaded.best, checkpoint_.best);
  EXPECT_EQ(loaded.recent, checkpoint_.recent);
  const TrainState &a = loaded.state, &b = checkpoint_.state;
  EXPECT_EQ(a.update, b.update);
  EXPECT_EQ(a.adam_steps, b.adam_steps);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.batch, b.batch);
  EXPECT_EQ(a.skipped_in_row, b.skipped_in_row);
  EXPECT_EQ(a.rate_factor, b.rate_factor);
  EXPECT_EQ(a.has_best, b.has_best);
  EXPECT_EQ(a.best_score, b.best_score);
  EXPECT_EQ(a.bad_validations, b.bad_validations);
  EXPECT_EQ(a.validated_update, b.validated_update);
  EXPECT_EQ(a.finished, b.finished);
  const std::string bytes = read_file(path());
  save_checkpoint(path(), run_, loaded, numbers.blocks());
  EXPECT_EQ(read_file(path()), bytes);
}

TEST_F(CheckpointFile, AStateBeforeTheFirstValidationHasNoBest) {
  checkpoint_ = {};
  save();
  Checkpoint loaded;
  Numbers numbers(0.0f);
  load_checkpoint(path(), run_, loaded, numbers.blocks());
  EXPECT_TRUE(loaded.best.empty());
  EXPECT_TRUE(loaded.recent.empty());
}

TEST_F(CheckpointFile, AnotherRunIsRefusedByName) {
  save();
  RunIdentity other = run_;
  other.options[1].second = "3";
  expect_refusal<ConfigError>(other, "--clip 2, now it is 3");
  other = run_;
  other.options.emplace_back("--new", "x");
  expect_refusal<ConfigError>(other, "--new (absent), now it is x");
  other = run_;
  other.data_hash = "0";
  expect_refusal<ConfigError>(other, "other data");
}

TEST_F(CheckpointFile, WhatIsMissingIsNamed) {
  for (const char* key : {"options", "data_hash", "state"}) {
    change([&](TensorFile& f) { f.metadata.erase(key); });
    expect_refusal<FormatError>(run_, std::string("'") + key + "' is missing");
  }
  for (const char* name : {"parameters", "first_moment", "second_moment"}) {
    change([&](TensorFile& f) {
      std::erase_if(f.tensors, [&](const TensorEntry& t) { return t.name == name; });
    });
    expect_refusal<FormatError>(run_, name);
  }
  save();
  expect_refusal<FormatError>(run_, "another size", 19);
  change([](TensorFile& f) { f.metadata["state"] = "[]"; });
  expect_refusal<FormatError>(run_, "not JSON");
  change([](TensorFile& f) { f.metadata["options"] = "nonsense"; });
  expect_refusal<FormatError>(run_, "not JSON");
  change([](TensorFile& f) { f.metadata["options"] = "{\"--seed\":1}"; });
  expect_refusal<FormatError>(run_, "'--seed' is not text");
  change(
      [](TensorFile& f) { f.metadata["state"].replace(f.metadata["state"].find("17"), 2, "-1"); });
  expect_refusal<FormatError>(run_, "negative");
  change([](TensorFile& f) {
    f.metadata["state"].replace(f.metadata["state"].find("epoch"), 5, "epocs");
  });
  expect_refusal<FormatError>(run_, "counters");
  change([](TensorFile& f) {
    f.metadata["state"].replace(f.metadata["state"].find("17"), 2, "\"\"");
  });
  expect_refusal<FormatError>(run_, "counters");
}

TEST_F(CheckpointFile, NoPlaceToWriteIsAResource) {
  EXPECT_THROW(save_checkpoint(folder() + "/absent/state", run_, checkpoint_, numbers_.blocks()),
               std::system_error);
}

}  // namespace
}  // namespace regard
