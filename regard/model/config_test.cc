// The configuration: what has no meaning is refused with a way out, and every choice survives its
// JSON.
#include "regard/model/config.h"

#include <gtest/gtest.h>

#include <limits>

#include "regard/base/error.h"
#include "regard/model/attention_choices_test_util.h"
#include "regard/model/encoder_choices_test_util.h"

namespace regard {
namespace {

ModelConfig small(DecoderKind decoder) {
  ModelConfig c;
  c.source_vocabulary = 10;
  c.target_vocabulary = 9;
  c.source_embedding = 5;
  c.target_embedding = 6;
  c.encoder_hidden = 4;
  c.hidden = 8;
  c.readout = 7;
  c.attention_width = 6;
  c.decoder = decoder;
  c.input_feeding = false;
  return c;
}

TEST(ModelConfig, MismatchedWidthsForDotNameBothWaysOut) {
  ModelConfig c = small(DecoderKind::kBahdanau);
  c.attention = AttentionKind::kDot;
  c.encoder_hidden = 6;
  try {
    c.validate();
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("--encoder-hidden 4"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("general"), std::string::npos);
  }
}

TEST(ModelConfig, SurvivesItsJson) {
  ModelConfig c = small(DecoderKind::kConditional);
  c.tie_target = true;
  c.readout = c.target_embedding;
  EXPECT_EQ(to_json(config_from_json(to_json(c))), to_json(c));
  EXPECT_THROW(config_from_json("{}"), FormatError);
  EXPECT_THROW(config_from_json("nonsense"), FormatError);
  std::string bad = to_json(c);
  bad.replace(bad.find("conditional"), 11, "surprising!");
  EXPECT_THROW(config_from_json(bad), FormatError);
}

// The base with `change`; the refusal has to hold all of `words`.
template <class Fn>
void expect_refusal(const Fn& change, const std::vector<std::string>& words,
                    DecoderKind decoder = DecoderKind::kBahdanau) {
  ModelConfig c = small(decoder);
  change(c);
  try {
    c.validate();
    ADD_FAILURE() << "taken: " << to_json(c);
  } catch (const ConfigError& e) {
    for (const std::string& word : words) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  }
}

TEST(ModelConfig, AScoreThatDoesNotFitIsRefusedWithAWayOut) {
  for (const AttentionKind kind :
       {AttentionKind::kDot, AttentionKind::kScaledDot, AttentionKind::kCosine}) {
    const auto change = [&](ModelConfig& c) {
      c.attention = kind;
      c.encoder_hidden = 6;
    };
    expect_refusal(change, {std::string(name(kind)), "--encoder-hidden 4", "--projections"});
    ModelConfig c = small(DecoderKind::kBahdanau);
    change(c);
    c.projections = true;
    EXPECT_NO_THROW(c.validate());
  }
  expect_refusal(
      [](ModelConfig& c) {
        c.attention = AttentionKind::kGeneral;
        c.projections = true;
      },
      {"--attention dot --projections"});
  expect_refusal([](ModelConfig& c) { c.attention = AttentionKind::kLocation; },
                 {"--attention location", "how many"});
  expect_refusal([](ModelConfig& c) { c.location_taps = 4; }, {"4 taps", "odd"});
  expect_refusal(
      [](ModelConfig& c) {
        c.attention = AttentionKind::kDot;
        c.weight_norm = true;
      },
      {"--weight-norm", "--attention dot"});
}

TEST(ModelConfig, HeadsThatDoNotDivideAreRefused) {
  expect_refusal([](ModelConfig& c) { c.heads = 0; }, {"--heads is 0"});
  expect_refusal([](ModelConfig& c) { c.heads = 2; }, {"--heads 2", "--projections"});
  const auto heads = [](Index n) {
    return [n](ModelConfig& c) {
      c.heads = n;
      c.projections = true;
    };
  };
  expect_refusal(heads(3), {"--heads 3", "memory of width 8", "--encoder-hidden"});
  expect_refusal(heads(4), {"--heads 4", "keys of width 6", "--hidden"});
  ModelConfig c = small(DecoderKind::kBahdanau);
  heads(2)(c);
  EXPECT_NO_THROW(c.validate());
}

TEST(ModelConfig, ANormaliserThatCanNotBeIsRefused) {
  expect_refusal([](ModelConfig& c) { c.normalizer = WeightsKind::kHardmax; },
                 {"gradient 0", "--straight-through", "sparsemax"});
  expect_refusal([](ModelConfig& c) { c.straight_through = true; },
                 {"--straight-through belongs to --normalizer hardmax"});
  for (const WeightsKind kind : {WeightsKind::kLocalM, WeightsKind::kLocalP, WeightsKind::kMocha}) {
    expect_refusal([&](ModelConfig& c) { c.normalizer = kind; },
                   {std::string(name(kind)), "--window"});
  }
  expect_refusal([](ModelConfig& c) { c.window = 3; }, {"--window belongs to"});
  for (const double t : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    expect_refusal([&](ModelConfig& c) { c.temperature = t; }, {"--temperature"});
  }
}

TEST(ModelConfig, TwoStatesInOneAreRefused) {
  const auto both = [](AttentionKind score, WeightsKind normalizer) {
    return [=](ModelConfig& c) {
      c = test::with_normalizer(c, normalizer);
      c.attention = score;
    };
  };
  expect_refusal(both(AttentionKind::kCoverage, WeightsKind::kMonotonic),
                 {"coverage", "monotonic", "location-sensitive"});
  expect_refusal(both(AttentionKind::kCoverage, WeightsKind::kMocha), {"coverage", "mocha"});
  expect_refusal(both(AttentionKind::kLocationSensitive, WeightsKind::kMocha),
                 {"location-sensitive", "mocha", "--normalizer monotonic"});
  EXPECT_NO_THROW(require_coverage([] {
    ModelConfig c = small(DecoderKind::kBahdanau);
    c.attention = AttentionKind::kCoverage;
    return c;
  }()));
  EXPECT_THROW(require_coverage(small(DecoderKind::kBahdanau)), ConfigError);
  EXPECT_THROW(require_coverage(small(DecoderKind::kFixed)), ConfigError);
}

TEST(ModelConfig, OptionsOfAttentionWithoutAttentionAreRefused) {
  const std::vector<std::string> words = {"--decoder fixed has no attention"};
  const DecoderKind fixed = DecoderKind::kFixed;
  expect_refusal([](ModelConfig& c) { c.normalizer = WeightsKind::kSparsemax; }, words, fixed);
  expect_refusal([](ModelConfig& c) { c.heads = 2; }, words, fixed);
  expect_refusal([](ModelConfig& c) { c.projections = true; }, words, fixed);
  expect_refusal([](ModelConfig& c) { c.weight_norm = true; }, words, fixed);
  expect_refusal([](ModelConfig& c) { c.window = 1; }, words, fixed);
  expect_refusal([](ModelConfig& c) { c.straight_through = true; }, words, fixed);
}

TEST(ModelConfig, EveryAttentionSurvivesItsJson) {
  for (const ModelConfig& c : test::attention_choices(small(DecoderKind::kBahdanau), 6)) {
    const std::string json = to_json(c);
    EXPECT_EQ(to_json(config_from_json(json)), json);
    EXPECT_EQ(normalizer_from_name(name(c.normalizer)), c.normalizer);
    EXPECT_EQ(attention_from_name(name(c.attention)), c.attention);
  }
  EXPECT_THROW(normalizer_from_name("soft"), ConfigError);
}

// What stood in a file before there were normalisers to choose.
TEST(ModelConfig, AnOlderConfigurationReadsAsSoftmaxInOneHead) {
  const std::string json = to_json(small(DecoderKind::kBahdanau));
  const size_t begin = json.find(",\"normalizer\""), end = json.find(",\"tie_target\"");
  ASSERT_LT(begin, end);
  const std::string older = json.substr(0, begin) + json.substr(end);
  EXPECT_EQ(to_json(config_from_json(older)), json);
  const std::string cut = json.substr(0, json.find(",\"heads\"")) + json.substr(end);
  EXPECT_THROW(config_from_json(cut), FormatError);
}

TEST(ModelConfig, AnEncoderOfSelfAttentionThatCanNotBeIsRefused) {
  const auto with = [](const auto& change) {
    return [change](ModelConfig& c) {
      c = test::with_self_attention(c, PositionKind::kSinusoidal);
      change(c);
    };
  };
  const auto nothing = [](ModelConfig&) {};
  ModelConfig c = small(DecoderKind::kBahdanau);
  with(nothing)(c);
  EXPECT_NO_THROW(c.validate());
  EXPECT_EQ(c.memory(), 8);  // all of --encoder-hidden, not twice
  expect_refusal(with([](ModelConfig& m) { m.bidirectional = false; }),
                 {"--unidirectional", "no direction"});
  expect_refusal(with([](ModelConfig& m) { m.feed_forward = 0; }), {"--feed-forward is 0"});
  expect_refusal(with([](ModelConfig& m) { m.encoder_heads = 0; }), {"--encoder-heads is 0"});
  expect_refusal(with([](ModelConfig& m) { m.encoder_heads = 3; }),
                 {"--encoder-heads is 3", "divides", "8", "--encoder-hidden"});
  expect_refusal(with([](ModelConfig& m) {
                   m.attention = AttentionKind::kDot;
                   m.encoder_hidden = 4;
                 }),
                 {"memory of width 4", "--encoder-hidden 8"});
}

TEST(ModelConfig, OptionsOfSelfAttentionWithoutItAreRefused) {
  const std::vector<std::string> words = {"--encoder self-attention"};
  expect_refusal([](ModelConfig& c) { c.encoder_heads = 4; }, words);
  expect_refusal([](ModelConfig& c) { c.feed_forward = 4; }, words);
  expect_refusal([](ModelConfig& c) { c.positions = PositionKind::kRelative; }, words);
}

TEST(ModelConfig, EveryEncoderSurvivesItsJson) {
  for (const ModelConfig& c : test::encoder_choices(small(DecoderKind::kConditional))) {
    const std::string json = to_json(c);
    EXPECT_EQ(to_json(config_from_json(json)), json);
    EXPECT_EQ(positions_from_name(name(c.positions)), c.positions);
    EXPECT_EQ(encoder_from_name(name(c.encoder)), c.encoder);
  }
  EXPECT_THROW(positions_from_name("learnt"), ConfigError);
  EXPECT_THROW(encoder_from_name("convolution"), ConfigError);
}

// What stood in a file before there was self-attention.
TEST(ModelConfig, AnOlderConfigurationReadsAsARecurrentEncoder) {
  const std::string json = to_json(small(DecoderKind::kBahdanau));
  const size_t begin = json.find(",\"encoder\""), end = json.find(",\"hidden\"");
  ASSERT_LT(begin, end);
  const std::string older = json.substr(0, begin) + json.substr(end);
  EXPECT_EQ(to_json(config_from_json(older)), json);
  const std::string cut = json.substr(0, json.find(",\"feed_forward\"")) + json.substr(end);
  EXPECT_THROW(config_from_json(cut), FormatError);
}

}  // namespace
}  // namespace regard
