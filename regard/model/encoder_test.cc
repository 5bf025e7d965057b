// The encoder against plain loops, and what a sentence's memory does not depend on.
#include "regard/model/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "regard/base/random.h"
#include "regard/model/plain_test_util.h"

namespace regard {
namespace {

using Ids = std::vector<std::int32_t>;
using Vectors = std::vector<std::vector<double>>;

struct Built {
  ModelConfig config;
  Parameters parameters;
  Encoder encoder;
};

ModelConfig small() {
  ModelConfig c;
  c.source_vocabulary = 12;
  c.source_embedding = 5;
  c.encoder_hidden = 4;
  return c;
}

std::unique_ptr<Built> build(const ModelConfig& config) {
  auto b = std::make_unique<Built>();
  b->config = config;
  const ParameterId table = b->parameters.add(
      {"table", config.source_vocabulary, config.source_embedding, Use::kTable, Init::kEmbedding});
  b->encoder = Encoder::make(config, table, b->parameters);
  b->parameters.allocate();
  b->parameters.initialise(3);
  for (Index k = 0; k < b->parameters.size(); ++k) {
    // Biases too. The padding between parameters is never read.
    b->parameters.data()[k] += 0.2f * uniform_float(philox(5, 0, static_cast<std::uint64_t>(k))[0]);
  }
  Threads alone;
  b->parameters.pack(alone, false);
  return b;
}

// Memory rows of each sentence, [length][M]; then the summaries.
struct Rows {
  std::vector<std::vector<float>> memory, summary;
};

Rows run(const Built& b, const std::vector<Ids>& sentences, const DropoutPlan& dropout = {}) {
  const std::vector<std::span<const std::int32_t>> spans(sentences.begin(), sentences.end());
  const PackedIds packed = PackedIds::pack(spans);
  Tape tape(b.parameters, nullptr);
  const Memory m = b.encoder.run(tape, packed, dropout, true);
  EXPECT_EQ(m.count, packed.lanes());
  Rows rows;
  for (size_t s = 0; s < sentences.size(); ++s) {
    const Index lane = packed.lane[s];
    EXPECT_EQ(m.length[lane], static_cast<Index>(sentences[s].size()));
    std::vector<float> own;
    for (Index j = 0; j < m.length[lane]; ++j) {
      const float* row = m.rows.value.row(m.start[lane] + j);
      own.insert(own.end(), row, row + m.rows.cols());
    }
    rows.memory.push_back(own);
    const float* row = m.summary.value.row(lane);
    rows.summary.emplace_back(row, row + m.summary.cols());
  }
  return rows;
}

// One direction of a layer in double.
Vectors plain_layer(const Parameters& p, const std::string& name, bool gru,
                    const std::string& block, Vectors x, bool reverse) {
  if (reverse) std::reverse(x.begin(), x.end());
  const test::PlainCell cell(p, name, gru);
  test::PlainState state = cell.zeros();
  Vectors out;
  for (const std::vector<double>& input : x) {
    state = cell.step(cell.input({{block, input}}), state);
    out.push_back(state.h);
  }
  if (reverse) std::reverse(out.begin(), out.end());
  return out;
}

Vectors plain_encoder(const Built& b, const Ids& ids) {
  const ModelConfig& c = b.config;
  const bool gru = c.encoder_cell == CellKind::kGru;
  const Matrix table = b.parameters.value(b.parameters.find("table"));
  Vectors x;
  for (std::int32_t id : ids) x.emplace_back(table.row(id), table.row(id) + table.cols);
  for (int l = 0; l < c.encoder_layers; ++l) {
    const std::string name = "encoder.layer" + std::to_string(l + 1),
                      block = l == 0 ? "embedding" : "below";
    Vectors h = plain_layer(b.parameters, name + ".forward", gru, block, x, false);
    if (c.bidirectional) {
      const Vectors back = plain_layer(b.parameters, name + ".backward", gru, block, x, true);
      for (size_t j = 0; j < h.size(); ++j) h[j].insert(h[j].end(), back[j].begin(), back[j].end());
    }
    for (size_t j = 0; l > 0 && j < h.size(); ++j) {  // residuals from the second layer on
      for (size_t k = 0; k < h[j].size(); ++k) h[j][k] += x[j][k];
    }
    x = h;
  }
  return x;
}

const std::vector<Ids> kSentences = {{3, 4}, {5, 6, 7, 3, 4}, {8}, {4, 4, 9}};

TEST(Encoder, IsItsEquations) {
  for (const CellKind cell : {CellKind::kGru, CellKind::kLstm}) {
    for (const bool bidirectional : {true, false}) {
      for (const int layers : {1, 3}) {
        ModelConfig c = small();
        c.encoder_cell = cell;
        c.bidirectional = bidirectional;
        c.encoder_layers = layers;
        const auto b = build(c);
        const Rows got = run(*b, kSentences);
        for (size_t s = 0; s < kSentences.size(); ++s) {
          const Vectors want = plain_encoder(*b, kSentences[s]);
          size_t at = 0;
          for (const auto& h : want) {
            for (double x : h) EXPECT_NEAR(got.memory[s][at++], x, 2e-6);
          }
          // Last forward state, then first backward state.
          for (size_t k = 0; k < got.summary[s].size(); ++k) {
            EXPECT_NEAR(got.summary[s][k], k < 4 ? want.back()[k] : want.front()[k], 2e-6);
          }
        }
      }
    }
  }
}

TEST(Encoder, ASentenceHasTheSameBitsInAnyBatch) {
  ModelConfig c = small();
  c.encoder_layers = 2;
  const auto b = build(c);
  const Rows all = run(*b, kSentences);
  for (size_t s = 0; s < kSentences.size(); ++s) {
    const Rows alone = run(*b, {kSentences[s]});
    EXPECT_EQ(alone.memory[0], all.memory[s]);
    EXPECT_EQ(alone.summary[0], all.summary[s]);
  }
}

TEST(Encoder, DropoutFollowsThePairNotItsPlace) {
  ModelConfig c = small();
  c.encoder_layers = 2;
  const auto b = build(c);
  const std::vector<std::uint64_t> keys = {1, 2, 3, 4}, turned = {4, 3, 2, 1};
  const std::vector<Ids> backwards(kSentences.rbegin(), kSentences.rend());
  const DropoutRates rates{0.3f, 0.3f, 0.3f, 0.0f};
  const Rows one = run(*b, kSentences, {rates, keys.data()});
  const Rows other = run(*b, backwards, {rates, turned.data()});
  for (size_t s = 0; s < 4; ++s) EXPECT_EQ(one.memory[s], other.memory[3 - s]);
  EXPECT_NE(one.memory, run(*b, kSentences).memory);
  EXPECT_NE(one.memory, run(*b, kSentences, {rates, turned.data()}).memory);
}

}  // namespace
}  // namespace regard
