#include "regard/text/line_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"

namespace regard {
namespace {

using Lines = std::vector<std::string>;

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class LineReaderTest : public ScratchFolder {};

TEST_F(LineReaderTest, OnlyLfEndsALine) {
  const Lines lines = {
      "a\xE2\x80\xA8"
      "b",
      "a\xC2\x85"
      "b",
      "a\vb", "a\fb",
      "a\x1E"
      "b\rc"};
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  EXPECT_EQ(read_lines(write("x", text)), lines);
}

TEST_F(LineReaderTest, OneCrBeforeLfIsDropped) {
  EXPECT_EQ(read_lines(write("x", "a\r\nb\r\r\n\r\nc")), (Lines{"a", "b\r", "", "c"}));
}

TEST_F(LineReaderTest, ALastLineWithoutLfCountsAndAnEmptyFileHasNone) {
  EXPECT_EQ(read_lines(write("x", "a\n\nb")), (Lines{"a", "", "b"}));
  EXPECT_EQ(read_lines(write("x", "a\n")), (Lines{"a"}));
  EXPECT_EQ(read_lines(write("x", "\n")), (Lines{""}));
  EXPECT_EQ(read_lines(write("x", "")), Lines{});
}

TEST_F(LineReaderTest, ALeadingByteOrderMarkIsDroppedAndReported) {
  const auto path = write("x",
                          "\xEF\xBB\xBF\xEF\xBB\xBF"
                          "a\n\xEF\xBB\xBF"
                          "b\n");
  LineReader reader(path);
  std::string line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line,
            "\xEF\xBB\xBF"
            "a");
  EXPECT_TRUE(reader.dropped_byte_order_mark());
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line,
            "\xEF\xBB\xBF"
            "b");
  EXPECT_EQ(reader.place(), path + ":2");
  EXPECT_FALSE(reader.next(line));
  EXPECT_EQ(reader.line_number(), 2u);
  EXPECT_EQ(read_lines(write("x", "\xEF\xBB\xBF")), Lines{});
  EXPECT_EQ(read_lines(write("x", "\xEF\xBB\xBF\n")), Lines{""});
  LineReader clean(write("x", "a\n"));
  clean.next(line);
  EXPECT_FALSE(clean.dropped_byte_order_mark());
}

TEST_F(LineReaderTest, AnyBytesAreGivenAsTheyAre) {
  const std::string bytes("\x00\xFF\xC3", 3);
  EXPECT_EQ(read_lines(write("x", bytes + "\n" + bytes)), (Lines{bytes, bytes}));
}

TEST_F(LineReaderTest, CompressedFilesReadLikePlainOnes) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  text += std::string(200000, 'x');
  const Lines plain = read_lines(write("x", text));
  ASSERT_EQ(plain.size(), 50001u);
  const std::string head = text.substr(0, 12345);
  const std::string tail = text.substr(12345);
  EXPECT_EQ(read_lines(write("x.gz", gzip(text))), plain);
  EXPECT_EQ(read_lines(write("no-suffix", gzip(text))), plain);
  EXPECT_EQ(read_lines(write("x.gz", gzip(head) + gzip("") + gzip(tail))), plain);
  EXPECT_EQ(read_lines(write("x.gz", gzip(text) + std::string(70000, '\0'))), plain);
  EXPECT_EQ(read_lines(write("x.zst", zstd(text))), plain);
  EXPECT_EQ(read_lines(write("no-suffix", zstd(head) + zstd(tail))), plain);
  const std::string skippable("\x50\x2A\x4D\x18\x04\x00\x00\x00skip", 12);
  EXPECT_EQ(read_lines(write("x.zst", skippable + zstd(text))), plain);
  EXPECT_EQ(read_lines(write("x.gz", gzip(""))), Lines{});
  EXPECT_EQ(read_lines(write("x.zst", zstd(""))), Lines{});
}

TEST_F(LineReaderTest, PlainTextMayBeginLikeACompressedFile) {
  for (const std::string text : {"(", "(a", "\x1F", "P*", "P*Mx", "(\xB5\x2F", "P"}) {
    EXPECT_EQ(read_lines(write("x", text)), Lines{text});
  }
}

