// AttentionLayer and DropoutPlan.
#include "regard/nn/attention_layer.h"

#include <gtest/gtest.h>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/shape_check.h"
#include "regard/base/random.h"
#include "regard/nn/dropout_plan.h"

namespace regard {
namespace {

const std::vector<Index> kStart = {0, 3};
const std::vector<Index> kLength = {3, 2};
const std::vector<Index> kKeyRow = {1, 0, 0};

RaggedRows sentences() { return {kStart.data(), kLength.data(), 2}; }

void start(Parameters& p) {
  p.allocate();
  p.initialise(5);
  Threads alone;
  p.pack(alone, true);
}

std::vector<std::string> names(const Parameters& p) {
  std::vector<std::string> out;
  for (const ParameterInfo& info : p.infos())
    out.push_back(info.name + extents(info.rows, info.cols));
  return out;
}

using Names = std::vector<std::string>;

Names parameters_of(const AttentionShape& shape) {
  Parameters p;
  AttentionLayer::make(p, "a", shape);
  return names(p);
}

TEST(AttentionLayer, NamesTheParametersOfItsScore) {
  const auto parameters = [](ScoreKind kind) {
    AttentionShape s{kind, 7, 5, 6};
    s.longest = 9;
    return parameters_of(s);
  };
  const Names additive = {"a.query.weight[6,7]", "a.key.weight[6,5]", "a.v[1,6]"};
  EXPECT_EQ(parameters(ScoreKind::kAdditive), additive);
  EXPECT_EQ(parameters(ScoreKind::kConcat), additive);
  EXPECT_EQ(parameters(ScoreKind::kGeneral), (Names{"a.general.weight[5,7]"}));
  EXPECT_EQ(parameters(ScoreKind::kLocation), (Names{"a.location.weight[9,7]"}));
  Names more = additive;
  more.insert(more.end(), {"a.filters[8,7]", "a.u[6,8]"});
  EXPECT_EQ(parameters(ScoreKind::kLocationSensitive), more);
  more = additive;
  more.emplace_back("a.u[6,1]");
  EXPECT_EQ(parameters(ScoreKind::kCoverage), more);
  for (const ScoreKind kind : {ScoreKind::kDot, ScoreKind::kScaledDot, ScoreKind::kCosine})
    EXPECT_TRUE(parameters(kind).empty());
}

TEST(AttentionLayer, NamesTheParametersOfItsOptions) {
  AttentionShape s{ScoreKind::kDot, 7, 6, 4};
  s.projections = true;
  s.heads = 2;
  const Names projections = {"a.query.weight[4,7]", "a.key.weight[4,6]", "a.value.weight[6,6]",
                             "a.output.weight[6,6]"};
  EXPECT_EQ(parameters_of(s), projections);
  const auto with = [&](NormalizerKind kind) {
    AttentionShape t{ScoreKind::kDot, 6, 6, 4};
    t.heads = 2;
    t.normalizer.kind = kind;
    return parameters_of(t);
  };
  EXPECT_EQ(with(NormalizerKind::kEntmax), (Names{"a.alpha[1,1]"}));
  EXPECT_EQ(with(NormalizerKind::kLocal),
            (Names{"a.center.inner.weight[4,6]", "a.center.v.weight[2,4]"}));
  for (const NormalizerKind kind :
       {NormalizerKind::kSigmoid, NormalizerKind::kMonotonic, NormalizerKind::kMocha})
    EXPECT_EQ(with(kind), (Names{"a.offset[2,1]"}));
  for (const NormalizerKind kind : {NormalizerKind::kSoftmax, NormalizerKind::kSparsemax,
                                    NormalizerKind::kEntmax15, NormalizerKind::kHardmax})
    EXPECT_TRUE(with(kind).empty());
  s = {ScoreKind::kAdditive, 7, 6, 4};
  s.weight_norm = true;
  s.relative = 3;
  EXPECT_EQ(parameters_of(s), (Names{"a.query.weight[4,7]", "a.key.weight[4,6]", "a.v[1,4]",
                                     "a.b[1,4]", "a.g[1,1]", "a.relative[1,7]"}));
}

// The equations of the header in double, one row at a time.
std::vector<double> plain_context(const Parameters& p, ScoreKind kind, ConstMatrix query,
                                  ConstMatrix memory, Index row) {
  const Index b = kKeyRow[static_cast<size_t>(row)];
  const auto at = [&](const char* name) { return p.value(p.find(name)); };
  const auto project = [](ConstMatrix w, const float* x, Index i) {
    double sum = 0.0;
    for (Index k = 0; k < w.cols; ++k)
      sum += static_cast<double>(w(i, k)) * static_cast<double>(x[k]);
    return sum;
  };
  std::vector<double> e, context(static_cast<size_t>(memory.cols), 0.0);
  double total = 0.0;
  for (Index j = 0; j < kLength[static_cast<size_t>(b)]; ++j) {
    const float* s = query.row(row);
    const float* h = memory.row(kStart[static_cast<size_t>(b)] + j);
    double score = 0.0;
    if (kind == ScoreKind::kAdditive) {
      for (Index a = 0; a < 6; ++a) {
        score += static_cast<double>(at("a.v")(0, a)) *
                 std::tanh(project(at("a.query.weight"), s, a) + project(at("a.key.weight"), h, a));
      }
    } else {
      for (Index k = 0; k < memory.cols; ++k) {
        const double q = kind == ScoreKind::kGeneral ? project(at("a.general.weight"), s, k)
                                                     : static_cast<double>(s[k]);
        score += q * static_cast<double>(h[k]);
      }
      if (kind == ScoreKind::kScaledDot) score /= std::sqrt(static_cast<double>(memory.cols));
    }
    e.push_back(std::exp(score));
    total += e.back();
  }
  for (size_t j = 0; j < e.size(); ++j) {
    const float* h = memory.row(kStart[static_cast<size_t>(b)] + static_cast<Index>(j));
    for (size_t k = 0; k < context.size(); ++k)
      context[k] += e[j] / total * static_cast<double>(h[k]);
  }
  return context;
}

TEST(AttentionLayer, IsItsEquation) {
  for (const ScoreKind kind :
       {ScoreKind::kAdditive, ScoreKind::kDot, ScoreKind::kScaledDot, ScoreKind::kGeneral}) {
    const bool dot = kind == ScoreKind::kDot || kind == ScoreKind::kScaledDot;
    const Index query_width = dot ? 5 : 7;
    Parameters p;
    const AttentionLayer layer = AttentionLayer::make(p, "a", {kind, query_width, 5, 6});
    start(p);
    Tape tape(p, nullptr);
    std::vector<float> q = test::random_floats(3 * query_width, 1), h = test::random_floats(25, 2);
    const Var query{{q.data(), 3, query_width}, {}}, rows{{h.data(), 5, 5}, {}};
    const AttentionMemory memory = layer.prepare(tape, rows, sentences());
    const Var context = tape.make(3, 5);
    AttentionLayer::Rows looking;
    looking.query = query;
    looking.key_row = kKeyRow.data();
    layer.attend(tape, memory, looking, {context});
    for (Index i = 0; i < 3; ++i) {
      const std::vector<double> want = plain_context(p, kind, query.value, rows.value, i);
      for (Index k = 0; k < 5; ++k)
        EXPECT_NEAR(context.value(i, k), want[static_cast<size_t>(k)], 2e-6);
    }
  }
}

// A layer with random numbers, three looks at two sentences, and what came of them.
struct Looked {
  Looked(const AttentionShape& shape, const Index* position = nullptr, Var before = {}) {
    layer = AttentionLayer::make(p, "a", shape);
    start(p);
    for (Index k = 0; k < p.size(); ++k) {
      p.data()[k] += 0.1f * uniform_float(philox(8, 0, static_cast<std::uint64_t>(k))[0]);
    }
    Threads alone;
    p.pack(alone, false);
    q = test::random_floats(3 * shape.query, 1);
    h = test::random_floats(5 * shape.memory, 2);
    query = {{q.data(), 3, shape.query}, {}};
    rows = {{h.data(), 5, shape.memory}, {}};
    const AttentionMemory memory = layer.prepare(tape, rows, sentences());
    AttentionLayer::Rows looking;
    looking.query = query;
    looking.key_row = kKeyRow.data();
    looking.position = position;
    looking.state = before;
    const Index heads = layer.heads();
    out.context = tape.make(3, shape.memory);
    out.weights = tape.arena().matrix(3, 3);
    out.raw_scores = tape.arena().matrix(3, 3);
    out.head_weights = tape.arena().matrix(3 * heads, 3);
    if (layer.stateful()) out.next_state = tape.make(3 * heads, 3);
    layer.attend(tape, memory, looking, out);
  }
  // W x for the parameter `name`.
  std::vector<double> product(const char* name, const float* x) const {
    const Matrix w = p.value(p.find(name));
    std::vector<double> y;
    for (Index r = 0; r < w.rows; ++r) {
      y.push_back(0.0);
      for (Index c = 0; c < w.cols; ++c)
        y.back() += static_cast<double>(w(r, c)) * static_cast<double>(x[c]);
    }
    return y;
  }

