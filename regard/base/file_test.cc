#include "regard/base/file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <system_error>
#include <utility>

#include "regard/base/scratch_folder_test_util.h"

namespace regard {
namespace {

// The error of a call that has to fail; its message has to hold `path`.
int error_code(const std::string& path, const std::function<void()>& call) {
  try {
    call();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.code().value();
  }
  ADD_FAILURE() << "no error for " << path;
  return 0;
}

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

int entries_in(const std::string& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

using ReadFile = ScratchFolder;
using MappedFileTest = ScratchFolder;
using AtomicFileTest = ScratchFolder;
using FileLockTest = ScratchFolder;

TEST_F(ReadFile, GivesAllBytes) {
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100000}) {
    std::string bytes(size, 'x');
    if (size > 0) bytes.back() = '\0';
    EXPECT_EQ(read_file(write("f", bytes)), bytes);
  }
}

TEST_F(ReadFile, ReadsAFileWhoseSizeIsNotKnown) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST_F(ReadFile, NamesAFileThatCanNotBeRead) {
  EXPECT_EQ(error_code("/no/such", [] { read_file("/no/such"); }), ENOENT);
  EXPECT_EQ(error_code(folder(), [&] { read_file(folder()); }), EISDIR);
}

TEST_F(MappedFileTest, HoldsTheBytesAfterTheFileIsGone) {
  const std::string path = write("f", std::string("a\0b", 3));
  MappedFile file(path);
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(file), std::string("a\0b", 3));

  MappedFile moved(std::move(file));
  EXPECT_EQ(text_of(moved).size(), 3u);
  MappedFile other(write("g", "other"));
  other = std::move(moved);
  EXPECT_EQ(text_of(other).size(), 3u);
}

TEST_F(MappedFileTest, KeepsTheOldBytesWhenTheFileIsReplaced) {
  const std::string path = write("f", "old");
  const MappedFile file(path);
  replace_file(path, "new");
  EXPECT_EQ(text_of(file), "old");
  EXPECT_EQ(text_of(MappedFile(path)), "new");
}

TEST_F(MappedFileTest, AnEmptyFileIsAnEmptySpan) {
  EXPECT_TRUE(MappedFile(write("f", "")).bytes().empty());
}

TEST_F(MappedFileTest, NamesAFileThatCanNotBeMapped) {
  EXPECT_EQ(error_code("/no/such", [] { MappedFile("/no/such"); }), ENOENT);
  EXPECT_EQ(error_code(folder(), [&] { MappedFile file(folder()); }), EISDIR);
  EXPECT_EQ(error_code("/dev/null", [] { MappedFile("/dev/null"); }), ENODEV);
}

TEST_F(AtomicFileTest, ReplacesAtCommitAndNotBefore) {
  const std::string path = write("model", "old");
  {
    AtomicFile file(path);
    file.write("new ");
    file.write("bytes");
    EXPECT_EQ(file.written(), 9u);
    EXPECT_EQ(read_file(path), "old");
    EXPECT_TRUE(std::filesystem::exists(folder() + "/.model.partial-" + std::to_string(getpid())));
    file.commit();
    EXPECT_EQ(read_file(path), "new bytes");
  }
  EXPECT_EQ(read_file(path), "new bytes");
  EXPECT_EQ(entries_in(folder()), 1);
}

TEST_F(AtomicFileTest, WithoutCommitNothingHappened) {
  const std::string path = write("model", "old");
  { AtomicFile(path).write("new"); }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries_in(folder()), 1);
}

TEST_F(AtomicFileTest, WorksInTheCurrentFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder());
  replace_file("model", "bytes");
  EXPECT_EQ(remove_leftovers("model"), 0);
  std::filesystem::current_path(before);
  EXPECT_EQ(read_file(folder() + "/model"), "bytes");
}

TEST_F(AtomicFileTest, KeepsPermissionsAndLinks) {
  const std::string path = write("model", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const std::string link = folder() + "/link";
  std::filesystem::create_symlink("model", link);
  replace_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(path), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
}

TEST_F(AtomicFileTest, NeverReplacesWhatIsNoFile) {
  EXPECT_EQ(error_code("/dev/null", [] { AtomicFile("/dev/null"); }), EINVAL);
  EXPECT_EQ(error_code(folder(), [&] { AtomicFile file(folder()); }), EISDIR);
}

TEST_F(AtomicFileTest, NamesAFolderThatIsMissing) {
  const std::string path = folder() + "/no/model";
  EXPECT_EQ(error_code(path, [&] { AtomicFile file(path); }), ENOENT);
}

TEST_F(AtomicFileTest, RefusesASecondWriterInTheSameProcess) {
  const std::string path = folder() + "/model";
  AtomicFile first(path);
  EXPECT_EQ(error_code(path, [&] { AtomicFile second(path); }), EWOULDBLOCK);
  first.write("first");
  first.commit();
  EXPECT_EQ(read_file(path), "first");
}

TEST_F(AtomicFileTest, AFileTooLargeForTheSystemLeavesTheOldOne) {
  const std::string path = write("model", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const int code = error_code(path, [&] { replace_file(path, std::string(2000, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(code, EFBIG);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries_in(folder()), 1);
}

TEST_F(AtomicFileTest, AKilledWriterLeavesTheOldFileAndALeftoverThatGoes) {
  const std::string path = write("model", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write("half");
    ::_exit(0);  // no destructor runs, as under kill -9
  }
  ASSERT_GT(child, 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string leftover = folder() + "/.model.partial-" + std::to_string(child);
  EXPECT_EQ(read_file(leftover), "half");
  EXPECT_EQ(read_file(path), "old");

  // One that is being written and files of other names stay.
  AtomicFile mine(path);
  for (const char* name : {".model.partial-", ".model.partial-1x", ".other.partial-1"}) {
    write(name, "");
  }
  EXPECT_EQ(remove_leftovers(path), 1);
  EXPECT_FALSE(std::filesystem::exists(leftover));
  mine.write("new");
  mine.commit();
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(entries_in(folder()), 4);
}

TEST_F(AtomicFileTest, ALeftoverOfTheSameProcessNumberIsOverwritten) {
  const std::string path = folder() + "/model";
  write(".model.partial-" + std::to_string(getpid()), "a long leftover");
  replace_file(path, "new");
  EXPECT_EQ(read_file(path), "new");
}

TEST_F(AtomicFileTest, LeftoversOfAMissingFolderAreNone) {
  EXPECT_EQ(remove_leftovers(folder() + "/no/model"), 0);
  const std::string file = write("f", "");
  EXPECT_EQ(error_code(file, [&] { remove_leftovers(file + "/model"); }), ENOTDIR);
}

TEST_F(FileLockTest, ASecondHolderIsRefusedUntilTheFirstEnds) {
  const std::string path = folder() + "/model.lock";
  {
    FileLock first(path);
    FileLock held(std::move(first));
    try {
      FileLock second(path);
      FAIL() << "two locks at once";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::operation_would_block);
      EXPECT_NE(std::string(error.what()).find("another process is training"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
  FileLock again(path);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(FileLockTest, NamesALockThatCanNotBeMade) {
  const std::string path = folder() + "/no/model.lock";
  EXPECT_EQ(error_code(path, [&] { FileLock lock(path); }), ENOENT);
}

}  // namespace
}  // namespace regard
