#include "regard/model/seq2seq.h"

#include <gtest/gtest.h>

#include <cmath>

#include "regard/base/error.h"
#include "regard/base/random.h"
#include "regard/model/attention_choices_test_util.h"
#include "regard/model/encoder_choices_test_util.h"

namespace regard {
namespace {

using Ids = std::vector<std::int32_t>;

PairBatch make_batch(const std::vector<Ids>& sources, const std::vector<Ids>& targets) {
  std::vector<std::span<const std::int32_t>> s(sources.begin(), sources.end());
  std::vector<std::span<const std::int32_t>> t(targets.begin(), targets.end());
  return PairBatch::pack(s, t);
}

const std::vector<Ids> kSources = {{3, 4}, {5, 6, 7, 3, 4}, {8}, {4, 4, 9}};
const std::vector<Ids> kTargets = {{3, 5, 6}, {4}, {7, 3, 3, 8}, {}};

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

double loss_of(const Seq2seq& model, const PairBatch& batch, const DropoutPlan& dropout,
               float smoothing, float coverage) {
  Tape tape(model.parameters(), nullptr);
  const auto out = model.forced(tape, batch, dropout, smoothing, false, coverage);
  double sum = 0.0;
  for (float x : out.loss.token_loss) sum += x;
  return sum;
}

// Units of a feed-forward part far from the corner of max(0, u), on either side of it, where
// differences are smooth.
void leave_corners(Parameters& p) {
  for (int i = 0; i < p.count(); ++i) {
    if (!p.info({i}).name.ends_with("feed_forward.inner.bias")) continue;
    const Matrix bias = p.value({i});
    for (Index k = 0; k < bias.cols; ++k) bias(0, k) = k % 2 == 0 ? 8.0f : -8.0f;
  }
}

// Directional derivatives along random directions, one parameter at a time, against central
// differences.
void check_gradients(const ModelConfig& config, const DropoutPlan& dropout = {},
                     float smoothing = 0.1f, float coverage = 0.0f) {
  Seq2seq model(config);
  model.parameters().initialise(11);
  Threads threads;
  const PairBatch batch = make_batch(kSources, kTargets);
  // Larger than start values, so that no gradient is drowned in rounding.
  for (Index i = 0; i < model.parameters().size(); ++i) model.parameters().data()[i] *= 1.5f;
  leave_corners(model.parameters());
  model.parameters().pack(threads, true);
  Gradients gradients(model.parameters());
  Tape tape(model.parameters(), &gradients);
  model.forced(tape, batch, dropout, smoothing, false, coverage);
  tape.backward();
  for (int i = 0; i < model.parameters().count(); ++i) {
    const ParameterInfo& info = model.parameters().infos()[static_cast<size_t>(i)];
    const Matrix w = model.parameters().value({i});
    const Matrix g = gradients.matrix({i});
    std::vector<float> saved(w.data, w.data + w.rows * w.cols), direction(saved.size());
    double analytic = 0.0;
    for (size_t k = 0; k < saved.size(); ++k) {
      direction[k] = 2.0f * uniform_float(philox(5, static_cast<std::uint64_t>(i), k)[0]) - 1.0f;
      analytic += static_cast<double>(direction[k]) * g.data[k];
    }
    const float step = 4e-3f;
    const auto at = [&](float steps) {
      for (size_t k = 0; k < saved.size(); ++k) {
        w.data[k] = saved[k] + steps * step * direction[k];
      }
      model.parameters().pack(threads, true);
      return loss_of(model, batch, dropout, smoothing, coverage);
    };
    const double near = at(1) - at(-1), far = at(2) - at(-2);
    std::copy(saved.begin(), saved.end(), w.data);
    const double numeric = (8.0 * near - far) / (12.0 * static_cast<double>(step));
    EXPECT_NEAR(analytic, numeric, 4e-3 * std::max(1.0, std::fabs(numeric))) << info.name;
  }
}

TEST(Seq2seq, GradientsOfEveryDecoderMatchCentralDifferences) {
  for (DecoderKind kind : {DecoderKind::kFixed, DecoderKind::kBahdanau, DecoderKind::kConditional,
                           DecoderKind::kLuong}) {
    SCOPED_TRACE(std::string(name(kind)));
    check_gradients(small(kind));
    ModelConfig c = small(kind);
    c.encoder_cell = c.decoder_cell = CellKind::kLstm;
    c.encoder_layers = c.decoder_layers = 2;
    c.feed_context = kind == DecoderKind::kFixed;
    c.input_feeding = kind == DecoderKind::kLuong;
    check_gradients(c);
  }
}

TEST(Seq2seq, GradientsOfEveryScoreMatchCentralDifferences) {
  for (const AttentionKind kind : test::kAttentionKinds) {
    SCOPED_TRACE(std::string(name(kind)));
    ModelConfig c = small(DecoderKind::kLuong);
    c.attention = kind;
    c.longest_source = 6;
    check_gradients(c);
    c.input_feeding = true;
    check_gradients(c);
    c = small(DecoderKind::kBahdanau);
    c.attention = kind;
    c.longest_source = 6;
    check_gradients(c);
  }
}

TEST(Seq2seq, GradientsOfEveryNormaliserMatchCentralDifferences) {
  for (const WeightsKind kind : test::kWeightsKinds) {
    if (kind == WeightsKind::kHardmax) continue;  // its gradient is another function's
    SCOPED_TRACE(std::string(name(kind)));
    for (const DecoderKind decoder : {DecoderKind::kLuong, DecoderKind::kConditional}) {
      ModelConfig c = test::with_normalizer(small(decoder), kind);
      check_gradients(c);
      c.attention = AttentionKind::kDot;
      c.input_feeding = decoder == DecoderKind::kLuong;
      check_gradients(c);
    }
  }
}

TEST(Seq2seq, GradientsHoldInHeadsWithProjectionsAndWeightNorm) {
  for (const AttentionKind kind : test::kAttentionKinds) {
    if (kind == AttentionKind::kGeneral) continue;
    SCOPED_TRACE(std::string(name(kind)));
    ModelConfig c = small(DecoderKind::kBahdanau);
    c.attention = kind;
    c.longest_source = 6;
    c.projections = true;
    c.heads = 2;
    c.encoder_hidden = 5;  // projections fit any widths
    c.weight_norm = kind == AttentionKind::kAdditive || kind == AttentionKind::kCoverage;
    check_gradients(c);
  }
}

TEST(Seq2seq, GradientsHoldWithTheLossOfCoverageAndDropoutOnWeights) {
  const std::vector<std::uint64_t> keys = {11, 12, 13, 14};
  for (const DecoderKind kind : {DecoderKind::kLuong, DecoderKind::kConditional}) {
    SCOPED_TRACE(std::string(name(kind)));
    ModelConfig c = small(kind);
    c.attention = AttentionKind::kCoverage;
    check_gradients(c, {}, 0.1f, 0.7f);
    DropoutPlan plan{{}, keys.data()};
    plan.rates.attention = 0.3f;
    check_gradients(c, plan);
    c.attention = AttentionKind::kAdditive;
    check_gradients(c, plan);
  }
}

TEST(Seq2seq, GradientsHoldWithAnEncoderOfSelfAttention) {
  const std::vector<std::uint64_t> keys = {11, 12, 13, 14};
  for (const DecoderKind kind : {DecoderKind::kFixed, DecoderKind::kBahdanau,
                                 DecoderKind::kConditional, DecoderKind::kLuong}) {
    for (ModelConfig c : test::encoder_choices(small(kind))) {
      SCOPED_TRACE(to_json(c));
      check_gradients(c);
      c.start = kind == DecoderKind::kFixed ? DecoderStart::kLast : DecoderStart::kMean;
      if (kind == DecoderKind::kLuong) c.attention = AttentionKind::kDot;
      c.source_embedding = c.target_embedding = c.readout = 8;  // as wide as the memory
      c.source_vocabulary = c.target_vocabulary = 10;
      c.tie_all = true;
      check_gradients(c, {{0.3f, 0.3f, 0.3f, 0.3f, 0.3f}, keys.data()});
    }
  }
}

TEST(Seq2seq, GradientsHoldWithTiedEmbeddingsOneDirectionAndOtherStarts) {
  ModelConfig c = small(DecoderKind::kBahdanau);
  c.tie_target = true;
  c.readout = c.target_embedding;
  c.bidirectional = false;
  c.start = DecoderStart::kMean;
  check_gradients(c);
  c.source_vocabulary = c.target_vocabulary = 10;
  c.source_embedding = c.target_embedding;
  c.tie_all = true;
  c.start = DecoderStart::kZero;
  check_gradients(c);
}

TEST(Seq2seq, GradientsHoldUnderDropout) {
  const std::vector<std::uint64_t> keys = {11, 12, 13, 14};
  for (DecoderKind kind : {DecoderKind::kFixed, DecoderKind::kBahdanau, DecoderKind::kLuong}) {
    SCOPED_TRACE(std::string(name(kind)));
    ModelConfig c = small(kind);
    c.encoder_layers = c.decoder_layers = 2;
    c.input_feeding = kind == DecoderKind::kLuong;
    check_gradients(c, {{0.3f, 0.3f, 0.3f, 0.3f}, keys.data()});
  }
}

// Pairs decoded step by step, each alone, against the batch.
void expect_steps_are_forced(const ModelConfig& c) {
  SCOPED_TRACE(to_json(c));
  Seq2seq model(c);
  model.parameters().initialise(3);
  Threads threads;
  model.parameters().pack(threads, false);
  const PairBatch batch = make_batch(kSources, kTargets);
  Tape forced_tape(model.parameters(), nullptr);
  const auto forced = model.forced(forced_tape, batch, {}, 0.0f, true);
  for (size_t pair = 0; pair < kSources.size(); ++pair) {
    const PairBatch alone = make_batch({kSources[pair]}, {kTargets[pair]});
    Tape tape(model.parameters(), nullptr);
    const DecoderMemory memory = model.encode(tape, alone.source);
    const Index zero = 0;
    DecoderState state = model.decoder().start(tape, memory, &zero, 1);
    for (Index t = 0; t < alone.target.rows(); ++t) {
      const auto step = model.decoder().step(tape, memory, state,
                                             &alone.target.ids[static_cast<size_t>(t)], &zero, 1);
      state = step.state;
      EXPECT_EQ(state.step, t + 1);
      const Matrix log_probs = model.next_log_probs(tape, step.readout);
      const Index row = batch.target.offsets[static_cast<size_t>(t)] + batch.target.lane[pair];
      EXPECT_EQ(log_probs(0, alone.next[static_cast<size_t>(t)]), forced.loss.token_log_prob[row])
          << " pair " << pair << " step " << t;
      if (!c.has_attention()) continue;
      for (Index j = 0; j < memory.encoder.length[0]; ++j) {
        EXPECT_EQ(step.attention.weights(0, j), forced.weights(row, j));
      }
    }
  }
}

TEST(Seq2seq, ASearchStepGivesTheBitsOfForcedDecoding) {
  for (DecoderKind kind : {DecoderKind::kFixed, DecoderKind::kBahdanau, DecoderKind::kConditional,
                           DecoderKind::kLuong}) {
    for (bool feed : {false, true}) {
      ModelConfig c = small(kind);
      c.decoder_layers = 2;
      c.feed_context = feed && kind == DecoderKind::kFixed;
      c.input_feeding = feed && kind == DecoderKind::kLuong;
      expect_steps_are_forced(c);
    }
  }
}

TEST(Seq2seq, ASearchStepGivesTheBitsOfForcedDecodingForEveryAttention) {
  for (const DecoderKind decoder : {DecoderKind::kLuong, DecoderKind::kBahdanau}) {
    for (const ModelConfig& c : test::attention_choices(small(decoder), 6)) {
      expect_steps_are_forced(c);
    }
  }
}

TEST(Seq2seq, ASearchStepGivesTheBitsOfForcedDecodingForEveryEncoder) {
  for (const DecoderKind decoder : {DecoderKind::kFixed, DecoderKind::kLuong}) {
    for (const ModelConfig& c : test::encoder_choices(small(decoder))) expect_steps_are_forced(c);
  }
}

TEST(Seq2seq, ALossOfCoverageWithoutCoverageIsRefused) {
  Seq2seq model(small(DecoderKind::kLuong));
  Threads alone;
  model.parameters().pack(alone, false);
  Tape tape(model.parameters(), nullptr);
  EXPECT_THROW(model.forced(tape, make_batch(kSources, kTargets), {}, 0.0f, false, 1.0f),
               ConfigError);
}

TEST(Seq2seq, ALongerSourceThanLocationKnowsIsRefused) {
  ModelConfig c = small(DecoderKind::kLuong);
  c.attention = AttentionKind::kLocation;
  c.longest_source = 5;
  Seq2seq model(c);
  Threads alone;
  model.parameters().pack(alone, false);
  Tape tape(model.parameters(), nullptr);
  EXPECT_THROW(model.encode(tape, make_batch(kSources, kTargets).source), ShapeError);
}

}  // namespace
}  // namespace regard