  Parameters p;
  AttentionLayer layer;
  std::vector<float> q, h;
  Var query, rows;
  Tape tape{p, nullptr};
  AttentionLayer::Output out;
};

TEST(AttentionLayer, HeadsLookThroughProjectionsAndTheirMeanIsShown) {
  AttentionShape shape{ScoreKind::kScaledDot, 7, 6, 4};
  shape.heads = 2;
  shape.projections = true;
  const Looked l(shape);
  for (Index i = 0; i < 3; ++i) {
    const Index b = kKeyRow[static_cast<size_t>(i)], n = kLength[static_cast<size_t>(b)];
    const std::vector<double> q = l.product("a.query.weight", l.query.value.row(i));
    std::vector<float> mixed(6, 0.0f);
    std::vector<double> mean(3, 0.0);
    for (size_t head = 0; head < 2; ++head) {
      std::vector<double> e;
      double total = 0.0;
      for (Index j = 0; j < n; ++j) {
        const float* x = l.rows.value.row(kStart[static_cast<size_t>(b)] + j);
        const std::vector<double> k = l.product("a.key.weight", x);
        double score = 0.0;
        for (size_t d = 2 * head; d < 2 * head + 2; ++d) score += q[d] * k[d];
        e.push_back(std::exp(score / std::sqrt(2.0)));
        total += e.back();
      }
      for (Index j = 0; j < n; ++j) {
        const double w = e[static_cast<size_t>(j)] / total;
        EXPECT_NEAR(l.out.head_weights(2 * i + static_cast<Index>(head), j), w, 2e-6);
        mean[static_cast<size_t>(j)] += w / 2.0;
        const std::vector<double> v =
            l.product("a.value.weight", l.rows.value.row(kStart[static_cast<size_t>(b)] + j));
        for (size_t d = 3 * head; d < 3 * head + 3; ++d) mixed[d] += static_cast<float>(w * v[d]);
      }
    }
    const std::vector<double> context = l.product("a.output.weight", mixed.data());
    for (Index k = 0; k < 6; ++k)
      EXPECT_NEAR(l.out.context.value(i, k), context[static_cast<size_t>(k)], 4e-6);
    for (Index j = 0; j < 3; ++j)
      EXPECT_NEAR(l.out.weights(i, j), mean[static_cast<size_t>(j)], 2e-6);
  }
}

TEST(AttentionLayer, LocationIsARowOfItsMatrixAndALongerSourceIsRefused) {
  AttentionShape shape{ScoreKind::kLocation, 7, 5, 6};
  shape.longest = 3;
  const Looked l(shape);
  for (Index i = 0; i < 3; ++i) {
    const std::vector<double> e = l.product("a.location.weight", l.query.value.row(i));
    for (Index j = 0; j < kLength[static_cast<size_t>(kKeyRow[static_cast<size_t>(i)])]; ++j)
      EXPECT_NEAR(l.out.raw_scores(i, j), e[static_cast<size_t>(j)], 2e-6);
  }
  shape.longest = 2;
  try {
    const Looked longer(shape);
    FAIL() << "a source of 3 was taken for 2 places";
  } catch (const ShapeError& e) {
    EXPECT_NE(std::string(e.what()).find("learnt 2 places"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("has 3"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("--max-source-length 1"), std::string::npos) << e.what();
  }
}

// local-m: place i, or the last of the source where the target has gone on beyond it.
TEST(AttentionLayer, AWindowFollowsTheRowToTheEndOfItsSentence) {
  AttentionShape shape{ScoreKind::kDot, 5, 5, 6};
  shape.window = 1;
  const std::vector<Index> position = {9, 0, 2};  // sentences of 2, 3 and 3 keys
  const Looked l(shape, position.data());
  const bool live[3][3] = {{true, true, false}, {true, true, false}, {false, true, true}};
  for (Index i = 0; i < 3; ++i) {
    float sum = 0.0f;
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(l.out.weights(i, j) > 0.0f, live[i][j]) << i << ' ' << j;
      sum += l.out.weights(i, j);
    }
    EXPECT_NEAR(sum, 1.0f, 1e-6f);
  }
}

TEST(AttentionLayer, TheCentreOfLocalPIsPredictedFromTheQuery) {
  AttentionShape shape{ScoreKind::kDot, 5, 5, 6};
  shape.normalizer.kind = NormalizerKind::kLocal;
  shape.normalizer.window = 4;
  const Looked l(shape);
  for (Index i = 0; i < 3; ++i) {
    const Index n = kLength[static_cast<size_t>(kKeyRow[static_cast<size_t>(i)])];
    std::vector<float> inner;
    for (const double x : l.product("a.center.inner.weight", l.query.value.row(i)))
      inner.push_back(static_cast<float>(std::tanh(x)));
    const double z = l.product("a.center.v.weight", inner.data())[0];
    const double center = static_cast<double>(n) / (1.0 + std::exp(-z));
    std::vector<double> e;
    double total = 0.0;
    for (Index j = 0; j < n; ++j) {
      e.push_back(std::exp(static_cast<double>(l.out.raw_scores(i, j))));
      total += e.back();
    }
    for (Index j = 0; j < n; ++j) {
      const double off = static_cast<double>(j) - center;  // sigma = D / 2
      EXPECT_NEAR(l.out.weights(i, j),
                  e[static_cast<size_t>(j)] / total * std::exp(-off * off / (2.0 * 2.0 * 2.0)),
                  2e-6);
    }
  }
}

TEST(AttentionLayer, AStateIsHandedOn) {
  AttentionShape shape{ScoreKind::kCoverage, 7, 5, 6};
  std::vector<float> seen = {0.5f, 0.25f, 0.0f, 1.0f, 0.0f, 0.5f, 0.25f, 0.25f, 0.25f};
  const Looked first(shape), second(shape, nullptr, {{seen.data(), 3, 3}, {}});
  EXPECT_TRUE(first.layer.stateful());
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(first.out.next_state.value(i, j), first.out.weights(i, j));
      if (j < kLength[static_cast<size_t>(kKeyRow[static_cast<size_t>(i)])]) {
        EXPECT_EQ(second.out.next_state.value(i, j),
                  second.out.weights(i, j) + seen[static_cast<size_t>(3 * i + j)]);
      }
    }
  }
  EXPECT_NE(first.out.weights(1, 0), second.out.weights(1, 0));
}

TEST(DropoutPlan, KeysOfAttentionHoldThePosition) {
  Parameters p;
  p.allocate();
  Tape tape(p, nullptr);
  const std::vector<std::uint64_t> pairs = {10, 20};
  const DropoutPlan plan{{}, pairs.data()};
  const std::vector<Index> lanes = {1, 0}, row_lane = {0, 1, 0, 1};
  const std::vector<std::uint32_t> position = {0, 0, 1, 1};
  const RowOrigin rows{row_lane.data(), lanes.data(), position.data(), 4};
  const std::uint64_t* keys = attention_dropout_keys(tape, plan, rows, "attention");
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < i; ++k) EXPECT_NE(keys[i], keys[k]);
  }
  const std::uint64_t* tail = attention_dropout_keys(tape, plan, rows.at(2, 2), "attention");
  EXPECT_EQ(tail[0], keys[2]);
  EXPECT_EQ(tail[1], keys[3]);
}