// The message of the error that reading `path` gives; "" for none.
std::string format_error(const std::string& path) {
  try {
    read_lines(path);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kData);
    return error.what();
  }
  return "";
}

TEST_F(LineReaderTest, CutOrDamagedCompressedDataIsAnErrorWithFileAndLine) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::to_string(i * 7919 % 10007) + "\n";
  for (const std::string& packed : Lines{gzip(text), zstd(text)}) {
    for (const std::size_t cut : {packed.size() - 1, packed.size() / 2, std::size_t{5}}) {
      const auto path = write("cut", packed.substr(0, cut));
      const std::string message = format_error(path);
      EXPECT_NE(message.find("ends too early"), std::string::npos) << message;
      EXPECT_EQ(message.find(path + ":"), 0u) << message;
    }
    std::string damaged = packed;
    for (std::size_t i = 20; i < 60; ++i) damaged[i] = static_cast<char>(0xA5);
    EXPECT_NE(format_error(write("damaged", damaged)), "");
  }
  EXPECT_NE(format_error(write("x.gz", gzip(text) + "junk")).find(":2001: "), std::string::npos);
  EXPECT_NE(format_error(write("x.gz", "plain")).find("not gzip"), std::string::npos);
  EXPECT_NE(format_error(write("x.zst", "")).find("not zstd"), std::string::npos);
}

TEST_F(LineReaderTest, WhatCanNotBeOpenedIsASystemErrorWithThePath) {
  for (const std::string& path : Lines{folder(), folder() + "/missing"}) {
    try {
      read_lines(path);
      FAIL() << "no error for " << path;
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
  const auto secret = write("secret", "a\n");
  ::chmod(secret.c_str(), 0);
  if (::geteuid() != 0) {
    EXPECT_THROW(read_lines(secret), std::system_error);
  }
}

TEST_F(LineReaderTest, ASlowPipeGivesTheSameLines) {
  const std::string text = "\xEF\xBB\xBF(one\r\ntwo\n\nlast";
  for (const std::string& bytes : Lines{text, gzip(text), zstd(text)}) {
    const std::string path = folder() + "/pipe";
    ::unlink(path.c_str());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer([&] {
      const int fd = ::open(path.c_str(), O_WRONLY);
      for (const char byte : bytes) {
        EXPECT_EQ(::write(fd, &byte, 1), 1);
      }
      ::close(fd);
    });
    EXPECT_EQ(read_lines(path), (Lines{"(one", "two", "", "last"}));
    writer.join();
  }
}

TEST_F(LineReaderTest, ALineIsGivenBeforeTheNextOneIsWritten) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  LineReader reader("/dev/fd/" + std::to_string(ends[0]));
  std::string line;
  ASSERT_EQ(::write(ends[1], "(\n", 2), 2);
  ASSERT_TRUE(reader.next(line));  // would wait for ever if it wanted four bytes or a full block
  EXPECT_EQ(line, "(");
  ::close(ends[1]);
  EXPECT_FALSE(reader.next(line));
  ::close(ends[0]);
}

// Runs `body` with standard input replaced by `fd` (or closed for -1).
template <typename Body>
void with_stdin(int fd, Body body) {
  const int saved = ::dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  if (fd >= 0) ::dup2(fd, STDIN_FILENO);
  body();
  if (saved >= 0) {
    ::dup2(saved, STDIN_FILENO);
    ::close(saved);
  }
}

TEST_F(LineReaderTest, StandardInputIsReadAndAClosedOneIsEmpty) {
  const auto path = write("x", "a\nb\n");
  const int fd = ::open(path.c_str(), O_RDONLY);
  with_stdin(fd, [] {
    LineReader reader("-");
    EXPECT_EQ(reader.name(), "standard input");
    std::string line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_EQ(line, "a");
    EXPECT_EQ(reader.place(), "standard input:1");
  });
  ::close(fd);
  with_stdin(-1, [] { EXPECT_EQ(read_lines("-"), Lines{}); });
}

}  // namespace
}  // namespace regard
