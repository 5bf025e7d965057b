// The encoder of self-attention: its parts in order, and what a sentence's memory depends on.
#include "regard/model/self_attention_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "regard/base/random.h"
#include "regard/model/encoder.h"
#include "regard/model/encoder_choices_test_util.h"
#include "regard/nn/positions.h"

namespace regard {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr PositionKind kPositions[] = {PositionKind::kSinusoidal, PositionKind::kRelative,
                                       PositionKind::kNone};
const std::vector<Ids> kSentences = {{3, 4}, {5, 6, 7, 3, 4}, {8}, {4, 4, 9}};

ModelConfig small(PositionKind positions) {
  ModelConfig c;
  c.source_vocabulary = 12;
  c.source_embedding = 5;
  c.hidden = 8;
  return test::with_self_attention(c, positions);
}

// Any numbers, a function of their place.
void set_numbers(Parameters& p) {
  p.allocate();
  p.initialise(3);
  for (Index k = 0; k < p.size(); ++k) {
    p.data()[k] += 0.2f * uniform_float(philox(5, 0, static_cast<std::uint64_t>(k))[0]);
  }
  Threads alone;
  p.pack(alone, false);
}

ParameterInfo table_of(const ModelConfig& c) {
  return {"table", c.source_vocabulary, c.source_embedding, Use::kTable, Init::kEmbedding};
}

struct Built {
  ModelConfig config;
  Parameters parameters;
  Encoder encoder;
};

std::unique_ptr<Built> build(const ModelConfig& config) {
  auto b = std::make_unique<Built>();
  b->config = config;
  const ParameterId table = b->parameters.add(table_of(config));
  b->encoder = Encoder::make(config, table, b->parameters);
  set_numbers(b->parameters);
  return b;
}

PackedIds pack(const std::vector<Ids>& sentences) {
  const std::vector<std::span<const std::int32_t>> spans(sentences.begin(), sentences.end());
  return PackedIds::pack(spans);
}

// Of each sentence: memory rows, and then the summary.
using Rows = std::vector<std::vector<float>>;

Rows run(const Built& b, const std::vector<Ids>& sentences, const DropoutPlan& dropout = {}) {
  const PackedIds packed = pack(sentences);
  Tape tape(b.parameters, nullptr);
  const Memory m = b.encoder.run(tape, packed, dropout, true);
  Rows rows;
  for (size_t s = 0; s < sentences.size(); ++s) {
    const Index lane = packed.lane[s];
    EXPECT_EQ(m.length[lane], static_cast<Index>(sentences[s].size()));
    const float* first = m.rows.value.row(m.start[lane]);
    rows.emplace_back(first, first + m.length[lane] * m.rows.cols());
    const float* summary = m.summary.value.row(lane);
    rows.back().insert(rows.back().end(), summary, summary + m.rows.cols());
  }
  return rows;
}

// The same from its parts, one sentence, with parameters of the same names.
std::vector<float> from_parts(const ModelConfig& c, const Ids& ids) {
  Parameters p;
  const ParameterId table = p.add(table_of(c));
  const Index m = c.memory(), n = static_cast<Index>(ids.size());
  const bool projected = c.source_embedding != m;
  const Linear input =
      projected ? Linear::make(p, "encoder.input", c.source_embedding, m) : Linear{};
  SelfAttentionShape shape{m, c.feed_forward, multi_head_shape(m, c.encoder_heads)};
  if (c.positions == PositionKind::kRelative) shape.attention.relative = 16;
  const auto first = SelfAttentionLayer::make(p, "encoder.layer1", shape);
  const auto second = SelfAttentionLayer::make(p, "encoder.layer2", shape);
  const LayerNorm norm = LayerNorm::make(p, "encoder.norm", m);
  set_numbers(p);
  Tape tape(p, nullptr);
  Var x = embedding(tape, table, ids.data(), n);
  if (c.tie_all) {
    for (Index k = 0; k < n * x.cols(); ++k)
      x.value.data[k] *= std::sqrt(static_cast<float>(x.cols()));
  }
  if (projected) x = input(tape, x);
  if (c.positions == PositionKind::kSinusoidal) {
    const Buffer<float> sines = sinusoidal_positions(n, m);
    for (Index k = 0; k < n * m; ++k) x.value.data[k] += sines[k];
  }
  const SequenceRows rows = sequence_rows(tape, &n, 1);
  x = norm(tape, second(tape, first(tape, x, rows), rows));
  return {x.value.data, x.value.data + n * m};
}

TEST(SelfAttentionEncoder, IsEmbeddingsPositionsLayersAndANorm) {
  for (const PositionKind positions : kPositions) {
    for (const Index embedding : {5, 8}) {  // projected, and as wide as the memory
      for (const bool tied : {false, true}) {
        ModelConfig c = small(positions);
        c.source_embedding = embedding;
        c.tie_all = tied;
        const Rows got = run(*build(c), kSentences);
        for (size_t s = 0; s < kSentences.size(); ++s) {
          std::vector<float> want = from_parts(c, kSentences[s]);
          std::vector<float> rows(got[s].begin(), got[s].end() - 8);
          EXPECT_EQ(rows, want) << s;
        }
      }
    }
  }
}

TEST(SelfAttentionEncoder, TheSummaryIsTheMeanOfTheMemory) {
  const Rows got = run(*build(small(PositionKind::kSinusoidal)), kSentences);
  for (size_t s = 0; s < kSentences.size(); ++s) {
    const size_t n = kSentences[s].size();
    for (size_t k = 0; k < 8; ++k) {
      float sum = 0.0f;
      for (size_t j = 0; j < n; ++j) sum += got[s][8 * j + k];
      EXPECT_NEAR(got[s][8 * n + k], sum / static_cast<float>(n), 1e-6f);
    }
  }
}

TEST(SelfAttentionEncoder, ASentenceHasTheSameBitsInAnyBatch) {
  const std::vector<std::uint64_t> keys = {1, 2, 3, 4}, turned = {4, 3, 2, 1};
  const std::vector<Ids> backwards(kSentences.rbegin(), kSentences.rend());
  const DropoutRates rates{0.3f, 0.3f, 0.3f, 0.0f, 0.3f};
  for (const PositionKind positions : kPositions) {
    const auto b = build(small(positions));
    const Rows all = run(*b, kSentences), dropped = run(*b, kSentences, {rates, keys.data()}),
               other = run(*b, backwards, {rates, turned.data()});
    for (size_t s = 0; s < kSentences.size(); ++s) {
      EXPECT_EQ(run(*b, {kSentences[s]})[0], all[s]);
      EXPECT_EQ(run(*b, {kSentences[s]}, {rates, &keys[s]})[0], dropped[s]);
      EXPECT_EQ(other[3 - s], dropped[s]);
    }
    EXPECT_NE(dropped, all);
  }
}

// Each rate is felt by itself.
TEST(SelfAttentionEncoder, DropsAtEachSite) {
  const auto b = build(small(PositionKind::kRelative));
  const std::vector<std::uint64_t> keys = {1, 2, 3, 4};
  const Rows all = run(*b, kSentences);
  for (float DropoutRates::*site : {&DropoutRates::embedding, &DropoutRates::layer,
                                    &DropoutRates::memory, &DropoutRates::attention}) {
    DropoutRates rates;
    rates.*site = 0.3f;
    EXPECT_NE(run(*b, kSentences, {rates, keys.data()}), all);
  }
}

// Words that change places take their vectors along where nothing tells their places.
TEST(SelfAttentionEncoder, KnowsTheOrderOfASourceByItsPositions) {
  for (const PositionKind positions : kPositions) {
    const Rows got = run(*build(small(positions)), {{5, 6, 7, 3}, {7, 6, 5, 3}});
    float furthest = 0.0f;
    const size_t place[] = {2, 1, 0, 3};
    for (size_t j = 0; j < 4; ++j) {
      for (size_t k = 0; k < 8; ++k)
        furthest = std::max(furthest, std::fabs(got[0][8 * j + k] - got[1][8 * place[j] + k]));
    }
    EXPECT_EQ(furthest < 1e-5f, positions == PositionKind::kNone) << furthest;
  }
}

TEST(SelfAttentionEncoder, ASourceMayBeLongerThanAnyTable) {
  Ids longest;
  for (int k = 0; k < 1500; ++k) longest.push_back(3 + k * k % 9);
  for (const PositionKind positions : kPositions) {
    const auto b = build(small(positions));
    const Rows both = run(*b, {kSentences[1], longest});
    EXPECT_EQ(both[0], run(*b, {kSentences[1]})[0]);
    EXPECT_TRUE(std::all_of(both[1].begin(), both[1].end(), [](float x) { return x == x; }));
  }
}

TEST(SelfAttentionEncoder, ShowsTheWeightsOfEachLayerAndHead) {
  const auto b = build(small(PositionKind::kSinusoidal));
  const SelfAttentionEncoder* encoder = b->encoder.self_attention();
  ASSERT_NE(encoder, nullptr);
  EXPECT_EQ(encoder->layers(), 2);
  EXPECT_EQ(encoder->heads(), 2);
  const PackedIds packed = pack(kSentences), alone = pack({kSentences[3]});
  Tape tape(b->parameters, nullptr);
  std::vector<float> seen;
  for (int layer = 0; layer < 2; ++layer) {
    const Matrix w = encoder->weights(tape, packed, layer);
    ASSERT_EQ(w.rows, 2 * packed.rows());
    ASSERT_EQ(w.cols, 5);
    const Memory m = b->encoder.run(tape, packed, {}, false);
    const Index lane = packed.lane[3];
    const Matrix own = encoder->weights(tape, alone, layer);
    for (Index i = 0; i < 6; ++i) {  // three rows, two heads
      float sum = 0.0f;
      for (Index j = 0; j < 5; ++j) {
        const float weight = w(2 * m.start[lane] + i, j);
        if (j < 3) {
          EXPECT_EQ(weight, own(i, j));
          EXPECT_GT(weight, 0.0f);
        } else {
          EXPECT_EQ(weight, 0.0f);
        }
        sum += weight;
      }
      EXPECT_NEAR(sum, 1.0f, 1e-6f);
      seen.push_back(w(2 * m.start[lane] + i, 0));
    }
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());  // no two alike
}

TEST(Encoder, HasSelfAttentionOnlyWhereItIsMadeOfIt) {
  ModelConfig c;
  c.source_vocabulary = 12;
  c.source_embedding = 5;
  c.encoder_hidden = 4;
  EXPECT_EQ(build(c)->encoder.self_attention(), nullptr);
}

}  // namespace
}  // namespace regard
