#include "regard/train/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "regard/base/error.h"
#include "regard/base/file.h"
#include "regard/model/tensor_file.h"

namespace regard {
namespace {

// One list of the counters for both directions.
template <class StateT, class Fn>
void each_counter(StateT& s, const Fn& fn) {
  fn("update", s.update);
  fn("adam_steps", s.adam_steps);
  fn("epoch", s.epoch);
  fn("batch", s.batch);
  fn("skipped_in_row", s.skipped_in_row);
  fn("rate_factor", s.rate_factor);
  fn("has_best", s.has_best);
  fn("best_score", s.best_score);
  fn("bad_validations", s.bad_validations);
  fn("validated_update", s.validated_update);
  fn("finished", s.finished);
}

TensorEntry floats(const std::string& name, const float* data, Index n) {
  return {name,
          TensorType::kF32,
          {n},
          {reinterpret_cast<const std::byte*>(data), static_cast<size_t>(n) * 4}};
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FormatError(FormatError::Kind::kModel, path + ": " + what + "; --fresh starts again");
}

void read_floats(const TensorFile& file, const std::string& path, const std::string& name,
                 float* out, Index n) {
  const TensorEntry* t = file.find(name);
  if (t == nullptr || t->bytes.size() != static_cast<size_t>(n) * 4) {
    fail(path, "the checkpoint lacks '" + name + "' or it has another size");
  }
  std::memcpy(out, t->bytes.data(), t->bytes.size());
}

// The options that a run may change without changing what has been done are not in the identity.
void check_identity(const std::string& path, const nlohmann::ordered_json& stored,
                    const RunIdentity& run) {
  for (const auto& [option, value] : run.options) {
    const auto it = stored.find(option);
    const std::string before = it == stored.end() ? "(absent)" : it->get<std::string>();
    if (before != value) {
      throw ConfigError(path + " belongs to a run with " + option + " " + before + ", now it is " +
                        value + ": give the same options to go on, or --fresh to start again");
    }
  }
}

}  // namespace

void save_checkpoint(const std::string& path, const RunIdentity& run, const Checkpoint& checkpoint,
                     const CheckpointBlocks& blocks) {
  nlohmann::ordered_json options, state;
  for (const auto& [name, value] : run.options) options[name] = value;
  each_counter(checkpoint.state, [&](const char* name, const auto& value) { state[name] = value; });
  TensorFile file;
  file.metadata["kind"] = "checkpoint";
  file.metadata["options"] = options.dump();
  file.metadata["data_hash"] = run.data_hash;
  file.metadata["state"] = state.dump();
  file.tensors.push_back(floats("parameters", blocks.parameters, blocks.size));
  file.tensors.push_back(floats("first_moment", blocks.first_moment, blocks.size));
  file.tensors.push_back(floats("second_moment", blocks.second_moment, blocks.size));
  if (!checkpoint.best.empty()) {
    file.tensors.push_back(floats("best", checkpoint.best.data(), blocks.size));
  }
  for (size_t i = 0; i < checkpoint.recent.size(); ++i) {
    file.tensors.push_back(
        floats("recent." + std::to_string(i), checkpoint.recent[i].data(), blocks.size));
  }
  replace_file(path, format_tensor_file(file));
}

void load_checkpoint(const std::string& path, const RunIdentity& run, Checkpoint& checkpoint,
                     const CheckpointBlocks& blocks) {
  const MappedFile mapped(path);
  const TensorFile file = parse_tensor_file(mapped.bytes(), path);
  const auto text = [&](const std::string& key) {
    const auto it = file.metadata.find(key);
    if (it == file.metadata.end()) fail(path, "this is no checkpoint: '" + key + "' is missing");
    return it->second;
  };
  const auto options = nlohmann::ordered_json::parse(text("options"), nullptr, false);
  const auto state = nlohmann::ordered_json::parse(text("state"), nullptr, false);
  if (!options.is_object() || !state.is_object()) fail(path, "the checkpoint's state is not JSON");
  for (const auto& [name, value] : options.items()) {
    if (!value.is_string()) fail(path, "the checkpoint's option '" + name + "' is not text");
  }
  check_identity(path, options, run);
  if (text("data_hash") != run.data_hash) {
    throw ConfigError(
        path +
        " belongs to a run on other data: give the same files to go on, or --fresh to start again");
  }
  try {
    each_counter(checkpoint.state, [&](const char* name, auto& value) {
      value = state.at(name).get<std::remove_reference_t<decltype(value)>>();
    });
  } catch (const nlohmann::json::exception&) {
    fail(path, "the checkpoint's counters are incomplete");
  }
  const TrainState& s = checkpoint.state;
  if (std::min({s.update, s.adam_steps, s.epoch, s.batch, s.skipped_in_row, s.bad_validations}) <
      0) {
    fail(path, "the checkpoint has a negative counter");
  }
  read_floats(file, path, "parameters", blocks.parameters, blocks.size);
  read_floats(file, path, "first_moment", blocks.first_moment, blocks.size);
  read_floats(file, path, "second_moment", blocks.second_moment, blocks.size);
  checkpoint.best.clear();
  checkpoint.recent.clear();
  if (file.find("best") != nullptr) {
    checkpoint.best.resize(static_cast<size_t>(blocks.size));
    read_floats(file, path, "best", checkpoint.best.data(), blocks.size);
  }
  for (size_t i = 0; file.find("recent." + std::to_string(i)) != nullptr; ++i) {
    checkpoint.recent.emplace_back(static_cast<size_t>(blocks.size));
    read_floats(file, path, "recent." + std::to_string(i), checkpoint.recent.back().data(),
                blocks.size);
  }
}

}  // namespace regard
