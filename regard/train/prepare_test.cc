// Tokenizers from pairs, pairs as ids, and the part that is held out.
#include "regard/train/prepare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "regard/base/error.h"
#include "regard/train/subword_trainer.h"

namespace regard {
namespace {

std::vector<Pair> pairs(size_t n) {
  std::vector<Pair> out;
  for (size_t i = 0; i < n; ++i) {
    // Every source twice.
    out.push_back({"source " + std::to_string(i / 2), "target " + std::to_string(i)});
  }
  return out;
}
std::set<std::string> sources(const std::vector<Pair>& part) {
  std::set<std::string> out;
  for (const Pair& p : part) out.insert(p.source);
  return out;
}

TEST(HoldOut, TakesTwoPerCentWithinBounds) {
  for (const auto& [n, least, most] : {std::tuple<size_t, size_t, size_t>{199, 0, 0},
                                       {200, 50, 51},
                                       {2000, 50, 51},
                                       {5000, 100, 101},
                                       {60000, 1000, 1001}}) {
    std::vector<Pair> train = pairs(n);
    const std::vector<Pair> dev = hold_out(train);
    EXPECT_GE(dev.size(), least);
    EXPECT_LE(dev.size(), most);
    EXPECT_EQ(train.size() + dev.size(), n);
  }
}

TEST(HoldOut, EqualSourcesStayTogetherAndTheOrderDoesNotMatter) {
  std::vector<Pair> train = pairs(1000), turned = pairs(1000);
  std::reverse(turned.begin(), turned.end());
  std::vector<Pair> dev = hold_out(train), other = hold_out(turned);
  for (const std::string& source : sources(dev)) EXPECT_EQ(sources(train).count(source), 0u);
  std::reverse(other.begin(), other.end());
  std::reverse(turned.begin(), turned.end());
  EXPECT_EQ(dev, other);
  EXPECT_EQ(train, turned);
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end(), [](const Pair& a, const Pair& b) {
    return std::stoi(a.target.substr(7)) < std::stoi(b.target.substr(7));
  }));
}

TEST(HoldOut, ASourceStaysWhereItWasWhenOthersCome) {
  std::vector<Pair> small = pairs(2000), large = pairs(2400);  // 50 of both
  const auto before = sources(hold_out(small)), after = sources(hold_out(large));
  size_t kept = 0;
  for (const std::string& source : after) kept += before.count(source);
  EXPECT_GT(kept, before.size() / 2);
}

TEST(HoldOut, NeverTakesMostOfTheData) {
  std::vector<Pair> one(300, {"same", "x"});
  EXPECT_TRUE(hold_out(one).empty());
  EXPECT_EQ(one.size(), 300u);
  std::vector<Pair> two = pairs(300);
  for (size_t i = 0; i < 200; ++i) two[i].source = "same";
  const std::vector<Pair> dev = hold_out(two);
  EXPECT_LE(dev.size(), 150u);
}

TEST(BuildTokenizers, AutoIsDecidedForEachSide) {
  const std::vector<Pair> words = {{"kat", "K AE T"}, {"dog", "D AO G"}};
  const Tokenizers t = build_tokenizers(words, {});
  EXPECT_EQ(to_string(t.source_spec), "char");
  EXPECT_EQ(to_string(t.target_spec), "word");
  EXPECT_EQ(t.source.size(), kFirstTextId + 6);
  EXPECT_EQ(t.target.size(), kFirstTextId + 6);
}

TEST(BuildTokenizers, JointIsOneVocabularyForBothSides) {
  VocabularyOptions o;
  o.source = o.target = parse_token_spec("word");
  o.joint = true;
  const Tokenizers t = build_tokenizers({{"a b", "c d"}}, o);
  EXPECT_EQ(t.source, t.target);
  EXPECT_EQ(t.source.size(), kFirstTextId + 4);
  o.target = parse_token_spec("char");
  EXPECT_THROW(build_tokenizers({{"a b", "c d"}}, o), ConfigError);
}

TEST(BuildTokenizers, LimitsAndCleanUpAreApplied) {
  VocabularyOptions o;
  o.source = o.target = parse_token_spec("word");
  o.limits.min_count = 2;
  const Tokenizers t = build_tokenizers({{"a a b", "e\xCC\x81 x"}, {"c  a", "\xC3\xA9"}}, o);
  EXPECT_EQ(t.source.size(), kFirstTextId + 1);
  EXPECT_EQ(t.target.size(), kFirstTextId + 1);
  EXPECT_EQ(t.target.piece(kFirstTextId), "\xC3\xA9");
}

TEST(BuildTokenizers, SubwordsAreTrainedOrRefused) {
  VocabularyOptions o;
  o.source = o.target = parse_token_spec("subword:12");
  const std::vector<Pair> data(20, {"abab abab", "cdcd"});
  if (sentencepiece_version().empty()) {
    EXPECT_THROW(build_tokenizers(data, o), ConfigError);
    return;
  }
  const Tokenizers t = build_tokenizers(data, o);
  EXPECT_EQ(t.source.kind(), TokenKind::kSubword);
  EXPECT_LT(t.source.encode_ids("abab").size(), 4u);
}

TEST(EncodePairs, CountsAndCuts) {
  VocabularyOptions o;
  o.source = o.target = parse_token_spec("word");
  const Tokenizers t = build_tokenizers({{"a b", "x y"}}, o);
  const EncodedPairs e = encode_pairs({{"a b a b", "x"}, {"a q", "y z </s>"}}, t, 3);
  EXPECT_EQ(e.size(), 2u);
  EXPECT_EQ(e.cut, 1u);
  EXPECT_EQ(e.source[0].size(), 3u);
  EXPECT_EQ(e.source_tokens, 5u);  // after the cut
  EXPECT_EQ(e.target_tokens, 4u);
  EXPECT_EQ(e.unknown, 3u);
  EXPECT_EQ(e.text[1].target, "y z </s>");
  for (const auto& ids : e.target) {
    for (const int id : ids) EXPECT_NE(id, kEndId);
  }
  EXPECT_EQ(encode_pairs({{"a b a b", "x"}}, t, 0).cut, 0u);
}

}  // namespace
}  // namespace regard
