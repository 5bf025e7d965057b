#include "regard/eval/evaluate.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "regard/base/error.h"

namespace regard::eval {
namespace {

double one(const std::string& metric, const Lines& hypotheses, const References& references,
           const EvalOptions& options = {}) {
  const Scores scores = evaluate({metric}, hypotheses, references, options);
  EXPECT_EQ(scores.at(0).first, metric);
  return scores.at(0).second;
}

std::string data_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const FormatError& error) {
    EXPECT_EQ(error.kind(), FormatError::Kind::kData);
    return error.what();
  }
  ADD_FAILURE() << "no FormatError";
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Evaluate, GivesEachMetricInTheOrderAsked) {
  const Scores scores = evaluate({"wer", "bleu", "exact"}, {"a b c d", "x"}, {{"a b c d"}, {"y"}});
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[0].first, "wer");
  EXPECT_EQ(scores[1].first, "bleu");
  EXPECT_EQ(scores[2].first, "exact");
  EXPECT_EQ(scores[0].second, 50.0);
  EXPECT_EQ(scores[2].second, 50.0);
}

TEST(Evaluate, ExactTakesAnyReferenceAndWerIsTheRest) {
  const Lines said = {"K AE T", "D AO G", "F IH SH"};
  const References wanted = {{"K AH T", "K AE T"}, {"D AA G", "D AO G Z"}, {"F IH SH"}};
  EXPECT_NEAR(one("exact", said, wanted), 200.0 / 3.0, 1e-12);
  EXPECT_NEAR(one("wer", said, wanted), 100.0 / 3.0, 1e-12);
  // D AO G is one edit from both of its references; the longer one counts: 1 of 3 + 4 + 3.
  EXPECT_NEAR(one("ser", said, wanted), 10.0, 1e-12);
}

TEST(Evaluate, CerCountsCodePointsAndOneBlankBetweenTokens) {
  EXPECT_NEAR(one("cer", {"n\u00e9  le"}, {{"ne le"}}), 20.0, 1e-12);
  EXPECT_NEAR(one("cer", {"ne\u00a0le "}, {{"ne le"}}), 0.0, 1e-12);
}

TEST(Evaluate, ComposedAndDecomposedAccentsAreTheSameExceptToBleuAndChrf) {
  const Lines said = {"n\u00e9 le un deux trois"};
  const References wanted = {{"ne\u0301 le un deux trois"}};
  EXPECT_EQ(one("exact", said, wanted), 100.0);
  EXPECT_EQ(one("cer", said, wanted), 0.0);
  EXPECT_EQ(one("ser", said, wanted), 0.0);
  EXPECT_LT(one("bleu", said, wanted), 100.0);
  EXPECT_LT(one("chrf", said, wanted), 100.0);
}

TEST(Evaluate, LowercaseAppliesToEveryMetricOfText) {
  EvalOptions options;
  options.lowercase = true;
  for (const char* metric : {"bleu", "chrf", "chrf++", "exact"}) {
    EXPECT_LT(one(metric, {"WE ARE eating bread"}, {{"We are EATING bread"}}), 99.0) << metric;
    EXPECT_NEAR(one(metric, {"WE ARE eating bread"}, {{"We are EATING bread"}}, options), 100, 1e-9)
        << metric;
  }
  for (const char* metric : {"wer", "ser", "cer"}) {
    EXPECT_GT(one(metric, {"WE ARE"}, {{"We are"}}), 0.0) << metric;
    EXPECT_EQ(one(metric, {"WE ARE"}, {{"We are"}}, options), 0.0) << metric;
  }
}

TEST(Evaluate, BytesThatAreNoUtf8AreCharactersLikeOthers) {
  EXPECT_EQ(one("exact", {"a\xff"}, {{"a\ufffd"}}), 100.0);
  EXPECT_EQ(one("cer", {"a\xff"}, {{"ab"}}), 50.0);
}

TEST(Evaluate, AerReadsLinksAndAddsPrecisionAndRecall) {
  EvalOptions options;
  options.first_gold_word = 1;
  const Scores scores = evaluate({"aer"}, {"0-0 1-2 2-2"}, {{"1-1 2-2 2p3"}}, options);
  ASSERT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores[0], (std::pair<std::string, double>("aer", 40.0)));
  EXPECT_EQ(scores[1].first, "precision");
  EXPECT_EQ(scores[2], (std::pair<std::string, double>("recall", 50.0)));
}

TEST(Evaluate, RefusesAerBesideTextOrWithSeveralReferences) {
  EXPECT_THROW(evaluate({"aer", "bleu"}, {"0-0"}, {{"0-0"}}), ConfigError);
  EXPECT_THROW(evaluate({"aer"}, {"0-0"}, {{"0-0", "1-1"}}), ConfigError);
}

TEST(Evaluate, BadLinkNamesItsSideAndLine) {
  const std::string message = data_error([] {
    evaluate({"aer"}, {"0-0", "0-0"}, {{"0-0"}, {"0=0"}});
  });
  EXPECT_TRUE(has(message, "gold line 2")) << message;
  EXPECT_TRUE(has(message, "'0=0'")) << message;
}

TEST(Evaluate, RefusesUnknownMetricsAndListsTheKnown) {
  try {
    evaluate({"bleu", "meteor"}, {"a"}, {{"a"}});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_TRUE(has(error.what(), "'meteor'")) << error.what();
    EXPECT_TRUE(has(error.what(), "bleu, chrf, chrf++, exact, wer, ser, cer, aer")) << error.what();
  }
}

