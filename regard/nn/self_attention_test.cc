// SelfAttention and SelfAttentionLayer: equations, gradients, and what a sequence's rows do not
// depend on.
#include "regard/nn/self_attention.h"

#include <gtest/gtest.h>

#include <functional>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/shape_check.h"
#include "regard/base/error.h"

namespace regard {
namespace {

constexpr Index kWidth = 6;
const std::vector<Index> kLengths = {4, 1, 3};
constexpr Index kCount = 8;  // rows of all sequences
const std::vector<Index> kLanes = {0, 1, 2};
const std::vector<std::uint64_t> kPairs = {21, 22, 23};

using Names = std::vector<std::string>;
using Plain = std::vector<double>;

SelfAttentionShape layer_shape(Index heads) {
  return {kWidth, 10, multi_head_shape(kWidth, heads)};
}

void start(Parameters& p) {
  p.allocate();
  p.initialise(5);
  for (Index k = 0; k < p.size(); ++k) {  // gains, biases and tables too
    p.data()[k] += 0.4f * uniform_float(philox(8, 0, static_cast<std::uint64_t>(k))[0]) - 0.2f;
  }
  Threads alone;
  p.pack(alone, true);
}

Var rows_of(Tape& tape, const std::vector<float>& x) {
  const Var v = tape.make(static_cast<Index>(x.size()) / kWidth, kWidth);
  std::copy(x.begin(), x.end(), v.value.data);
  return v;
}

std::vector<float> numbers(ConstMatrix m) { return {m.data, m.data + m.rows * m.cols}; }

// One sequence, or a batch of them, without dropout unless a plan is given.
template <class Layer>
std::vector<float> run(const Parameters& p, const Layer& layer, const std::vector<float>& x,
                       const std::vector<Index>& lengths, const DropoutPlan& plan = {},
                       const std::vector<Index>& lanes = kLanes) {
  Tape tape(p, nullptr);
  const SequenceRows rows =
      sequence_rows(tape, lengths.data(), static_cast<Index>(lengths.size()), lanes.data(), plan);
  return numbers(layer(tape, rows_of(tape, x), rows).value);
}

// --- In double -----------------------------------------------------------------------------------

Plain product(const Parameters& p, const std::string& name, const Plain& x) {
  const Matrix w = p.value(p.find(name + ".weight"));
  const ParameterId bias = p.find(name + ".bias");
  Plain y;
  for (Index r = 0; r < w.rows; ++r) {
    y.push_back(bias ? static_cast<double>(p.vector(bias)[r]) : 0.0);
    for (Index c = 0; c < w.cols; ++c)
      y.back() += static_cast<double>(w(r, c)) * x[static_cast<size_t>(c)];
  }
  return y;
}

Plain norm(const Parameters& p, const std::string& name, const Plain& x) {
  double mean = 0.0, variance = 0.0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Plain y;
  for (size_t k = 0; k < x.size(); ++k) {
    const auto i = static_cast<Index>(k);
    y.push_back(static_cast<double>(p.vector(p.find(name + ".gain"))[i]) * (x[k] - mean) /
                    std::sqrt(variance + 1e-5) +
                static_cast<double>(p.vector(p.find(name + ".bias"))[i]));
  }
  return y;
}

// Of query i over all rows of one sequence, before the output projection.
Plain plain_heads(const std::vector<Plain>& q, const std::vector<Plain>& k,
                  const std::vector<Plain>& v, size_t i, size_t heads) {
  const size_t part = q[i].size() / heads;
  Plain context(v[i].size(), 0.0);
  for (size_t h = 0; h < heads; ++h) {
    Plain e;
    double total = 0.0;
    for (const Plain& key : k) {
      double score = 0.0;
      for (size_t d = h * part; d < (h + 1) * part; ++d) score += q[i][d] * key[d];
      e.push_back(std::exp(score / std::sqrt(static_cast<double>(part))));
      total += e.back();
    }
    for (size_t j = 0; j < v.size(); ++j) {
      for (size_t d = h * part; d < (h + 1) * part; ++d) context[d] += e[j] / total * v[j][d];
    }
  }
  return context;
}

std::vector<Plain> each(const std::vector<Plain>& x, const std::function<Plain(const Plain&)>& f) {
  std::vector<Plain> y;
  for (const Plain& row : x) y.push_back(f(row));
  return y;
}

std::vector<Plain> plain_rows(const std::vector<float>& x, Index first, Index n) {
  std::vector<Plain> rows;
  for (Index r = first; r < first + n; ++r) {
    rows.emplace_back(x.begin() + r * kWidth, x.begin() + (r + 1) * kWidth);
  }
  return rows;
}

std::vector<Plain> plain_layer(const Parameters& p, const std::string& name,
                               const std::vector<Plain>& x, size_t heads) {
  const auto at = [&](const char* part) {
    return [&p, full = name + part](const Plain& row) { return product(p, full, row); };
  };
  const std::vector<Plain> normed =
      each(x, [&](const Plain& row) { return norm(p, name + ".attention_norm", row); });
  const std::vector<Plain> q = each(normed, at(".attention.query")),
                           k = each(normed, at(".attention.key")),
                           v = each(normed, at(".attention.value"));
  std::vector<Plain> y = x;
  for (size_t i = 0; i < x.size(); ++i) {
    const Plain seen = at(".attention.output")(plain_heads(q, k, v, i, heads));
    for (size_t d = 0; d < seen.size(); ++d) y[i][d] += seen[d];
    Plain inner = at(".feed_forward.inner")(norm(p, name + ".feed_forward_norm", y[i]));
    for (double& u : inner) u = std::max(u, 0.0);
    const Plain fed = at(".feed_forward.outer")(inner);
    for (size_t d = 0; d < fed.size(); ++d) y[i][d] += fed[d];
  }
  return y;
}

void expect_near(const std::vector<Plain>& want, const std::vector<float>& got, Index first) {
  for (size_t i = 0; i < want.size(); ++i) {
    for (size_t d = 0; d < want[i].size(); ++d) {
      EXPECT_NEAR(got[static_cast<size_t>(first) * kWidth + i * kWidth + d], want[i][d], 1e-5)
          << i << ' ' << d;
    }
  }
}

// --- Tests ---------------------------------------------------------------------------------------

TEST(SelfAttentionLayer, NamesItsParameters) {
  Parameters p;
  SelfAttentionShape shape = layer_shape(2);
  shape.attention.relative = 3;
  SelfAttentionLayer::make(p, "l", shape);
  Names names;
  for (const ParameterInfo& info : p.infos())
    names.push_back(info.name + extents(info.rows, info.cols));
  EXPECT_EQ(names, (Names{"l.attention_norm.gain[1,6]", "l.attention_norm.bias[1,6]",
                          "l.attention.query.weight[6,6]", "l.attention.key.weight[6,6]",
                          "l.attention.relative[2,7]", "l.attention.value.weight[6,6]",
                          "l.attention.output.weight[6,6]", "l.feed_forward_norm.gain[1,6]",
                          "l.feed_forward_norm.bias[1,6]", "l.feed_forward.inner.weight[10,6]",
                          "l.feed_forward.inner.bias[1,10]", "l.feed_forward.outer.weight[6,10]",
                          "l.feed_forward.outer.bias[1,6]"}));
}

TEST(SelfAttentionLayer, IsItsEquationInAnyNumberOfHeads) {
  for (const Index heads : {1, 2, 3}) {
    Parameters p;
    const SelfAttentionLayer layer = SelfAttentionLayer::make(p, "l", layer_shape(heads));
    EXPECT_EQ(layer.heads(), heads);
    start(p);
    const std::vector<float> x = test::random_floats(kCount * kWidth, 1, -2.0, 2.0);
    const std::vector<float> y = run(p, layer, x, kLengths);
    Index first = 0;
    for (const Index n : kLengths) {
      expect_near(plain_layer(p, "l", plain_rows(x, first, n), static_cast<size_t>(heads)), y,
                  first);
      first += n;
    }
  }
}

TEST(SelfAttention, InOneHeadWithoutProjectionsIsPlainAttention) {
  Parameters p;
  AttentionShape shape;
  shape.score = ScoreKind::kScaledDot;
  const SelfAttention attention = SelfAttention::make(p, "a", kWidth, shape);
  EXPECT_EQ(p.count(), 0);
  start(p);
  const std::vector<float> x = test::random_floats(kCount * kWidth, 1, -2.0, 2.0);
  const std::vector<float> y = run(p, attention, x, kLengths);
  const std::vector<Plain> rows = plain_rows(x, 0, 4);
  std::vector<Plain> want;
  for (size_t i = 0; i < 4; ++i) want.push_back(plain_heads(rows, rows, rows, i, 1));
  expect_near(want, y, 0);
  // A sequence of one row looks at itself alone: weight exactly 1.
  EXPECT_TRUE(std::equal(y.begin() + 4 * kWidth, y.begin() + 5 * kWidth, x.begin() + 4 * kWidth));
}

// Sequences of different lengths together, in another order, and each alone.
TEST(SelfAttentionLayer, TheBitsOfASequenceDependOnItsOwnRowsAlone) {
  DropoutPlan dropped{{}, kPairs.data()};
  dropped.rates.layer = dropped.rates.attention = 0.3f;
  for (const DropoutPlan& plan : {DropoutPlan{}, dropped}) {
    Parameters p;
    SelfAttentionShape shape = layer_shape(2);
    shape.attention.relative = 2;
    const SelfAttentionLayer layer = SelfAttentionLayer::make(p, "l", shape);
    start(p);
    const std::vector<float> x = test::random_floats(kCount * kWidth, 1);
    const std::vector<float> together = run(p, layer, x, kLengths, plan);
    const auto part = [](const std::vector<float>& all, Index first, Index n) {
      return std::vector<float>(all.begin() + first * kWidth, all.begin() + (first + n) * kWidth);
    };
    Index first = 0;
    for (size_t s = 0; s < 3; ++s) {
      const Index n = kLengths[s];
      EXPECT_EQ(run(p, layer, part(x, first, n), {n}, plan, {kLanes[s]}), part(together, first, n));
      first += n;
    }
    std::vector<float> turned = part(x, 5, 3);  // the last sequence first
    const std::vector<float> others = part(x, 0, 5);
    turned.insert(turned.end(), others.begin(), others.end());
    const std::vector<float> y = run(p, layer, turned, {3, 4, 1}, plan, {2, 0, 1});
    EXPECT_EQ(part(y, 0, 3), part(together, 5, 3));
    EXPECT_EQ(part(y, 3, 5), part(together, 0, 5));
    if (plan.pair_key != nullptr) {
      EXPECT_NE(together, run(p, layer, x, kLengths));
    }
  }
}

// Without positions the layer can't tell an order: rows that change places take their results
// along.
TEST(SelfAttentionLayer, KnowsTheOrderOfRowsByRelativePositionsAlone) {
  for (const Index relative : {-1, 2}) {
    Parameters p;
    SelfAttentionShape shape = layer_shape(2);
    shape.attention.relative = relative;
    const SelfAttentionLayer layer = SelfAttentionLayer::make(p, "l", shape);
    start(p);
    std::vector<float> x = test::random_floats(4 * kWidth, 1);
    const std::vector<float> y = run(p, layer, x, {4});
    std::swap_ranges(x.begin(), x.begin() + kWidth, x.begin() + 2 * kWidth);
    std::vector<float> z = run(p, layer, x, {4});
    std::swap_ranges(z.begin(), z.begin() + kWidth, z.begin() + 2 * kWidth);
    float furthest = 0.0f;
    for (size_t k = 0; k < y.size(); ++k) furthest = std::max(furthest, std::fabs(y[k] - z[k]));
    EXPECT_EQ(furthest < 1e-5f, relative < 0) << furthest;
  }
}

TEST(SelfAttentionLayer, SeesNoFurtherThanItsMaskAndItsWindow) {
  struct Case {
    attention::Mask mask;
    Index window;
    std::function<bool(Index i, Index j)> live;
  };
  const Case cases[] = {
      {attention::Mask::causal(attention::CausalAlignment::kSquare), 0,
       [](Index i, Index j) { return j <= i; }},
      {{}, 1, [](Index i, Index j) { return j - i <= 1 && i - j <= 1; }},
  };
  for (const Case& c : cases) {
    Parameters p;
    SelfAttentionShape shape = layer_shape(2);
    shape.attention.mask = c.mask;
    shape.attention.window = c.window;
    const SelfAttentionLayer layer = SelfAttentionLayer::make(p, "l", shape);
    start(p);
    const std::vector<float> x = test::random_floats(kCount * kWidth, 1);
    Tape tape(p, nullptr);
    const SequenceRows rows = sequence_rows(tape, kLengths.data(), 3);
    const Matrix weights = tape.arena().matrix(2 * kCount, 4);
    const Var y = layer(tape, rows_of(tape, x), rows, weights);
    EXPECT_EQ(numbers(y.value), run(p, layer, x, kLengths));  // asking for weights changes no bit
    for (Index r = 0; r < 2 * kCount; ++r) {
      const Index sequence = rows.origin.row_lane[r / 2], i = rows.position[r / 2];
      float sum = 0.0f;
      for (Index j = 0; j < 4; ++j) {
        const bool there = j < kLengths[static_cast<size_t>(sequence)];
        EXPECT_EQ(weights(r, j) > 0.0f, there && c.live(i, j)) << r << ' ' << j;
        sum += weights(r, j);
      }
      EXPECT_NEAR(sum, 1.0f, 1e-6f);
    }
  }
}

// --- Gradients -----------------------------------------------------------------------------------

// The parameters that `make` adds become those of a case.
std::string check_attention(const AttentionShape& shape, double tolerance, bool dropped = false) {
  Parameters like;
  const SelfAttention attention = SelfAttention::make(like, "a", kWidth, shape);
  test::OpCase op;
  op.name = "self-attention";
  op.inputs = {{kCount, kWidth}};
  op.parameters = like.infos();
  op.tolerance = tolerance;
  op.build = [&](Tape& t, const std::vector<Var>& x,
                 const std::vector<ParameterId>&) -> test::OpCase::Built {
    DropoutPlan plan{{}, kPairs.data()};
    if (dropped) plan.rates.attention = 0.3f;
    const SequenceRows rows = sequence_rows(t, kLengths.data(), 3, kLanes.data(), plan);
    return {{attention(t, x[0], rows)}, {}};
  };
  return test::check_case(op);
}

TEST(SelfAttention, GradientsOfEveryScoreThatKeepsNoStateMatchCentralDifferences) {
  for (const ScoreKind kind :
       {ScoreKind::kAdditive, ScoreKind::kDot, ScoreKind::kScaledDot, ScoreKind::kGeneral,
        ScoreKind::kConcat, ScoreKind::kCosine, ScoreKind::kLocation}) {
    SCOPED_TRACE(static_cast<int>(kind));
    AttentionShape shape;
    shape.score = kind;
    shape.width = kWidth;
    shape.longest = 4;
    shape.scale = 0.5f;
    EXPECT_EQ(check_attention(shape, 2e-4), "");
    if (kind == ScoreKind::kGeneral) continue;  // a projection itself
    shape.projections = true;
    shape.heads = 2;
    shape.relative = 2;
    EXPECT_EQ(check_attention(shape, 2e-4), "");
  }
}

TEST(SelfAttention, GradientsOfSmoothNormalisersMasksAndDropoutMatchCentralDifferences) {
  AttentionShape shape = multi_head_shape(kWidth, 2);
  shape.scale = 0.5f;
  EXPECT_EQ(check_attention(shape, 2e-4, true), "");
  shape.mask = attention::Mask::causal(attention::CausalAlignment::kSquare);
  EXPECT_EQ(check_attention(shape, 2e-4), "");
  shape.window = 1;
  EXPECT_EQ(check_attention(shape, 2e-4), "");
  shape.normalizer.kind = NormalizerKind::kSigmoid;
  EXPECT_EQ(check_attention(shape, 2e-4), "");
}

// Units of the feed-forward far from the corner of max(0, u) on either side, so that differences
// are smooth.
TEST(SelfAttentionLayer, GradientsOfTheWholeLayerMatchCentralDifferences) {
  DropoutPlan dropped{{}, kPairs.data()};
  dropped.rates.layer = dropped.rates.attention = 0.3f;
  for (const DropoutPlan& plan : {DropoutPlan{}, dropped}) {
    Parameters p;
    SelfAttentionShape shape = layer_shape(2);
    shape.attention.relative = 2;
    const SelfAttentionLayer layer = SelfAttentionLayer::make(p, "l", shape);
    const ParameterId input = p.add({"x", kCount, kWidth, Use::kProduct, Init::kGlorot});
    start(p);
    const Matrix corner = p.value(p.find("l.feed_forward.inner.bias"));
    for (Index k = 0; k < corner.cols; ++k) corner(0, k) = k % 2 == 0 ? 4.0f : -4.0f;
    Gradients gradients(p);
    Threads alone;
    const std::vector<float> weights = test::random_floats(kCount * kWidth, 3);
    // The input is a parameter here: its gradient is checked by the same loop.
    const auto forward = [&](Tape& tape) {
      const Matrix d = tape.recording() ? tape.gradients().matrix(input) : Matrix{};
      const SequenceRows rows = sequence_rows(tape, kLengths.data(), 3, kLanes.data(), plan);
      return layer(tape, Var{p.value(input), d}, rows);
    };
    Tape tape(p, &gradients);
    const Var y = forward(tape);
    std::copy(weights.begin(), weights.end(), y.grad.data);
    tape.backward();
    Tape again(p, nullptr);
    const auto sum_at = [&](float* at, float value) {
      const float saved = *at;
      *at = value;
      p.pack(alone, true);
      again.reset();
      const Var z = forward(again);
      double sum = 0.0;
      for (size_t k = 0; k < weights.size(); ++k)
        sum += static_cast<double>(weights[k]) * static_cast<double>(z.value.data[k]);
      *at = saved;
      return sum;
    };
    for (int i = 0; i < p.count(); ++i) {
      const Matrix w = p.value({i}), d = gradients.matrix({i});
      for (Index k = 0; k < w.rows * w.cols; k += 5) {
        float* at = w.data + k;
        const float x = *at, h = 0x1p-5f;
        const double near = sum_at(at, x + h) - sum_at(at, x - h),
                     far = sum_at(at, x + 2 * h) - sum_at(at, x - 2 * h);
        const double numeric = (8.0 * near - far) / (12.0 * static_cast<double>(h));
        EXPECT_NEAR(d.data[k], numeric, 3e-4 * (1.0 + std::fabs(numeric)))
            << p.info({i}).name << ' ' << k;
      }
    }
  }
}

// --- Refusals ------------------------------------------------------------------------------------

void expect_refusal(const AttentionShape& shape, const std::string& word) {
  Parameters p;
  try {
    SelfAttention::make(p, "a", kWidth, shape);
    ADD_FAILURE() << "taken, wanted a refusal with " << word;
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(SelfAttention, WhatReadsTheStepBeforeIsRefused) {
  for (const ScoreKind kind : {ScoreKind::kLocationSensitive, ScoreKind::kCoverage}) {
    AttentionShape shape;
    shape.score = kind;
    shape.width = kWidth;
    expect_refusal(shape, "all positions at once");
  }
  for (const NormalizerKind kind : {NormalizerKind::kMonotonic, NormalizerKind::kMocha}) {
    AttentionShape shape = multi_head_shape(kWidth, 2);
    shape.normalizer.kind = kind;
    expect_refusal(shape, "all positions at once");
  }
}

TEST(SelfAttention, HeadsThatDoNotDivideAreRefused) {
  expect_refusal(multi_head_shape(kWidth, 4), "4 heads splits rows of width 6");
  expect_refusal(multi_head_shape(kWidth, 0), "in 0 heads");
  AttentionShape shape = multi_head_shape(kWidth, 2);
  shape.width = 5;
  expect_refusal(shape, "queries and keys of width 5");
}

TEST(SelfAttention, RowsThatAreNotThoseOfTheSequencesAreRefused) {
  Parameters p;
  const SelfAttention attention = SelfAttention::make(p, "a", kWidth, multi_head_shape(kWidth, 2));
  start(p);
  EXPECT_THROW(run(p, attention, test::random_floats(7 * kWidth, 1), kLengths), ShapeError);
}

TEST(SequenceRows, OfNothingAreNothing) {
  Parameters p;
  const SelfAttentionLayer layer = SelfAttentionLayer::make(p, "l", layer_shape(2));
  start(p);
  EXPECT_TRUE(run(p, layer, {}, {}).empty());
}

}  // namespace
}  // namespace regard