// Rows of two sequences in two arrangements: the key of a row follows the row.
TEST(DropoutPlan, KeysFollowThePairAndTheSite) {
  Parameters p;
  p.allocate();
  Tape tape(p, nullptr);
  const std::vector<std::uint64_t> pairs = {10, 20};
  const DropoutPlan plan{{}, pairs.data()};
  const std::vector<Index> lanes = {1, 0}, swapped = {0, 1};
  const std::vector<Index> row_lane = {0, 1, 0};
  const std::vector<std::uint32_t> position = {0, 0, 1};
  const RowOrigin rows{row_lane.data(), lanes.data(), position.data(), 3};
  const RowOrigin other{row_lane.data(), swapped.data(), position.data(), 3};
  const DropoutRows a = dropout_rows(tape, plan, rows, "memory");
  const DropoutRows b = dropout_rows(tape, plan, other, "memory");
  EXPECT_EQ(a.key[0], b.key[1]);
  EXPECT_EQ(a.key[1], b.key[0]);
  EXPECT_NE(a.key[0], a.key[1]);
  EXPECT_EQ(a.key[0], a.key[2]);  // told apart by the position
  EXPECT_EQ(a.position[2], 1u);
  EXPECT_NE(a.key[0], dropout_rows(tape, plan, rows, "readout").key[0]);
  const DropoutRows tail = dropout_rows(tape, plan, rows.at(1, 2), "memory");
  EXPECT_EQ(tail.key[0], a.key[1]);
  EXPECT_EQ(tail.position[1], 1u);
}

}  // namespace
}  // namespace regard
