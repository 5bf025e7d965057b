#include "regard/text/vocabulary.h"

#include <gtest/gtest.h>

#include <random>

#include "regard/base/error.h"

namespace regard {
namespace {

using Bytes = std::vector<std::uint8_t>;

Vocabulary example() {
  const std::vector<std::string> tokens = {"a", "b\tc", "line\nend", "</s>", "<unk>", "\xC3\xA9"};
  return Vocabulary::from_tokens(tokens);
}

TEST(Vocabulary, TextNeverFindsAControlToken) {
  for (const char* text : {"", "<s>", "</s>", "<unk>", "<pad>", "begin", "end", "unknown"}) {
    EXPECT_FALSE(Vocabulary().find(text).has_value()) << text;
  }
  EXPECT_EQ(example().find("</s>"), kFirstTextId + 3);
  EXPECT_EQ(example().find("<unk>"), kFirstTextId + 4);
}

TEST(Vocabulary, TokensAndIdsAreInverse) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 5000; ++i) tokens.push_back("t" + std::to_string(i));
  const Vocabulary vocabulary = Vocabulary::from_tokens(tokens);
  EXPECT_EQ(vocabulary.size(), 5003);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(vocabulary.find(tokens[static_cast<std::size_t>(i)]), kFirstTextId + i);
    ASSERT_EQ(vocabulary.token(kFirstTextId + i), tokens[static_cast<std::size_t>(i)]);
  }
  EXPECT_FALSE(vocabulary.find("t5000").has_value());
}

TEST(Vocabulary, CountsDecideAndBytesBreakTies) {
  const TokenCounts counts = {{"z", 3}, {"b", 2}, {"a", 2}, {"B", 2}, {"rare", 1}, {"", 9}};
  const auto all = Vocabulary::from_counts(counts);
  const auto expected = std::vector<std::string>{"z", "B", "a", "b", "rare"};
  EXPECT_EQ(all, Vocabulary::from_tokens(expected));
  EXPECT_EQ(Vocabulary::from_counts(counts, {2, 0}).text_size(), 4);
  const auto two = Vocabulary::from_counts(counts, {1, 2});
  EXPECT_EQ(two.text_size(), 2);
  EXPECT_TRUE(two.find("B").has_value());
  EXPECT_FALSE(two.find("a").has_value());
}

TEST(Vocabulary, ComesBackByteForByte) {
  for (const Vocabulary& vocabulary : {example(), Vocabulary()}) {
    const Bytes bytes = vocabulary.serialize();
    const Vocabulary back = Vocabulary::deserialize(bytes);
    EXPECT_EQ(back, vocabulary);
    EXPECT_EQ(back.serialize(), bytes);
  }
  EXPECT_EQ(Vocabulary::deserialize(example().serialize()).find("b\tc"), kFirstTextId + 1);
}

TEST(Vocabulary, WrongUseIsRefused) {
  const std::vector<std::string> twice = {"a", "a"};
  const std::vector<std::string> empty = {""};
  EXPECT_THROW(Vocabulary::from_tokens(twice), ConfigError);
  EXPECT_THROW(Vocabulary::from_tokens(empty), ConfigError);
  for (const int id : {-1, kBeginId, kEndId, kUnknownId, example().size()}) {
    EXPECT_THROW(static_cast<void>(example().token(id)), ShapeError) << id;
  }
}

std::string error_of(const Bytes& bytes) {
  try {
    Vocabulary::deserialize(bytes);
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kModel);
    return error.what();
  }
  return "";
}

TEST(Vocabulary, HostileBytesAreRefused) {
  const auto says = [](const Bytes& bytes, const std::string& what) {
    return error_of(bytes).find(what) != std::string::npos;
  };
  EXPECT_TRUE(says({}, "too early"));
  EXPECT_TRUE(says({255, 255, 255, 255}, "more than"));
  EXPECT_TRUE(says({1, 0, 0, 0, 255, 255, 255, 255, 'a'}, "longer than the rest"));
  EXPECT_TRUE(says({1, 0, 0, 0, 0, 0, 0, 0, 'a'}, "empty"));
  EXPECT_TRUE(says({1, 0, 0, 0, 1, 0, 0, 0, 0xFF}, "not UTF-8"));
  EXPECT_TRUE(says({1, 0, 0, 0, 1, 0, 0, 0, 'a', 'b'}, "follow"));
  EXPECT_TRUE(says({2, 0, 0, 0, 1, 0, 0, 0, 'a', 1, 0, 0, 0, 'a'}, "twice"));
  EXPECT_TRUE(says({2, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0}, "longer than"));
}

TEST(Vocabulary, EveryCutIsRefusedAndNoFlippedBitCrashes) {
  const Bytes good = example().serialize();
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_NE(error_of(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))),
              "");
  }
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bytes = good;
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << bit % 8));
    error_of(bytes);  // either refused or another vocabulary
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(random() % 40);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 4);
    error_of(bytes);
  }
}

}  // namespace
}  // namespace regard