TEST(Evaluate, DifferentCountsNameBoth) {
  const std::string message = data_error([] {
    evaluate({"bleu"}, {"a", "b", "c"}, {{"a"}, {"b"}});
  });
  EXPECT_TRUE(has(message, "3 hypotheses") && has(message, "2 items")) << message;
}

TEST(Evaluate, RefusesNothingToEvaluateAndItemsWithoutReference) {
  EXPECT_TRUE(has(data_error([] { evaluate({"bleu"}, {}, {}); }), "no line"));
  EXPECT_TRUE(has(data_error([] { evaluate({"exact"}, {"a", "b"}, {{"a"}, {}}); }), "item 2"));
}

TEST(ParseMetrics, SplitsAtCommasAndRefusesUnknownEmptyAndRepeated) {
  EXPECT_EQ(parse_metrics("bleu"), std::vector<std::string>{"bleu"});
  EXPECT_EQ(parse_metrics("bleu,chrf++,ser"), (std::vector<std::string>{"bleu", "chrf++", "ser"}));
  for (const char* bad : {"", "bleu,", ",bleu", "bleu, chrf", "BLEU", "bleu,bleu"}) {
    EXPECT_THROW(parse_metrics(bad), ConfigError) << bad;
  }
}

TEST(HigherIsBetter, KnowsScoresFromErrors) {
  for (const char* metric : {"bleu", "chrf", "chrf++", "exact"}) {
    EXPECT_TRUE(higher_is_better(metric)) << metric;
  }
  for (const char* metric : {"wer", "ser", "cer", "aer"}) {
    EXPECT_FALSE(higher_is_better(metric)) << metric;
  }
  EXPECT_THROW(higher_is_better("loss"), ConfigError);
}

TEST(JoinReferences, TurnsFilesIntoItems) {
  const References want = {{"a", "A"}, {"b", "B"}};
  EXPECT_EQ(join_references({{"a", "b"}, {"A", "B"}}), want);
}

TEST(JoinReferences, NamesBothCountsIfTheyDiffer) {
  const std::string message = data_error([] { join_references({{"a", "b"}, {"A", "B"}, {"x"}}); });
  EXPECT_TRUE(has(message, "file 1 has 2") && has(message, "file 3 has 1")) << message;
  EXPECT_THROW(join_references({}), ConfigError);
}

TEST(GroupBySource, CollectsTargetsInOrderOfFirstAppearance) {
  const GroupedRows rows = group_by_source({"cat", "dog", "cat", "ant"}, {"1", "2", "3", "4"});
  EXPECT_EQ(rows.sources, (Lines{"cat", "dog", "ant"}));
  EXPECT_EQ(rows.references, (References{{"1", "3"}, {"2"}, {"4"}}));
  EXPECT_EQ(rows.first_rows, (std::vector<std::size_t>{0, 1, 3}));
}

TEST(GroupBySource, NamesBothCountsIfTheyDiffer) {
  const std::string message = data_error([] { group_by_source({"a", "b"}, {"x"}); });
  EXPECT_TRUE(has(message, "2 sources") && has(message, "1 targets")) << message;
}

std::string words(int count) {
  std::string line;
  for (int i = 0; i < count; ++i) line += "w ";
  return line;
}

TEST(EvaluateByLength, PutsEachItemInTheBucketOfItsSourceLength) {
  Lines sources;
  Lines hypotheses;
  References references;
  for (const int length : {1, 8, 9, 12, 13, 21, 50}) {
    sources.push_back(words(length));
    hypotheses.push_back(length == 9 ? "wrong" : "right");
    references.push_back({"right"});
  }
  const auto buckets = evaluate_by_length({"exact"}, sources, hypotheses, references);
  ASSERT_EQ(buckets.size(), 5u);
  const char* labels[] = {"1-8", "9-12", "13-16", "17-20", "21+"};
  const std::size_t items[] = {2, 2, 1, 0, 2};
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    EXPECT_EQ(buckets[i].label, labels[i]);
    EXPECT_EQ(buckets[i].items, items[i]) << labels[i];
  }
  EXPECT_EQ(buckets[0].scores.at(0).second, 100.0);
  EXPECT_EQ(buckets[1].scores.at(0).second, 50.0);
  EXPECT_TRUE(buckets[3].scores.empty());
}

TEST(EvaluateByLength, BlankSourcesStandApart) {
  const auto buckets =
      evaluate_by_length({"exact"}, {" ", "w"}, {"a", "b"}, {{"a"}, {"b"}}, {}, {1});
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].label, "0");
  EXPECT_EQ(buckets[0].items, 1u);
  EXPECT_EQ(buckets[1].label, "1");
  EXPECT_EQ(buckets[2].label, "2+");
}

TEST(EvaluateByLength, RefusesWrongCountsAndBuckets) {
  const std::string message = data_error([] {
    evaluate_by_length({"exact"}, {"s"}, {"a", "b"}, {{"a"}, {"b"}});
  });
  EXPECT_TRUE(has(message, "1 sources") && has(message, "2 hypotheses")) << message;
  for (const std::vector<std::size_t>& bad : {std::vector<std::size_t>{0}, {4, 4}, {5, 3}}) {
    EXPECT_THROW(evaluate_by_length({"exact"}, {"s"}, {"a"}, {{"a"}}, {}, bad), ConfigError);
  }
}

TEST(Perplexity, IsTheInverseGeometricMeanOfTheProbabilities) {
  EXPECT_NEAR(perplexity(-3 * 0.6931471805599453, 3), 2.0, 1e-14);
  EXPECT_EQ(perplexity(0, 5), 1.0);
  EXPECT_EQ(perplexity(0, 0), 1.0);
}

}  // namespace
}  // namespace regard::eval
