#include "regard/translate/record_json.h"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <nlohmann/json.hpp>

#include "regard/base/error.h"

namespace regard {
namespace {

using Json = nlohmann::ordered_json;

Record example() {
  Record record;
  record.line = 7;
  record.source = "du pain";
  record.target = "bread";
  record.score = -0.75;
  record.log_prob = -1.5;
  record.source_tokens = {{"du", 0, 2}, {"pain", 3, 7}, {"</s>", 7, 7}};
  record.target_tokens = {{"bread", 0, 5}, {"</s>", 5, 5}};
  record.has_attention = true;
  record.attention = {2, 3, {0.25F, 0.5F, 0.25F, 0.0F, 0.125F, 0.875F}};
  record.token_log_probs = {-1.0F, -0.5F};
  return record;
}

TEST(RecordJson, IsThisLine) {
  EXPECT_EQ(to_json(example()),
            R"({"line":7,"source":"du pain","target":"bread","score":-0.75,"log_prob":-1.5,)"
            R"("source_tokens":["du","pain","</s>"],"target_tokens":["bread","</s>"],)"
            R"("attention":[[0.25,0.5,0.25],[0,0.125,0.875]],"token_log_probs":[-1,-0.5],)"
            R"("stop":"end","rank":1,"flags":[]})");
}

TEST(RecordJson, AddsLinksAndDroppedMassForAlignments) {
  Record record = example();
  record.has_links = true;
  record.links = {{1, 0}, {2, 1}};
  record.dropped = {0.25F, 0.875F};
  record.flags = {"cut", "unknown"};
  record.stop = StopReason::kMaxLength;
  const Json json = Json::parse(to_json(record));
  EXPECT_EQ(json["links"].dump(), "[[1,0],[2,1]]");
  EXPECT_EQ(json["dropped"].dump(), "[0.25,0.875]");
  EXPECT_EQ(json["flags"].dump(), R"(["cut","unknown"])");
  EXPECT_EQ(json["stop"], "max_length");
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  EXPECT_EQ(keys,
            (std::vector<std::string>{
                "line", "source", "target", "score", "log_prob", "source_tokens", "target_tokens",
                "attention", "token_log_probs", "stop", "rank", "flags", "links", "dropped"}));
}

TEST(RecordJson, BlankLineHasEmptyListsAndNullScores) {
  Record record;
  record.line = 2;
  record.source = " \t";
  record.blank = true;
  record.has_links = true;
  EXPECT_EQ(to_json(record),
            R"({"line":2,"source":" \t","target":"","score":null,"log_prob":null,)"
            R"("source_tokens":[],"target_tokens":[],"attention":[],"token_log_probs":[],)"
            R"("stop":"end","rank":1,"flags":[],"links":[],"dropped":[]})");
}

TEST(RecordJson, AttentionIsNullForAModelWithoutAttention) {
  Record record = example();
  record.has_attention = false;
  EXPECT_TRUE(Json::parse(to_json(record))["attention"].is_null());
}

TEST(RecordJson, NumbersReadBackToTheSameBits) {
  Record record = example();
  record.score = -0.1 - 1.0 / 3.0;
  record.attention.weights = {1.0F / 3.0F, 1e-30F,
                              0.1F,        std::numeric_limits<float>::denorm_min(),
                              16777216.0F, std::nextafter(1.0F, 0.0F)};
  const std::string line = to_json(record);
  EXPECT_NE(line.find("0.33333334,1e-30,0.1]"), std::string::npos) << line;
  const Json json = Json::parse(line);
  EXPECT_EQ(json["score"].get<double>(), record.score);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(json["attention"][i / 3][i % 3].get<float>(), record.attention.weights[i]);
  }
}

TEST(RecordJson, WhatIsNoNumberIsNull) {
  Record record = example();
  record.log_prob = -std::numeric_limits<double>::infinity();
  record.token_log_probs[0] = std::numeric_limits<float>::quiet_NaN();
  const Json json = Json::parse(to_json(record));
  EXPECT_TRUE(json["log_prob"].is_null());
  EXPECT_TRUE(json["token_log_probs"][0].is_null());
}

TEST(RecordJson, TextComesBackAndTheResultIsOneLineForAnyReader) {
  Record record = example();
  record.source =
      "\"a\\b\" \b\f\n\r\t\x01\x7F \xC2\x85\xE2\x80\xA8\xE2\x80\xA9 \xD8\xB4 \xF0\x9F\x98\x80";
  const std::string line = to_json(record);
  EXPECT_EQ(Json::parse(line)["source"], record.source);
  for (const char* separator :
       {"\n", "\r", "\x0B", "\x0C", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    EXPECT_EQ(line.find(separator), std::string::npos);
  }
  EXPECT_NE(line.find("\xD8\xB4 \xF0\x9F\x98\x80"), std::string::npos);
}

TEST(RecordJson, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  Record record = example();
  record.target =
      "a\xFF"
      "b";
  EXPECT_EQ(Json::parse(to_json(record))["target"],
            "a\xEF\xBF\xBD"
            "b");
}

TEST(RecordJson, DoesNotDependOnTheLocale) {
  const std::string before = to_json(example());
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8"}) {
    if (found == nullptr) found = std::setlocale(LC_ALL, name);
  }
  const std::string after = to_json(example());
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(before, after);
}

TEST(RecordJson, RefusesAMatrixThatDoesNotFitTheTokens) {
  Record record = example();
  record.source_tokens.pop_back();
  EXPECT_THROW(to_json(record), ShapeError);
  record = example();
  record.attention.weights.pop_back();
  EXPECT_THROW(to_json(record), ShapeError);
  record = example();
  record.token_log_probs.pop_back();
  EXPECT_THROW(to_json(record), ShapeError);
}

}  // namespace
}  // namespace regard
