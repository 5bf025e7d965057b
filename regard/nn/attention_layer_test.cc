// AttentionLayer and DropoutPlan.
#include "regard/nn/attention_layer.h"

#include <gtest/gtest.h>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/shape_check.h"
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

TEST(AttentionLayer, NamesTheProjectionsOfItsScore) {
  const auto parameters = [](ScoreKind kind) {
    Parameters p;
    AttentionLayer::make(p, "attention", {kind, 7, 5, 6});
    return names(p);
  };
  EXPECT_EQ(parameters(ScoreKind::kAdditive),
            (std::vector<std::string>{"attention.query.weight[6,7]", "attention.key.weight[6,5]",
                                      "attention.v[1,6]"}));
  EXPECT_EQ(parameters(ScoreKind::kGeneral),
            (std::vector<std::string>{"attention.general.weight[5,7]"}));
  EXPECT_TRUE(parameters(ScoreKind::kDot).empty());
  EXPECT_TRUE(parameters(ScoreKind::kScaledDot).empty());
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
    layer.attend(tape, memory, query, kKeyRow.data(), context, {});
    for (Index i = 0; i < 3; ++i) {
      const std::vector<double> want = plain_context(p, kind, query.value, rows.value, i);
      for (Index k = 0; k < 5; ++k)
        EXPECT_NEAR(context.value(i, k), want[static_cast<size_t>(k)], 2e-6);
    }
  }
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
