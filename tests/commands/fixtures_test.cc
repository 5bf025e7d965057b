// The fixtures themselves: their data, the training of their models, and that they learned.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "command_test_util.h"

namespace regard::commands {
namespace {

namespace fs = std::filesystem;

// mt19937's numbers are the same everywhere; distributions are not.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }

 private:
  std::mt19937 engine_;
};

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

template <class MakeRow>
std::string rows(int count, const MakeRow& make) {
  std::string text;
  for (int i = 0; i < count; ++i) text += make() + "\n";
  return text;
}

std::string reverse_rows(int count, unsigned seed) {
  Random random(seed);
  return rows(count, [&] {
    std::string forward, backward;
    for (int n = 3 + random.below(10); n > 0; --n) {
      const char letter = static_cast<char>('a' + random.below(26));
      forward += std::string(forward.empty() ? "" : " ") + letter;
      backward = std::string(1, letter) + (backward.empty() ? "" : " ") + backward;
    }
    return forward + "\t" + backward;
  });
}

std::string copy_rows(int count, unsigned seed) {
  Random random(seed);
  const std::vector<std::string> symbols = {"a", "b", "d",        "e",        "k", "n", "o",
                                            "p", "r", "s",        "u",        "w", "<", ">",
                                            "/", "#", "\xC3\xA9", "\xC3\xB4", " "};
  return rows(count, [&] {
    std::string text;
    for (int n = 3 + random.below(10); n > 0; --n) {
      const std::string& s = symbols[static_cast<size_t>(random.below(19))];
      text += s == " " && (text.empty() || text.back() == ' ' || n == 1) ? "a" : s;
    }
    return text + "\t" + text;
  });
}

// "the NAME sees a dog" in two languages that nobody speaks.
std::string name_rows(int count, unsigned seed, const std::string& prefix) {
  Random random(seed);
  const Lines subjects = {"mo", "tal", "rin", "sek"}, verbs = {"gida", "luma", "pore"},
              objects = {"kem", "dast", "fol", "zui"};
  const Lines subjects2 = {"ka", "ben", "uro", "wif"}, verbs2 = {"shi", "tlo", "nae"},
              objects2 = {"pim", "orr", "xat", "jev"};
  int number = 0;
  return rows(count, [&] {
    const auto s = static_cast<size_t>(random.below(4)), v = static_cast<size_t>(random.below(3)),
               o = static_cast<size_t>(random.below(4));
    const std::string name = prefix + std::to_string(number++);
    if (random.below(2) == 0) {
      return subjects[s] + " " + name + " " + verbs[v] + " " + objects[o] + "\t" + objects2[o] +
             " " + subjects2[s] + " " + name + " " + verbs2[v];
    }
    return verbs[v] + " " + name + " " + objects[o] + "\t" + name + " " + verbs2[v] + " " +
           objects2[o];
  });
}

std::string symbol_rows(int count, unsigned seed) {
  Random random(seed);
  return rows(count, [&] {
    std::string text;
    for (int n = 1 + random.below(4); n > 0; --n) {
      text += std::string(text.empty() ? "" : " ") + static_cast<char>('a' + random.below(3));
    }
    return text + "\t" + text;
  });
}

// Where models of this build of the command are kept. Models of older builds go.
std::string cache_folder() {
  const fs::path command = REGARD_COMMAND;
  const auto time = fs::last_write_time(command).time_since_epoch().count();
  const fs::path all = command.parent_path() / "commands-fixtures";
  const fs::path mine = all / (std::to_string(fs::file_size(command)) + "-" + std::to_string(time));
  fs::create_directories(mine);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(all, ignored)) {
    if (entry.path() != mine) fs::remove_all(entry.path(), ignored);
  }
  return mine.string();
}

}  // namespace

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Lines split_lines(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string join_lines(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string first_column(const std::string& tsv) {
  Lines lines = split_lines(tsv);
  for (std::string& line : lines) line.resize(line.find('\t'));
  return join_lines(lines);
}

nlohmann::json parse_json(const std::string& line) { return nlohmann::json::parse(line); }

Result CommandTest::shell(const std::string& line, const std::string& input) {
  write(".in", input);
  const std::string all = "cd '" + folder() + "' && export REGARD='" + REGARD_COMMAND + "' && { " +
                          line + "\n} <.in >.out 2>.err";
  Result result;
  result.code = exit_code(std::system(all.c_str()));
  result.out = read(folder() + "/.out");
  result.err = read(folder() + "/.err");
  return result;
}

Result CommandTest::run(const std::string& arguments, const std::string& input,
                        const std::string& setting) {
  return shell(setting + " \"$REGARD\" " + arguments, input);
}

const Task& reverse_task() {
  static const Task task{"reverse", reverse_rows(2000, 1), reverse_rows(200, 2),
                         "--tokens word --decoder luong --hidden 64 --embedding 32 --epochs 30"};
  return task;
}

const Task& copy_task() {
  static const Task task{"copy", copy_rows(2000, 3), copy_rows(200, 4),
                         "--tokens char --hidden 64 --embedding 32 --epochs 20"};
  return task;
}

const Task& name_task() {
  static const Task task{"name", name_rows(800, 5, "nam"), name_rows(50, 6, "zqyx"),
                         "--tokens word --min-count 2 --hidden 32 --embedding 16 --epochs 120"};
  return task;
}

const Task& symbols_task() {
  static const Task task{"symbols", symbol_rows(200, 7), symbol_rows(20, 8),
                         "--tokens word --hidden 16 --embedding 8 --updates 20"};
  return task;
}

const Task& unripe_task() {
  static const Task task{"unripe", reverse_rows(2000, 1), reverse_rows(200, 2),
                         "--tokens word --hidden 32 --embedding 16 --updates 60"};
  return task;
}

const Task& fixed_task() {
  static const Task task{"fixed", reverse_rows(2000, 1), reverse_rows(200, 2),
                         "--tokens word --decoder fixed --hidden 32 --embedding 16 --updates 60"};
  return task;
}

// Test programs run at once: the first one trains, the others wait for its lock.
std::string model_of(const Task& task) {
  const std::string base = cache_folder() + "/" + task.name;
  const std::string model = base + ".regard", done = base + ".done";
  const int lock = open((base + ".lock-file").c_str(), O_CREAT | O_RDWR, 0644);
  flock(lock, LOCK_EX);
  if (!fs::exists(done)) {
    write_file(base + ".tsv", task.train);
    // Under sanitizers an optimised build may train: any build gives the same bits.
    const char* other = std::getenv("REGARD_TRAINER");
    const std::string command = other != nullptr ? other : REGARD_COMMAND;
    const std::string line = "'" + command + "' train '" + base + ".tsv' -o '" + model + "' " +
                             task.options + " --fresh >'" + base + ".log' 2>&1";
    const int code = exit_code(std::system(line.c_str()));
    EXPECT_EQ(code, 0) << line << "\n" << read(base + ".log");
    if (code == 0) write_file(done, "");
  }
  close(lock);
  return model;
}

namespace {

class Fixtures : public CommandTest {
 protected:
  // Per cent of test rows that come back exactly.
  double accuracy(const Task& task) {
    write("test.tsv", task.test);
    const Result r = run("eval -m '" + model_of(task) + "' test.tsv --metric exact --beam 1");
    EXPECT_EQ(r.code, 0) << r.err;
    return std::atof(r.out.substr(r.out.find('\t') + 1).c_str());
  }
};

TEST_F(Fixtures, TheReverseTaskIsLearned) { EXPECT_GE(accuracy(reverse_task()), 98.0); }
TEST_F(Fixtures, TheCopyTaskIsLearned) { EXPECT_GE(accuracy(copy_task()), 95.0); }
TEST_F(Fixtures, TheNameTaskIsLearned) { EXPECT_GE(accuracy(name_task()), 90.0); }

}  // namespace
}  // namespace regard::commands
