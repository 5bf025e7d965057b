#include "regard/translate/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "regard/base/error.h"
#include "regard/base/scratch_folder_test_util.h"
#include "regard/model/attention_choices_test_util.h"
#include "regard/translate/record_json.h"

namespace regard {
namespace {

const std::vector<std::string> kLines = {
    "a b c", "", "c c c a b d a", "   ", "zz a", "d", "a b c d a b c d a b c d a b c d", "\t"};

// A model that was never trained but has opinions: start values, made larger.
struct Recipe {
  DecoderKind decoder = DecoderKind::kLuong;
  TokenKind tokens = TokenKind::kWord;
  float scale = 4.0F;
  std::string pushed = {};  // a token, "<unk>" or "</s>" that is likely everywhere
};

Tokenizer make_tokenizer(TokenKind kind) {
  TokenCounts counts;
  count_tokens("a b c d", kind, CleanupRule::kNfcSpaces, counts);
  return build_tokenizer(kind, counts, CleanupRule::kNfcSpaces);
}

ModelConfig small(DecoderKind decoder, Index vocabulary) {
  ModelConfig c;
  c.source_vocabulary = c.target_vocabulary = vocabulary;
  c.source_embedding = c.target_embedding = 6;
  c.encoder_hidden = 4;
  c.hidden = c.readout = 8;
  c.attention_width = 6;
  c.decoder = decoder;
  c.input_feeding = decoder == DecoderKind::kLuong;
  return c;
}

Translator make_translator(const ModelConfig& config, const Tokenizer& tokens,
                           const Recipe& recipe) {
  auto model = std::make_unique<Model>(config, tokens, tokens);
  Parameters& p = model->network.parameters();
  p.initialise(7);
  for (Index i = 0; i < p.size(); ++i) p.data()[i] *= recipe.scale;
  for (int id = 0; id < tokens.size(); ++id) {
    if (tokens.piece(id) == recipe.pushed) p.value(p.find("output.bias"))(0, id) = 100.0F;
  }
  Threads alone;
  p.pack(alone, false);
  return Translator(std::move(model));
}

Translator make_translator(const Recipe& recipe = {}) {
  const Tokenizer tokens = make_tokenizer(recipe.tokens);
  return make_translator(small(recipe.decoder, tokens.size()), tokens, recipe);
}

std::string all_json(const std::vector<std::vector<Record>>& lines) {
  std::string text;
  for (const auto& records : lines) {
    for (const Record& r : records) text += to_json(r) + '\n';
  }
  return text;
}

std::string translated(const Translator& translator, TranslateOptions options, int threads) {
  Threads team(threads);
  options.with_attention = true;
  return all_json(translator.translate(kLines, options, team));
}

bool has_flag(const Record& r, const std::string& flag) {
  return std::find(r.flags.begin(), r.flags.end(), flag) != r.flags.end();
}

Record first(const Translator& translator, const std::string& line,
             const TranslateOptions& options = {}) {
  Threads alone;
  return translator.translate(std::span(&line, 1), options, alone)[0][0];
}

class EveryDecoder : public ::testing::TestWithParam<DecoderKind> {};
INSTANTIATE_TEST_SUITE_P(Translator, EveryDecoder,
                         ::testing::Values(DecoderKind::kFixed, DecoderKind::kBahdanau,
                                           DecoderKind::kConditional, DecoderKind::kLuong));

TEST_P(EveryDecoder, ARecordDoesNotDependOnBatchThreadsOrNeighbours) {
  const Translator translator = make_translator({GetParam()});
  TranslateOptions options;
  options.nbest = 3;
  options.batch_tokens = 1;
  const std::string wanted = translated(translator, options, 1);
  for (const Index batch_tokens : {1, 20, 2000}) {
    for (const int threads : {1, 2, 5}) {
      options.batch_tokens = batch_tokens;
      EXPECT_EQ(translated(translator, options, threads), wanted) << batch_tokens << ' ' << threads;
    }
  }
  std::string alone;
  options.with_attention = true;
  for (size_t i = 0; i < kLines.size(); ++i) {
    options.first_line = static_cast<Index>(i) + 1;
    Threads one;
    alone += all_json(translator.translate(std::span(&kLines[i], 1), options, one));
  }
  EXPECT_EQ(alone, wanted);
}

TEST_P(EveryDecoder, ScoreGivesTheBitsOfTranslate) {
  const Translator translator = make_translator({GetParam()});
  TranslateOptions options;
  options.nbest = 5;
  options.bar_unknown = true;  // copies are not in the vocabulary
  options.formula = LengthFormula::kGnmt;
  options.length_penalty = 0.7;
  Threads threads(2);
  std::vector<Pair> pairs;
  std::vector<Record> wanted;
  for (const auto& records : translator.translate(kLines, options, threads)) {
    for (const Record& r : records) {
      if (r.stop == StopReason::kMaxLength) continue;
      pairs.push_back({r.source, r.target});
      wanted.push_back(r);
    }
  }
  ASSERT_GE(pairs.size(), 8U);
  ScoreOptions score;
  score.formula = options.formula;
  score.length_penalty = options.length_penalty;
  const std::vector<Record> scored = translator.score(pairs, score, threads);
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(scored[i].token_log_probs, wanted[i].token_log_probs) << pairs[i].target;
    EXPECT_EQ(scored[i].log_prob, wanted[i].log_prob);
    EXPECT_EQ(scored[i].score, wanted[i].score);
    EXPECT_EQ(scored[i].target_ids, wanted[i].target_ids);
  }
}

TEST_P(EveryDecoder, StepsShowTheWeightsOfTheRecord) {
  const Translator translator = make_translator({GetParam()});
  TranslateOptions options;
  options.with_attention = true;
  options.max_source_length = 4;
  options.max_length = 9;
  const Record record = first(translator, kLines[6], options);
  ASSERT_TRUE(has_flag(record, "cut_source"));
  const std::vector<TokenStep> steps = translator.steps(record, 3);
  ASSERT_EQ(steps.size(), record.target_tokens.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    ASSERT_EQ(steps[i].top.size(), 3U);
    EXPECT_GE(steps[i].top[0].second, steps[i].top[1].second);
    const float written = std::exp(record.token_log_probs[i]);
    EXPECT_LE(written, steps[i].top[0].second * 1.00001F);
    if (GetParam() == DecoderKind::kFixed) {
      EXPECT_TRUE(steps[i].weights.empty());
      EXPECT_TRUE(steps[i].scores.empty());
      continue;
    }
    double normaliser = 0.0;
    for (const float e : steps[i].scores) normaliser += std::exp(static_cast<double>(e));
    ASSERT_EQ(steps[i].weights.size(), record.source_tokens.size());
    for (size_t j = 0; j < steps[i].weights.size(); ++j) {
      EXPECT_EQ(steps[i].weights[j],
                record.attention(static_cast<Index>(i), static_cast<Index>(j)));
      EXPECT_NEAR(steps[i].weights[j],
                  std::exp(static_cast<double>(steps[i].scores[j])) / normaliser, 1e-5);
    }
    EXPECT_GT(steps[i].context_norm, 0.0F);
  }
}

// Forced decoding, search, and search written down step by step.
TEST(Translator, EveryAttentionIsTheSameInRecordsScoresAndSteps) {
  const Tokenizer tokens = make_tokenizer(TokenKind::kWord);
  Threads threads(2);
  TranslateOptions options;
  options.with_attention = true;
  options.bar_unknown = true;
  ScoreOptions score;
  score.with_attention = true;
  for (const ModelConfig& c :
       test::attention_choices(small(DecoderKind::kLuong, tokens.size()), 17)) {
    SCOPED_TRACE(to_json(c));
    const Translator translator = make_translator(c, tokens, {});
    for (const auto& records : translator.translate(kLines, options, threads)) {
      const Record& r = records[0];
      if (r.blank) continue;
      const std::vector<TokenStep> steps = translator.steps(r, 1);
      for (size_t i = 0; i < steps.size(); ++i) {
        for (size_t j = 0; j < steps[i].weights.size(); ++j) {
          EXPECT_EQ(steps[i].weights[j], r.attention(static_cast<Index>(i), static_cast<Index>(j)));
        }
      }
      if (r.stop == StopReason::kMaxLength) continue;
      const Pair pair{r.source, r.target};
      const Record scored = translator.score(std::span(&pair, 1), score, threads)[0];
      EXPECT_EQ(scored.token_log_probs, r.token_log_probs);
      EXPECT_EQ(to_json(scored).substr(to_json(scored).find("\"attention\"")).substr(0, 200),
                to_json(r).substr(to_json(r).find("\"attention\"")).substr(0, 200));
    }
  }
}

TEST(Translator, ASourceLongerThanLocationKnowsNamesTheWayOut) {
  const Tokenizer tokens = make_tokenizer(TokenKind::kWord);
  ModelConfig c = small(DecoderKind::kLuong, tokens.size());
  c.attention = AttentionKind::kLocation;
  c.longest_source = 5;
  const Translator translator = make_translator(c, tokens, {});
  try {
    first(translator, kLines[6]);
    FAIL() << "16 words were taken for 4";
  } catch (const ShapeError& e) {
    EXPECT_NE(std::string(e.what()).find("--max-source-length 4"), std::string::npos) << e.what();
  }
  TranslateOptions options;
  options.max_source_length = 4;
  EXPECT_TRUE(has_flag(first(translator, kLines[6], options), "cut_source"));
}

TEST(Translator, BlankLinesGiveBlankRecordsInTheirPlaces) {
  const Translator translator = make_translator();
  Threads threads(2);
  const auto records = translator.translate(kLines, {}, threads);
  ASSERT_EQ(records.size(), kLines.size());
  for (size_t i = 0; i < kLines.size(); ++i) {
    ASSERT_EQ(records[i].size(), 1U);
    const Record& r = records[i][0];
    EXPECT_EQ(r.line, static_cast<Index>(i) + 1);
    EXPECT_EQ(r.source, kLines[i]);
    EXPECT_EQ(r.blank, kLines[i].find_first_not_of(" \t") == std::string::npos);
    EXPECT_EQ(r.target.empty(), r.blank);
    EXPECT_TRUE(!r.blank || r.target_tokens.empty());
  }
}

TEST(Translator, AnUnknownOutputTokenBecomesTheWordLookedAt) {
  const Translator translator =
      make_translator({DecoderKind::kLuong, TokenKind::kWord, 4.0F, "<unk>"});
  TranslateOptions options;
  options.beam = 1;
  options.max_length = 3;
  const Record r = first(translator, "a qx7 zz", options);
  EXPECT_TRUE(has_flag(r, "unknown"));
  ASSERT_EQ(r.target_ids.size(), 3U);
  EXPECT_EQ(r.target_ids[0], kUnknownId);
  for (const RecordToken& t : r.target_tokens) {
    EXPECT_TRUE(t.text == "a" || t.text == "qx7" || t.text == "zz") << t.text;
  }
  options.bar_unknown = true;
  EXPECT_FALSE(has_flag(first(translator, "a qx7 zz", options), "unknown"));
}

TEST(Translator, TheFixedDecoderNeverWritesUnknown) {
  const Translator translator =
      make_translator({DecoderKind::kFixed, TokenKind::kWord, 4.0F, "<unk>"});
  const Record r = first(translator, "a b");
  EXPECT_EQ(std::count(r.target_ids.begin(), r.target_ids.end(), kUnknownId), 0);
}

TEST(Translator, ALoopIsBoundedAndFlagged) {
  const Translator translator = make_translator({DecoderKind::kLuong, TokenKind::kWord, 4.0F, "c"});
  const Record r = first(translator, "a b");
  EXPECT_EQ(r.target_ids.size(), 3U * 2U + 50U);
  EXPECT_EQ(r.stop, StopReason::kMaxLength);
  EXPECT_EQ(r.flags, (std::vector<std::string>{"max_length", "repeated"}));
  EXPECT_EQ(r.target_tokens.back().text, "c");  // no end marker was written
}

TEST(Translator, ARecordSaysWhereRowsNeedNotSumToOne) {
  const Tokenizer tokens = make_tokenizer(Recipe().tokens);
  for (const WeightsKind kind : {WeightsKind::kSoftmax, WeightsKind::kSparsemax,
                                 WeightsKind::kSigmoid, WeightsKind::kMonotonic}) {
    ModelConfig config = small(DecoderKind::kBahdanau, tokens.size());
    config.normalizer = kind;
    const Translator translator = make_translator(config, tokens, {});
    TranslateOptions options;
    options.with_attention = true;
    const bool free = kind == WeightsKind::kSigmoid || kind == WeightsKind::kMonotonic;
    EXPECT_EQ(has_flag(first(translator, "a b", options), "free_row_sums"), free);
    Threads alone;
    const std::vector<Pair> pairs = {{"a b", "b c"}};
    EXPECT_EQ(has_flag(translator.align(pairs, {}, alone)[0], "free_row_sums"), free);
  }
}

TEST(Translator, SaysNothingOnlyWhereThatIsAllowed) {
  const Translator translator =
      make_translator({DecoderKind::kLuong, TokenKind::kWord, 4.0F, "</s>"});
  EXPECT_EQ(first(translator, "a b").target_tokens.size(), 2U);
  TranslateOptions options;
  options.min_length = 0;
  const Record r = first(translator, "a b", options);
  EXPECT_EQ(r.target, "");
  EXPECT_EQ(r.flags, std::vector<std::string>{"empty"});
}

TEST(Translator, AModelThatGivesNoNumberGivesAnEmptyRecord) {
  const Translator broken = make_translator(
      {DecoderKind::kLuong, TokenKind::kWord, std::numeric_limits<float>::quiet_NaN(), ""});
  const Record r = first(broken, "a b");
  EXPECT_EQ(r.target, "");
  EXPECT_TRUE(has_flag(r, "empty"));
  EXPECT_NE(to_json(r).find("\"log_prob\":null"), std::string::npos);
}

TEST(Translator, OptionsOutOfRangeAreRefusedWithTheirNames) {
  const Translator translator = make_translator();
  const auto refused = [&](const std::string& name, const auto& change) {
    TranslateOptions options;
    change(options);
    Threads alone;
    try {
      translator.translate({}, options, alone);
      ADD_FAILURE() << name;
    } catch (const ConfigError& e) {
      EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
  };
  refused("--beam", [](TranslateOptions& o) { o.beam = 0; });
  refused("--nbest", [](TranslateOptions& o) { o.nbest = 0; });
  refused("--nbest", [](TranslateOptions& o) { o.nbest = 6; });
  refused("--max-length", [](TranslateOptions& o) { o.max_length = -1; });
  refused("--min-length", [](TranslateOptions& o) { o.min_length = -1; });
  refused("--min-length", [](TranslateOptions& o) { o.min_length = 4, o.max_length = 3; });
  refused("--max-source-length", [](TranslateOptions& o) { o.max_source_length = 0; });
  refused("--batch-tokens", [](TranslateOptions& o) { o.batch_tokens = 0; });
}

TEST(Translator, ALineThatIsNotUtf8IsAnErrorWithItsNumber) {
  const Translator translator = make_translator();
  const std::vector<std::string> lines = {"a", "b \xC3"};
  Threads alone;
  try {
    translator.translate(lines, {}, alone);
    FAIL();
  } catch (const FormatError& e) {
    EXPECT_EQ(e.kind(), FormatError::Kind::kData);
    EXPECT_NE(std::string(e.what()).find("line 2"), std::string::npos) << e.what();
  }
}

TEST(Translator, ScoresBlankSidesByTheirRule) {
  const Translator translator = make_translator();
  const std::vector<Pair> pairs = {{"", ""}, {" ", "a"}, {"a b", ""}};
  Threads alone;
  ScoreOptions options;
  options.with_attention = true;
  const std::vector<Record> scored = translator.score(pairs, options, alone);
  EXPECT_TRUE(scored[0].blank);
  EXPECT_TRUE(scored[1].blank);
  ASSERT_FALSE(scored[2].blank);
  EXPECT_EQ(scored[2].target_ids, std::vector<std::int32_t>{kEndId});
  EXPECT_EQ(scored[2].attention.rows, 1);
  EXPECT_EQ(scored[2].attention.cols, 3);
}

TEST(Translator, AlignsWordsWithoutEndMarkers) {
  const Translator translator = make_translator({DecoderKind::kBahdanau, TokenKind::kChar});
  const std::vector<Pair> pairs = {{"ab c", "dd a c"}, {"", ""}, {"a", " "}};
  Threads alone;
  const std::vector<Record> aligned = translator.align(pairs, {}, alone);
  const Record& r = aligned[0];
  ASSERT_EQ(r.target_tokens.size(), 3U);
  ASSERT_EQ(r.source_tokens.size(), 2U);
  EXPECT_EQ(r.token_log_probs.size(), 3U);
  EXPECT_EQ(r.dropped.size(), 3U);
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(r.attention(i, 0) + r.attention(i, 1), 1.0, 1e-5);
  for (const auto& [source, target] : r.links) {
    EXPECT_LT(source, 2);
    EXPECT_LT(target, 3);
  }
  for (const Record& blank : {aligned[1], aligned[2]}) {
    EXPECT_TRUE(blank.blank);
    EXPECT_TRUE(blank.links.empty());
    EXPECT_NE(to_json(blank).find("\"links\":[],\"dropped\":[]"), std::string::npos);
  }
}

TEST(Translator, AlignsPiecesWithTheMatrixAsItIs) {
  const Translator translator = make_translator({DecoderKind::kConditional, TokenKind::kChar});
  const Pair pair{"ab c", "dd a"};
  Threads alone;
  AlignOptions options;
  options.pieces = true;
  const Record aligned = translator.align(std::span(&pair, 1), options, alone)[0];
  ScoreOptions score;
  score.with_attention = true;
  const Record scored = translator.score(std::span(&pair, 1), score, alone)[0];
  EXPECT_EQ(aligned.attention.weights, scored.attention.weights);
  EXPECT_EQ(aligned.token_log_probs, scored.token_log_probs);
  for (const auto& [source, target] : aligned.links) {
    EXPECT_LT(source, 4);  // never the end marker
    EXPECT_LT(target, 4);
  }
}

// Row i of a shifted matrix is row i + shift of the plain one: the same query, read later.
TEST(Translator, ShiftReadsTheFirstStepThatKnowsTheToken) {
  for (const DecoderKind decoder :
       {DecoderKind::kBahdanau, DecoderKind::kConditional, DecoderKind::kLuong}) {
    const Translator translator = make_translator({decoder});
    const Pair pair{"a b c d", "d c b a"};
    Threads alone;
    AlignOptions options;
    options.pieces = true;
    const Record plain = translator.align(std::span(&pair, 1), options, alone)[0];
    options.shift = true;
    const Record shifted = translator.align(std::span(&pair, 1), options, alone)[0];
    const Index shift = decoder == DecoderKind::kBahdanau ? 2 : 1;
    ASSERT_EQ(shifted.attention.rows, plain.attention.rows);
    for (Index i = 0; i + shift < plain.attention.rows; ++i) {
      for (Index j = 0; j < plain.attention.cols; ++j) {
        EXPECT_EQ(shifted.attention(i, j), plain.attention(i + shift, j));
      }
    }
    EXPECT_EQ(shifted.token_log_probs, plain.token_log_probs);
  }
}

TEST(Translator, RefusesToAlignWithoutAttention) {
  const Translator translator = make_translator({DecoderKind::kFixed});
  Threads alone;
  EXPECT_THROW(translator.align({}, {}, alone), ConfigError);
}

TEST(Translator, RefusesStepsOfARecordWithoutIds) {
  const Translator translator = make_translator();
  Record record = first(translator, "a b");
  record.target_ids.clear();
  EXPECT_THROW(translator.steps(record), ShapeError);
  EXPECT_TRUE(translator.steps(first(translator, "")).empty());
}

TEST(Translator, ManyThreadsMayShareOne) {
  const Translator translator = make_translator();
  const std::string wanted = translated(translator, {}, 1);
  std::vector<std::string> found(4);
  std::vector<std::thread> callers;
  for (std::string& text : found) {
    callers.emplace_back([&] { text = translated(translator, {}, 2); });
  }
  for (std::thread& t : callers) t.join();
  for (const std::string& text : found) EXPECT_EQ(text, wanted);
}

class TranslatorFile : public ScratchFolder {};

TEST_F(TranslatorFile, IsReadBackToTheSameTranslations) {
  const Translator made = make_translator();
  const std::string path = folder() + "/m.regard";
  save_model(path, made.model());
  EXPECT_EQ(translated(Translator(path), {}, 1), translated(made, {}, 1));
}

TEST_F(TranslatorFile, ThatIsMissingOrNoModelIsRefused) {
  EXPECT_THROW(Translator(folder() + "/none"), std::system_error);
  EXPECT_THROW(Translator(write("text", "a line of text\n")), FormatError);
}

TEST(LengthFormulaNames, AreKnownOrRefused) {
  EXPECT_EQ(length_formula_from_name("power"), LengthFormula::kPower);
  EXPECT_EQ(length_formula_from_name("gnmt"), LengthFormula::kGnmt);
  EXPECT_THROW(length_formula_from_name("google"), ConfigError);
}

}  // namespace
}  // namespace regard
