// Files: read whole or mapped, replaced in one step, locked.
//
// Errors   std::system_error whose message holds the path; nothing else is thrown.
// Threads  different objects may be used at once; one object by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace regard {

// The bytes of a file (or a pipe), read to the end. Errors: missing, unreadable, a directory.
std::string read_file(const std::string& path);

// Text as bytes, for writers and checksums.
inline std::span<const std::byte> as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A regular file mapped for reading. Pages come from disk when they are first read.
//
// The bytes stay good while the object lives, also when the file is removed or replaced by rename;
// a program that shortens the file in place breaks its readers (SIGBUS). An empty file gives an
// empty span.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

// A file that appears complete or not at all, whatever stops the program or the machine.
//
//   AtomicFile file("model.regard");
//   file.write(header);
//   file.write(tensor);
//   file.commit();
//
// Bytes go to `.<name>.partial-<pid>` in the same folder. commit() makes them durable (fsync),
// renames the temporary to the path and makes the folder's entry durable. Without commit(), and
// when anything throws, the destructor removes the temporary and what was at the path is untouched;
// only if the last step, fsync of the folder, fails has the new file already taken its place.
//
// A symbolic link is followed: its target is replaced. An old file's permissions are kept.
// Errors: no folder, no permission, a path that is no regular file (a device is never replaced), a
// second AtomicFile for the path in the same process; a full disk (the message then holds the bytes
// needed and free).
class AtomicFile {
 public:
  // `expected_bytes`, if known, makes the message for a full disk tell the whole need.
  explicit AtomicFile(const std::string& path, std::uint64_t expected_bytes = 0);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  // Appends. After an error the object can only be destroyed.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(as_bytes(text)); }

  // Puts the file in place. Called once, last.
  void commit();

  std::uint64_t written() const noexcept { return written_; }

 private:
  [[noreturn]] void fail(int code, std::uint64_t missing) const;

  std::string path_;       // the file itself, links resolved
  std::string temporary_;  // empty once renamed
  int descriptor_ = -1;
  std::uint64_t expected_ = 0;
  std::uint64_t written_ = 0;
};

// AtomicFile for bytes that are all at hand.
void replace_file(const std::string& path, std::string_view bytes);

// Removes temporaries that a killed process left beside `path`; those still being written stay.
// Returns how many went. A missing folder has none.
int remove_leftovers(const std::string& path);

// Holds an exclusive lock on a file of its own, made if absent and never removed or renamed; the
// lock ends with the object or the process, however it ends.
// Errors: std::errc::operation_would_block ("another process is training ...") if it is taken.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

 private:
  int descriptor_ = -1;
};

}  // namespace regard
