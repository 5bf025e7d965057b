// The decoders against their equations in double (docs/models.md), whole targets and step by
// step.
#include "regard/model/decoder.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "regard/base/random.h"
#include "regard/model/plain_test_util.h"
#include "regard/text/vocabulary.h"

namespace regard {
namespace {

using test::Plain;
using test::plain_product;
using test::plain_tanh;
using test::plain_vector;
using test::PlainCell;
using test::PlainState;

ModelConfig small(DecoderKind kind) {
  ModelConfig c;
  c.target_vocabulary = 9;
  c.target_embedding = 6;
  c.encoder_hidden = 4;
  c.hidden = 8;
  c.readout = 7;
  c.attention_width = 6;
  c.decoder = kind;
  c.input_feeding = false;
  return c;
}

// A decoder and the memory of two sentences, as numbers.
struct Built {
  ModelConfig config;
  Parameters parameters;
  Decoder decoder;
  std::vector<float> rows, summary;
  std::vector<Index> start = {0, 3}, length = {3, 1};

  Memory memory() {
    const Index m = config.memory();
    Memory out;
    out.rows = Tape::constant({rows.data(), 4, m});
    out.summary = Tape::constant({summary.data(), 2, m});
    out.start = start.data();
    out.length = length.data();
    out.count = 2;
    return out;
  }
};

std::unique_ptr<Built> build(const ModelConfig& config) {
  config.validate();
  auto b = std::make_unique<Built>();
  b->config = config;
  const ParameterId table = b->parameters.add(
      {"table", config.target_vocabulary, config.target_embedding, Use::kTable, Init::kEmbedding});
  b->decoder = Decoder::make(config, table, b->parameters);
  b->parameters.allocate();
  b->parameters.initialise(3);
  for (Index k = 0; k < b->parameters.size(); ++k) {
    b->parameters.data()[k] += 0.2f * uniform_float(philox(5, 0, static_cast<std::uint64_t>(k))[0]);
  }
  Threads alone;
  b->parameters.pack(alone, false);
  for (std::vector<float>* x : {&b->rows, &b->summary}) {
    x->resize(static_cast<size_t>((x == &b->rows ? 4 : 2) * config.memory()));
    for (size_t k = 0; k < x->size(); ++k)
      (*x)[k] = 2.0f * uniform_float(philox(x == &b->rows ? 6 : 7, 0, k)[0]) - 1.0f;
  }
  return b;
}

// One sentence and the equations of its decoder.
class PlainDecoder {
 public:
  PlainDecoder(const Built& b, Index sentence) : b_(b), c_(b.config), sentence_(sentence) {
    const Plain from = c_.start == DecoderStart::kMean ? mean() : summary();
    for (int l = 0; l < c_.decoder_layers; ++l) {
      PlainState s = cell("decoder.layer" + std::to_string(l + 1)).zeros();
      const std::string name = "decoder.start" + std::to_string(l + 1);
      if (c_.start != DecoderStart::kZero) {
        s.h = plain_tanh(plain_product(b.parameters, name + ".weight", from,
                                       plain_vector(b.parameters, name + ".bias")));
      }
      layers_.push_back(s);
    }
    feed_.assign(static_cast<size_t>(c_.readout), 0.0);
  }

