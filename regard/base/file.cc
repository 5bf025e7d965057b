#include "regard/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace regard {
namespace {

constexpr std::string_view kPartial = ".partial-";

[[noreturn]] void throw_system_error(int code, const std::string& message) {
  throw std::system_error(code, std::generic_category(), message);
}

// Repeats a call that a signal interrupted.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

int open_file(const std::string& path, int flags, mode_t mode = 0) {
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); });
}

int open_for_reading(const std::string& path) {
  const int descriptor = open_file(path, O_RDONLY);
  if (descriptor < 0) throw_system_error(errno, "can not read " + path);
  return descriptor;
}

struct stat status_of(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) < 0) throw_system_error(errno, "can not read " + path);
  if (S_ISDIR(status.st_mode)) throw_system_error(EISDIR, "can not read " + path);
  return status;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Follows links to the file itself, so that a link stays one when its target is replaced.
std::string without_links(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : target.string();
}

// Opens the temporary and locks it: the lock is how remove_leftovers() knows a live writer.
int open_temporary(const std::string& temporary, const std::string& path) {
  for (;;) {
    Descriptor file(open_file(temporary, O_RDWR | O_CREAT | O_NOFOLLOW, 0666));
    if (file.get() < 0) throw_system_error(errno, "can not write " + path);
    const int locked = uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); });
    if (locked < 0 && errno == EWOULDBLOCK) {
      throw_system_error(EWOULDBLOCK, "can not write " + path + ": it is being written already");
    }
    // Between open and lock someone may have taken it for a leftover and removed it.
    struct stat status {};
    if (::fstat(file.get(), &status) < 0) throw_system_error(errno, "can not write " + path);
    if (status.st_nlink == 0) continue;
    if (::ftruncate(file.get(), 0) < 0) throw_system_error(errno, "can not write " + path);
    return file.release();
  }
}

void sync_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  const Descriptor descriptor(open_file(folder, O_RDONLY | O_DIRECTORY));
  if (descriptor.get() < 0) throw_system_error(errno, "can not make durable " + path);
  // Some file systems have no fsync for folders and say so by EINVAL.
  const int synced = uninterrupted([&] { return ::fsync(descriptor.get()); });
  if (synced < 0 && errno != EINVAL) throw_system_error(errno, "can not make durable " + path);
}

bool is_leftover_name(std::string_view candidate, const std::string& name) {
  const std::string start = "." + name + std::string(kPartial);
  if (!candidate.starts_with(start) || candidate.size() == start.size()) return false;
  candidate.remove_prefix(start.size());
  return std::all_of(candidate.begin(), candidate.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string read_file(const std::string& path) {
  const Descriptor file(open_for_reading(path));
  const struct stat status = status_of(file.get(), path);
  std::string bytes(S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0, '\0');
  std::size_t size = 0;
  for (;;) {
    // One byte more than the size known so far shows the end, or that the file has grown.
    if (size == bytes.size()) bytes.resize(size + std::max<std::size_t>(size, 4096));
    const ssize_t count =
        uninterrupted([&] { return ::read(file.get(), bytes.data() + size, bytes.size() - size); });
    if (count < 0) throw_system_error(errno, "can not read " + path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file(open_for_reading(path));
  const struct stat status = status_of(file.get(), path);
  if (!S_ISREG(status.st_mode)) {
    throw_system_error(ENODEV, "can not map " + path + ": it is no regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) throw_system_error(errno, "can not map " + path);
  bytes_ = {static_cast<const std::byte*>(start), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

AtomicFile::AtomicFile(const std::string& path, std::uint64_t expected_bytes)
    : path_(without_links(path)), expected_(expected_bytes) {
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) throw_system_error(EISDIR, "can not write " + path_);
  if (exists && !S_ISREG(old.st_mode)) {
    throw_system_error(EINVAL, "can not replace " + path_ + ": it is no regular file");
  }
  const std::string temporary =
      folder_of(path_) + "/." + name_of(path_) + std::string(kPartial) + std::to_string(::getpid());
  descriptor_ = open_temporary(temporary, path_);
  temporary_ = temporary;
  // Best effort: a file system without permissions refuses, which is no reason to lose the file.
  if (exists) static_cast<void>(::fchmod(descriptor_, old.st_mode & 07777));
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (count < 0) fail(errno, bytes.size());
    written_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  if (uninterrupted([&] { return ::fsync(descriptor_); }) < 0) fail(errno, 0);
  if (::rename(temporary_.c_str(), path_.c_str()) < 0) fail(errno, 0);
  temporary_.clear();
  sync_folder(path_);
}

void AtomicFile::fail(int code, std::uint64_t missing) const {
  std::string message = "can not write " + path_;
  if (code == ENOSPC || code == EDQUOT) {
    const std::uint64_t needed = std::max(expected_, written_ + missing);
    message += ": it needs " + std::to_string(needed) + " bytes";
    struct statvfs room {};
    if (::fstatvfs(descriptor_, &room) == 0) {
      // What this attempt took comes back when its temporary goes.
      const std::uint64_t free_bytes = std::uint64_t{room.f_bavail} * room.f_frsize + written_;
      message += ", " + std::to_string(free_bytes) + " are free";
    }
  }
  throw_system_error(code, message);
}

void replace_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path, bytes.size());
  file.write(bytes);
  file.commit();
}

int remove_leftovers(const std::string& path) {
  const std::string real = without_links(path);
  const std::string name = name_of(real);
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_of(real), error);
  if (error == std::errc::no_such_file_or_directory) return 0;
  if (error) throw std::system_error(error, "can not read " + folder_of(real));
  int removed = 0;
  for (const auto& entry : entries) {
    if (!is_leftover_name(entry.path().filename().string(), name)) continue;
    const std::string leftover = entry.path().string();
    const Descriptor file(open_file(leftover, O_RDWR | O_NOFOLLOW));
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) < 0) continue;
    if (::unlink(leftover.c_str()) == 0) ++removed;
  }
  return removed;
}

FileLock::FileLock(const std::string& path) {
  Descriptor file(open_file(path, O_RDWR | O_CREAT, 0666));
  if (file.get() < 0) throw_system_error(errno, "can not lock " + path);
  if (uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) < 0) {
    const int code = errno;
    throw_system_error(code, code == EWOULDBLOCK
                                 ? "another process is training: it holds the lock " + path
                                 : "can not lock " + path);
  }
  descriptor_ = file.release();
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

}  // namespace regard
