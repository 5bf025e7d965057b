#include "regard/text/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>
#include <system_error>
#include <vector>

namespace regard {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";

[[noreturn]] void throw_system_error(int code, const std::string& name) {
  throw std::system_error(code, std::generic_category(), "can not read " + name);
}

// A zstd frame to be skipped: 184D2A5x, little-endian.
bool starts_skippable(std::string_view bytes) {
  constexpr std::string_view kRest = "\x2A\x4D\x18";
  return !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0xF0) == 0x50 &&
         kRest.starts_with(bytes.substr(1, 3));
}

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(const std::string& path) : name_(path == "-" ? "standard input" : path) {
    if (path == "-") return;
    do {
      fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (fd_ < 0 && errno == EINTR);
    if (fd_ < 0) throw_system_error(errno, name_);
    struct stat status {};
    if (::fstat(fd_, &status) == 0 && S_ISDIR(status.st_mode)) {
      ::close(fd_);
      throw_system_error(EISDIR, name_);
    }
  }
  ~PlainSource() override {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  PlainSource(const PlainSource&) = delete;
  PlainSource& operator=(const PlainSource&) = delete;

  // Makes the next bytes to be read visible without taking them; grows by one read at a time.
  // Returns false at the end of the file.
  bool peek_more() {
    char block[64];
    const std::size_t count = read_descriptor(block, sizeof block);
    peeked_.append(block, count);
    return count > 0;
  }
  const std::string& peeked() const { return peeked_; }

  std::size_t read(char* out, std::size_t size) override {
    if (peeked_.empty()) return read_descriptor(out, size);
    const std::size_t count = std::min(size, peeked_.size());
    std::copy_n(peeked_.begin(), count, out);
    peeked_.erase(0, count);
    return count;
  }

 private:
  std::size_t read_descriptor(char* out, std::size_t size) {
    while (true) {
      const ssize_t count = ::read(fd_, out, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        pollfd wait{fd_, POLLIN, 0};
        ::poll(&wait, 1, -1);
        continue;
      }
      if (errno == EBADF && fd_ == STDIN_FILENO) return 0;
      throw_system_error(errno, name_);
    }
  }

  std::string name_;
  int fd_ = STDIN_FILENO;
  std::string peeked_;
};

// What both decompressors share: a block of compressed bytes that is refilled when used up.
class CompressedSource : public ByteSource {
 protected:
  explicit CompressedSource(std::unique_ptr<PlainSource> input)
      : input_(std::move(input)), block_(kBlock) {}

  // Returns false at the end of the compressed bytes.
  bool refill() {
    used_ = 0;
    filled_ = input_->read(block_.data(), block_.size());
    return filled_ > 0;
  }

  std::unique_ptr<PlainSource> input_;
  std::vector<char> block_;
  std::size_t used_ = 0;
  std::size_t filled_ = 0;
};

class GzipSource final : public CompressedSource {
 public:
  explicit GzipSource(std::unique_ptr<PlainSource> input) : CompressedSource(std::move(input)) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(char* out, std::size_t size) override {
    while (!ended_) {
      if (used_ == filled_ && !refill()) {
        if (!between_members_) throw BrokenStream("the gzip data ends too early");
        ended_ = true;
        break;
      }
      if (between_members_ && !start_member()) continue;
      if (const std::size_t count = inflate_some(out, size)) return count;
    }
    return 0;
  }

 private:
  // Zero bytes may pad a member; anything else must be a new one.
  bool start_member() {
    if (members_ > 0 && block_[used_] == '\0') {
      ++used_;
      return false;
    }
    if (members_ > 0) inflateReset(&stream_);
    ++members_;
    between_members_ = false;
    return true;
  }

  std::size_t inflate_some(char* out, std::size_t size) {
    const std::size_t room = std::min<std::size_t>(size, 1U << 30);
    stream_.next_in = reinterpret_cast<Bytef*>(block_.data() + used_);
    stream_.avail_in = static_cast<uInt>(filled_ - used_);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    used_ = filled_ - stream_.avail_in;
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw BrokenStream("the gzip data is damaged");
    }
    return room - stream_.avail_out;
  }

  z_stream stream_{};
  int members_ = 0;
  bool between_members_ = true;
  bool ended_ = false;
};

class ZstdSource final : public CompressedSource {
 public:
  explicit ZstdSource(std::unique_ptr<PlainSource> input)
      : CompressedSource(std::move(input)), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  std::size_t read(char* out, std::size_t size) override {
    while (true) {
      // A full output block may have left more behind, which needs no further input.
      if (used_ == filled_ && !flushing_ && !refill()) {
        if (pending_) throw BrokenStream("the zstd data ends too early");
        return 0;
      }
      ZSTD_inBuffer in{block_.data(), filled_, used_};
      ZSTD_outBuffer to{out, size, 0};
      const std::size_t status = ZSTD_decompressStream(stream_, &to, &in);
      if (ZSTD_isError(status) != 0) {
        throw BrokenStream(std::string("the zstd data is damaged (") + ZSTD_getErrorName(status) +
                           ")");
      }
      used_ = in.pos;
      pending_ = status != 0;
      flushing_ = pending_ && to.pos == to.size;
      if (to.pos > 0) return to.pos;
    }
  }

 private:
  ZSTD_DStream* stream_;
  bool pending_ = false;
  bool flushing_ = false;
};

// Decides at the first byte that tells, so that a person typing "a" gets an answer.
enum class Packing { kPlain, kGzip, kZstd };

Packing detect(PlainSource& input) {
  while (true) {
    const std::string_view bytes = std::string_view(input.peeked()).substr(0, 4);
    if (bytes.starts_with(kGzipMagic)) return Packing::kGzip;
    const bool may_be_zstd = kZstdMagic.starts_with(bytes) || starts_skippable(bytes);
    if (bytes.size() == 4 && may_be_zstd) return Packing::kZstd;
    if (!may_be_zstd && !kGzipMagic.starts_with(bytes)) return Packing::kPlain;
    if (!input.peek_more()) return Packing::kPlain;
  }
}

// Looks at the bytes at the first read, not at opening: a pipe may not have any yet.
class DetectingSource final : public ByteSource {
 public:
  explicit DetectingSource(const std::string& path)
      : path_(path), plain_(std::make_unique<PlainSource>(path)) {}

  std::size_t read(char* out, std::size_t size) override {
    if (!source_) source_ = choose();
    return source_->read(out, size);
  }

 private:
  std::unique_ptr<ByteSource> choose() {
    const Packing packing = detect(*plain_);
    if (path_.ends_with(".gz") && packing != Packing::kGzip) {
      throw BrokenStream("the name ends in .gz, but the data is not gzip");
    }
    if (path_.ends_with(".zst") && packing != Packing::kZstd) {
      throw BrokenStream("the name ends in .zst, but the data is not zstd");
    }
    if (packing == Packing::kGzip) return std::make_unique<GzipSource>(std::move(plain_));
    if (packing == Packing::kZstd) return std::make_unique<ZstdSource>(std::move(plain_));
    return std::move(plain_);
  }

  std::string path_;
  std::unique_ptr<PlainSource> plain_;
  std::unique_ptr<ByteSource> source_;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  return std::make_unique<DetectingSource>(path);
}

}  // namespace regard