  // t_i, and the weights in `weights_`.
  Plain step(std::int32_t id) {
    const Matrix table = b_.parameters.value(b_.parameters.find("table"));
    const Plain e(table.row(id), table.row(id) + table.cols);
    PlainState& first = layers_[0];
    const PlainCell layer1 = cell("decoder.layer1");
    Plain context;
    switch (c_.decoder) {
      case DecoderKind::kFixed:
        context = summary();
        first = layer1.step(c_.feed_context ? layer1.input({{"embedding", e}, {"context", context}})
                                            : layer1.input({{"embedding", e}}),
                            first);
        break;
      case DecoderKind::kBahdanau:
        context = attend(first.h);
        first = layer1.step(layer1.input({{"embedding", e}, {"context", context}}), first);
        break;
      case DecoderKind::kConditional: {
        const PlainState middle = layer1.step(layer1.input({{"embedding", e}}), first);
        context = attend(middle.h);
        const PlainCell second = cell("decoder.layer1.second");
        first = second.step(second.input({{"context", context}}), middle);
        break;
      }
      case DecoderKind::kLuong:
        first = layer1.step(c_.input_feeding ? layer1.input({{"embedding", e}, {"feed", feed_}})
                                             : layer1.input({{"embedding", e}}),
                            first);
        break;
    }
    for (size_t l = 1; l < layers_.size(); ++l) {
      const PlainCell layer = cell("decoder.layer" + std::to_string(l + 1));
      layers_[l] = layer.step(layer.input({{"below", layers_[l - 1].h}}), layers_[l]);
    }
    const Plain& top = layers_.back().h;
    if (c_.decoder == DecoderKind::kLuong) context = attend(top);
    const Parameters& p = b_.parameters;
    Plain t = plain_product(p, "readout.state", top, plain_vector(p, "readout.bias"));
    if (c_.decoder != DecoderKind::kLuong) t = plain_product(p, "readout.embedding", e, t);
    if (c_.has_attention() || c_.feed_context) t = plain_product(p, "readout.context", context, t);
    feed_ = plain_tanh(t);
    return feed_;
  }
  const Plain& weights() const { return weights_; }

 private:
  PlainCell cell(const std::string& name) const {
    return {b_.parameters, name, c_.decoder_cell == CellKind::kGru};
  }
  Plain row(Index j) const {
    const float* h = b_.rows.data() + (b_.start[static_cast<size_t>(sentence_)] + j) * c_.memory();
    return {h, h + c_.memory()};
  }
  Plain summary() const {
    const float* h = b_.summary.data() + sentence_ * c_.memory();
    return {h, h + c_.memory()};
  }
  Index length() const { return b_.length[static_cast<size_t>(sentence_)]; }
  Plain mean() const {
    Plain sum(static_cast<size_t>(c_.memory()), 0.0);
    for (Index j = 0; j < length(); ++j) {
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += row(j)[k] / static_cast<double>(length());
    }
    return sum;
  }
  double score(const Plain& query, const Plain& key) const {
    const Parameters& p = b_.parameters;
    double sum = 0.0;
    if (c_.attention == AttentionKind::kAdditive) {
      const Plain none(static_cast<size_t>(c_.attention_width), 0.0);
      const Plain z = plain_tanh(plain_product(
          p, "attention.key.weight", key, plain_product(p, "attention.query.weight", query, none)));
      const Plain v = plain_vector(p, "attention.v");
      for (size_t k = 0; k < z.size(); ++k) sum += v[k] * z[k];
      return sum;
    }
    const bool general = c_.attention == AttentionKind::kGeneral;
    const Plain q =
        general ? plain_product(p, "attention.general.weight", query, Plain(key.size(), 0.0))
                : query;
    for (size_t k = 0; k < key.size(); ++k) sum += q[k] * key[k];
    return c_.attention == AttentionKind::kScaledDot
               ? sum / std::sqrt(static_cast<double>(key.size()))
               : sum;
  }
  Plain attend(const Plain& query) {
    weights_.clear();
    double total = 0.0;
    for (Index j = 0; j < length(); ++j) {
      weights_.push_back(std::exp(score(query, row(j))));
      total += weights_.back();
    }
    Plain context(static_cast<size_t>(c_.memory()), 0.0);
    for (Index j = 0; j < length(); ++j) {
      weights_[static_cast<size_t>(j)] /= total;
      for (size_t k = 0; k < context.size(); ++k)
        context[k] += weights_[static_cast<size_t>(j)] * row(j)[k];
    }
    return context;
  }

