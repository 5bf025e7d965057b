// BLEU and chrF against the scores that sacreBLEU gave (testdata/golden.json says which version).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "regard/eval/evaluate.h"

namespace regard::eval {
namespace {

nlohmann::json read_golden() {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "testdata" / "golden.json";
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return nlohmann::json::parse(file);
}

// "bleu/13a/lowercase" to a metric and its options.
double score_of(std::string name, const Lines& hypotheses, const References& references) {
  EvalOptions options;
  const std::string lowercase = "/lowercase";
  if (name.ends_with(lowercase)) {
    options.lowercase = true;
    name.resize(name.size() - lowercase.size());
  }
  if (const std::size_t slash = name.find('/'); slash != name.npos) {
    options.tokenization = parse_tokenization(name.substr(slash + 1));
    name.resize(slash);
  }
  return evaluate({name}, hypotheses, references, options).at(0).second;
}

TEST(SacrebleuGolden, BleuAndChrfAreTheSameToSixDigits) {
  const nlohmann::json golden = read_golden();
  std::size_t compared = 0;
  for (const auto& one : golden.at("cases")) {
    const Lines hypotheses = one.at("hypotheses");
    const References references = one.at("references");
    for (const auto& [name, score] : one.at("scores").items()) {
      EXPECT_NEAR(score_of(name, hypotheses, references), score.get<double>(), 1e-6)
          << one.at("name") << ": " << name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 28u * 12u);
}

// The golden cases would be worthless if an option made no difference in them.
TEST(SacrebleuGolden, EveryTokenisationAndLowercaseDiffersSomewhere) {
  const nlohmann::json golden = read_golden();
  for (const char* name : {"bleu/intl", "bleu/char", "bleu/none", "bleu/13a/lowercase"}) {
    bool differs = false;
    for (const auto& one : golden.at("cases")) {
      const auto& scores = one.at("scores");
      differs = differs || scores.at(name) != scores.at("bleu/13a");
    }
    EXPECT_TRUE(differs) << name;
  }
}

}  // namespace
}  // namespace regard::eval
