// Every system call that AtomicFile makes fails once, at every place where it is made: the old file
// stays, the temporary goes, and the order of the calls is the one that survives a power cut.
//
// The C library's functions are replaced here for the whole test program: they pass on to the
// system until a test arms them.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "regard/base/file.h"
#include "regard/base/scratch_folder_test_util.h"

namespace {

struct Faults {
  bool recording = false;
  int fail_at = -1;  // index among the recorded calls
  int code = 0;
  bool short_writes = false;
  std::vector<std::string> calls;

  // Notes a call; true if it has to fail.
  bool hit(const std::string& name) {
    if (!recording) return false;
    calls.push_back(name);
    return static_cast<int>(calls.size()) - 1 == fail_at;
  }
};
Faults faults;

bool is_folder(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (descriptor > STDERR_FILENO && faults.hit("write")) {
    errno = faults.code;
    return -1;
  }
  if (faults.recording && faults.short_writes && size > 1) size /= 2;
  return syscall(SYS_write, descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (faults.hit(is_folder(descriptor) ? "fsync folder" : "fsync file")) {
    errno = faults.code;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

int rename(const char* from, const char* to) noexcept {
  if (faults.hit("rename")) {
    errno = faults.code;
    return -1;
  }
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // extern "C"

namespace regard {
namespace {

class AtomicFileFaults : public ScratchFolder {
 protected:
  void TearDown() override {
    faults = {};
    ScratchFolder::TearDown();
  }

  // Replaces a file in three writes while call number `fail_at` fails. True if there was an error.
  bool replace(const std::string& path, int fail_at, int code) {
    faults = {};
    faults.recording = true;
    faults.fail_at = fail_at;
    faults.code = code;
    message_.clear();
    try {
      AtomicFile file(path, 300);
      for (const char c : {'a', 'b', 'c'}) file.write(std::string(100, c));
      file.commit();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), code);
      message_ = error.what();
    }
    faults.recording = false;
    return !message_.empty();
  }

  std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(folder())) ++count;
    return count;
  }

  std::string message_;
};

TEST_F(AtomicFileFaults, TheOrderOfCallsSurvivesAPowerCut) {
  EXPECT_FALSE(replace(folder() + "/model", -1, 0));
  const std::vector<std::string> wanted = {"write",      "write",  "write",
                                           "fsync file", "rename", "fsync folder"};
  EXPECT_EQ(faults.calls, wanted);
}

TEST_F(AtomicFileFaults, WhicheverCallFailsTheFileIsTheOldOrTheNewOne) {
  const std::string path = write("model", "old");
  for (const int code : {EIO, ENOSPC, EDQUOT}) {
    for (int n = 0; n < 6; ++n) {
      ASSERT_TRUE(replace(path, n, code)) << "call " << n;
      EXPECT_NE(message_.find(path), std::string::npos) << message_;
      const bool renamed = faults.calls.back() == "fsync folder";
      EXPECT_EQ(read_file(path).size(), renamed ? 300u : 3u) << faults.calls.back();
      EXPECT_EQ(entries(), 1u) << faults.calls.back();
      write("model", "old");
    }
  }
}

TEST_F(AtomicFileFaults, AFullDiskIsToldWithTheBytesNeededAndFree) {
  for (int n = 0; n < 4; ++n) {
    ASSERT_TRUE(replace(folder() + "/model", n, ENOSPC));
    EXPECT_NE(message_.find("it needs 300 bytes, "), std::string::npos) << message_;
    EXPECT_NE(message_.find(" are free"), std::string::npos) << message_;
  }
}

TEST_F(AtomicFileFaults, CallsCutShortAreContinuedAndInterruptedOnesRepeated) {
  const std::string path = folder() + "/model";
  faults = {};
  faults.recording = true;
  faults.short_writes = true;
  faults.fail_at = 3;
  faults.code = EINTR;
  replace_file(path, std::string(1000, 'x'));
  faults.recording = false;
  EXPECT_EQ(read_file(path), std::string(1000, 'x'));
}

TEST_F(AtomicFileFaults, AFileSystemWithoutFolderSyncIsNoError) {
  EXPECT_FALSE(replace(folder() + "/model", 5, EINVAL));
  EXPECT_EQ(read_file(folder() + "/model").size(), 300u);
}

}  // namespace
}  // namespace regard
