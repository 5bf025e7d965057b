// Translator with an encoder of self-attention: where it looks, as a record; and that records still
// depend on their own line alone.
#include <gtest/gtest.h>

#include <numeric>

#include "regard/base/error.h"
#include "regard/model/encoder_choices_test_util.h"
#include "regard/translate/flags.h"
#include "regard/translate/record_json.h"
#include "regard/translate/translator.h"

namespace regard {
namespace {

const std::vector<std::string> kLines = {
    "a b c", "", "c c c a b d a", "   ", "zz a", "d", "a b c d a b c d a b c d a b c d", "\t"};

Tokenizer make_tokenizer() {
  TokenCounts counts;
  count_tokens("a b c d", TokenKind::kWord, CleanupRule::kNfcSpaces, counts);
  return build_tokenizer(TokenKind::kWord, counts, CleanupRule::kNfcSpaces);
}

ModelConfig small() {
  ModelConfig c;
  c.source_vocabulary = c.target_vocabulary = make_tokenizer().size();
  c.source_embedding = c.target_embedding = 6;
  c.encoder_hidden = 4;
  c.hidden = c.readout = 8;
  c.attention_width = 6;
  return c;
}

// Never trained, but with opinions: start values, made larger.
Translator make_translator(const ModelConfig& config) {
  auto model = std::make_unique<Model>(config, make_tokenizer(), make_tokenizer());
  Parameters& p = model->network.parameters();
  p.initialise(7);
  for (Index i = 0; i < p.size(); ++i) p.data()[i] *= 3.0F;
  Threads alone;
  p.pack(alone, false);
  return Translator(std::move(model));
}

Translator self_attentive(PositionKind positions = PositionKind::kSinusoidal) {
  return make_translator(test::with_self_attention(small(), positions));
}

Record look(const Translator& translator, const std::string& line, int layer, int head) {
  SelfAttentionOptions options;
  options.layer = layer;
  options.head = head;
  return translator.self_attention(line, options);
}

std::string message_of(const Translator& translator, const SelfAttentionOptions& options) {
  try {
    translator.self_attention("a b", options);
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "not refused";
}

TEST(SelfAttentionRecord, HasARowAndAColumnForEachSourceToken) {
  const Translator translator = self_attentive();
  const Record r = look(translator, "a zz c", 2, 1);
  EXPECT_EQ(r.layer, 2);
  EXPECT_EQ(r.head, 1);
  EXPECT_EQ(r.target, r.source);
  ASSERT_EQ(r.source_tokens.size(), 4U);
  ASSERT_EQ(r.target_tokens.size(), 4U);
  EXPECT_EQ(r.target_tokens[3].text, "</s>");
  EXPECT_EQ(r.unseen, (std::vector<std::string>{"zz"}));
  ASSERT_EQ(r.attention.weights.size(), 16U);
  for (std::int64_t i = 0; i < 4; ++i) {
    float sum = 0.0F;
    for (std::int64_t j = 0; j < 4; ++j) sum += r.attention(i, j);
    EXPECT_NEAR(sum, 1.0F, 1e-5F);
  }
}

TEST(SelfAttentionRecord, IsAnotherForEachLayerAndHead) {
  const Translator translator = self_attentive();
  std::vector<std::vector<float>> seen;
  for (const int layer : {1, 2}) {
    for (const int head : {1, 2}) {
      seen.push_back(look(translator, kLines[0], layer, head).attention.weights);
    }
  }
  for (size_t a = 0; a < seen.size(); ++a) {
    for (size_t b = 0; b < a; ++b) EXPECT_NE(seen[a], seen[b]);
  }
}

TEST(SelfAttentionRecord, IsARecordInJsonWithoutScores) {
  const std::string json = to_json(look(self_attentive(), "a", 1, 2));
  EXPECT_EQ(json.find(R"({"line":1,"source":"a","target":"a","score":null,"log_prob":null,)"), 0U)
      << json;
  EXPECT_NE(json.find(R"("target_tokens":["a","</s>"],"attention":[[)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("flags":[],"layer":1,"head":2})"), std::string::npos) << json;
}

TEST(SelfAttentionRecord, OfABlankLineIsBlankAndOfALongOneIsCut) {
  const Translator translator = self_attentive();
  const Record blank = look(translator, " ", 1, 1);
  EXPECT_TRUE(blank.blank);
  EXPECT_FALSE(blank.has_attention);
  SelfAttentionOptions options;
  options.max_source_length = 3;
  const Record cut = translator.self_attention(kLines[6], options);
  EXPECT_EQ(cut.attention.rows, 4);
  EXPECT_EQ(cut.flags, std::vector<std::string>{std::string(flag::kCutSource)});
}

TEST(SelfAttentionRecord, WhatTheEncoderHasNotIsRefusedWithAWayOut) {
  const Translator translator = self_attentive();
  SelfAttentionOptions options;
  options.layer = 3;
  EXPECT_EQ(message_of(translator, options),
            "--layer is 3; the encoder of this model has layers 1 to 2");
  options = {};
  options.head = 0;
  EXPECT_EQ(message_of(translator, options),
            "--head is 0; the encoder of this model has heads 1 to 2");
  options = {};
  options.max_source_length = 0;
  EXPECT_NE(message_of(translator, options).find("--max-source-length is 0"), std::string::npos);
  const std::string recurrent = message_of(make_translator(small()), {});
  EXPECT_NE(recurrent.find("--encoder self-attention"), std::string::npos) << recurrent;
  EXPECT_NE(recurrent.find("without --self"), std::string::npos) << recurrent;
  EXPECT_THROW(translator.self_attention("a \xFF", {}), FormatError);
}

TEST(SelfAttentionEncoderOfATranslator, RecordsDependOnTheirOwnLineAlone) {
  for (const PositionKind positions :
       {PositionKind::kSinusoidal, PositionKind::kRelative, PositionKind::kNone}) {
    const Translator translator = self_attentive(positions);
    TranslateOptions options;
    options.with_attention = true;
    options.max_length = 12;
    std::string alone;
    for (size_t i = 0; i < kLines.size(); ++i) {
      options.first_line = static_cast<Index>(i) + 1;
      Threads one;
      alone += to_json(translator.translate(std::span(&kLines[i], 1), options, one)[0][0]) + "\n";
    }
    options.first_line = 1;
    for (const Index batch_tokens : {1, 20, 2000}) {
      for (const int threads : {1, 2}) {
        options.batch_tokens = batch_tokens;
        Threads team(threads);
        std::string together;
        for (const auto& records : translator.translate(kLines, options, team)) {
          together += to_json(records[0]) + "\n";
        }
        EXPECT_EQ(together, alone) << batch_tokens << ' ' << threads;
      }
    }
  }
}

TEST(SelfAttentionEncoderOfATranslator, ScoreGivesTheBitsOfTranslate) {
  const Translator translator = self_attentive();
  TranslateOptions options;
  options.bar_unknown = true;
  Threads threads(2);
  size_t compared = 0;
  for (const auto& records : translator.translate(kLines, options, threads)) {
    const Record& r = records[0];
    if (r.blank || r.stop == StopReason::kMaxLength) continue;
    const Pair pair{r.source, r.target};
    const Record scored = translator.score(std::span(&pair, 1), {}, threads)[0];
    EXPECT_EQ(scored.token_log_probs, r.token_log_probs) << r.target;
    ++compared;
  }
  EXPECT_GE(compared, 1U);
}

}  // namespace
}  // namespace regard