  const Built& b_;
  const ModelConfig& c_;
  Index sentence_;
  std::vector<PlainState> layers_;
  Plain feed_, weights_;
};

using Ids = std::vector<std::int32_t>;
const std::vector<Ids> kTargets = {{kBeginId, 4}, {kBeginId, 3, 5, 8}, {kBeginId}};
const std::vector<Index> kReads = {1, 0, 0};  // the sentence of each target

void expect_equations(const ModelConfig& config) {
  SCOPED_TRACE(to_json(config));
  const auto b = build(config);
  const std::vector<std::span<const std::int32_t>> spans(kTargets.begin(), kTargets.end());
  const PackedIds target = PackedIds::pack(spans);
  std::vector<Index> key_row;
  for (Index lane : target.row_lane)
    key_row.push_back(kReads[static_cast<size_t>(target.sequence[static_cast<size_t>(lane)])]);
  Tape tape(b->parameters, nullptr);
  const DecoderMemory memory = b->decoder.prepare(tape, b->memory());
  const Matrix weights = tape.arena().matrix(target.rows(), 3);
  const Var t = b->decoder.run(tape, memory, target, key_row.data(), {},
                               {config.has_attention() ? weights : Matrix{}});
  for (size_t s = 0; s < kTargets.size(); ++s) {
    PlainDecoder plain(*b, kReads[s]);
    DecoderState state = b->decoder.start(tape, memory, &kReads[s], 1);
    for (size_t i = 0; i < kTargets[s].size(); ++i) {
      const Plain want = plain.step(kTargets[s][i]);
      const Index row = target.offsets[i] + target.lane[s];
      const Decoder::Step step =
          b->decoder.step(tape, memory, state, &kTargets[s][i], &kReads[s], 1, true);
      state = step.state;
      for (size_t k = 0; k < want.size(); ++k) {
        EXPECT_NEAR(t.value(row, static_cast<Index>(k)), want[k], 3e-6);
        EXPECT_EQ(step.readout.value(0, static_cast<Index>(k)),
                  t.value(row, static_cast<Index>(k)));
      }
      for (size_t j = 0; j < plain.weights().size(); ++j) {
        EXPECT_NEAR(weights(row, static_cast<Index>(j)), plain.weights()[j], 3e-6);
        EXPECT_EQ(step.attention.weights(0, static_cast<Index>(j)),
                  weights(row, static_cast<Index>(j)));
      }
      if (config.has_attention()) {
        for (Index j = b->length[static_cast<size_t>(kReads[s])]; j < 3; ++j)
          EXPECT_EQ(weights(row, j), 0.0f);
        EXPECT_NE(step.attention.raw_scores.data, nullptr);
      }
    }
  }
}

TEST(Decoder, EveryKindIsItsEquations) {
  for (const DecoderKind kind : {DecoderKind::kFixed, DecoderKind::kBahdanau,
                                 DecoderKind::kConditional, DecoderKind::kLuong}) {
    for (const CellKind cell : {CellKind::kGru, CellKind::kLstm}) {
      for (const int layers : {1, 2}) {
        for (const bool option : {false, true}) {
          ModelConfig c = small(kind);
          c.decoder_cell = cell;
          c.decoder_layers = layers;
          c.feed_context = option && kind == DecoderKind::kFixed;
          c.input_feeding = option && kind == DecoderKind::kLuong;
          expect_equations(c);
        }
      }
    }
  }
}

TEST(Decoder, EveryScoreIsItsEquation) {
  for (const AttentionKind kind : {AttentionKind::kAdditive, AttentionKind::kDot,
                                   AttentionKind::kScaledDot, AttentionKind::kGeneral}) {
    for (const DecoderKind decoder :
         {DecoderKind::kBahdanau, DecoderKind::kConditional, DecoderKind::kLuong}) {
      ModelConfig c = small(decoder);
      c.attention = kind;
      expect_equations(c);
    }
  }
}

TEST(Decoder, EveryStartIsItsEquation) {
  for (const DecoderStart start : {DecoderStart::kLast, DecoderStart::kMean, DecoderStart::kZero}) {
    for (const CellKind cell : {CellKind::kGru, CellKind::kLstm}) {
      ModelConfig c = small(DecoderKind::kBahdanau);
      c.start = start;
      c.decoder_cell = cell;
      c.decoder_layers = 2;
      expect_equations(c);
      EXPECT_EQ(build(c)->decoder.needs_summary(), start == DecoderStart::kLast);
    }
  }
  EXPECT_TRUE(build(small(DecoderKind::kFixed))->decoder.needs_summary());
}

}  // namespace
}  // namespace regard
