// Runs the regard command as a person would, and trains the small models that the trials need: once
// for all test programs of a build.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "regard/base/scratch_folder_test_util.h"

namespace regard::commands {

using Lines = std::vector<std::string>;

struct Result {
  int code = -1;  // exit code; -1 if a signal ended it
  std::string out, err;
};

std::string read(const std::string& path);
Lines split_lines(const std::string& text);
// Lines ended by LF, joined.
std::string join_lines(const Lines& lines);
std::string first_column(const std::string& tsv);
nlohmann::json parse_json(const std::string& line);

// A folder of the test's own, and the command run in it.
class CommandTest : public ScratchFolder {
 protected:
  // `arguments` as in a shell; "regard" is put before them. `setting` stands before the command:
  // "LC_ALL=C", "yes |".
  Result run(const std::string& arguments, const std::string& input = "",
             const std::string& setting = "");
  // A whole shell line; $REGARD is the command.
  Result shell(const std::string& line, const std::string& input = "");
};

// --- Shared fixtures (models are trained at first use) -------------------------------------------

struct Task {
  std::string name;
  std::string train, test;  // rows: source TAB target
  std::string options;      // of `regard train`
};

// 3 to 12 letters apart by blanks, and the same reversed; luong with input feeding.
const Task& reverse_task();
// Letters, digits and marks, copied character by character; some words have accents.
const Task& copy_task();
// Sentences of an invented language with a name in each; a name occurs once, so it is unknown.
const Task& name_task();
// Strings of three symbols, hardly trained.
const Task& symbols_task();
// The first minute of the reverse task: a model that knows little.
const Task& unripe_task();
// The reverse task with the `fixed` decoder, hardly trained.
const Task& fixed_task();

// The path of the task's trained model.
std::string model_of(const Task& task);

}  // namespace regard::commands
