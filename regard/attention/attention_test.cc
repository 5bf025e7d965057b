// Values and gradients of every score against the reference, on every instruction set.
#include "regard/attention/attention.h"

#include <gtest/gtest.h>

#include "regard/attention/case_test_util.h"
#include "regard/kernels/math.h"

namespace regard::attention {
namespace {

using test::Buffers;
using test::Case;
using test::kAllScores;
using test::Shape;

// Context and weights as outputs of all inputs, for check_op.
struct AttendOp {
  Case problem;

  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    Buffers<T> out = problem.run_forward(in);
    out.resize(test::kRawScores);
    return out;
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    problem.run_backward(in, d_out, d_in);
  }
};

struct BrokenOp : AttendOp {
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    AttendOp::backward(in, d_out, d_in);
    if constexpr (sizeof(T) == sizeof(float)) d_in[test::kKeys][2] += 1e-3f;
  }
};

class EveryScore : public testing::TestWithParam<ScoreKind> {
 protected:
  Shape shape(std::vector<Index> lengths, std::vector<Index> key_row, Index width,
              Index value_width) const {
    Shape s;
    s.kind = GetParam();
    s.lengths = std::move(lengths);
    s.key_row = std::move(key_row);
    s.width = width;
    s.query_width = width + 3;
    s.value_width = value_width;
    return s;
  }
  static std::string check(const Shape& s, double key_size = 1.0) {
    const AttendOp op{Case(s)};
    return regard::test::check_op(op, op.problem.inputs(11, key_size), 1e-5);
  }
};
INSTANTIATE_TEST_SUITE_P(Scores, EveryScore, testing::ValuesIn(kAllScores),
                         [](const auto& info) { return test::name_of(info.param); });

TEST_P(EveryScore, MatchesTheReferenceAndCentralDifferencesAtWidthsAroundTheLanes) {
  for (const Index width : {1, 15, 16, 17, 53, 64, 65}) {
    EXPECT_EQ(check(shape({3, 7}, {0, 1, 1, 0, 1}, width, 18)), "") << "width " << width;
  }
}

TEST_P(EveryScore, MatchesAtValueWidthsAroundTheLanes) {
  for (const Index value_width : {1, 15, 16, 17, 32, 53, 128}) {
    EXPECT_EQ(check(shape({5, 2}, {0, 1, 0}, 20, value_width)), "")
        << "value width " << value_width;
  }
}

TEST_P(EveryScore, MatchesAtLengthsAroundTheLanes) {
  for (const Index length : {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 53}) {
    EXPECT_EQ(check(shape({length}, {0, 0, 0}, 19, 10)), "") << "length " << length;
  }
}

TEST_P(EveryScore, MatchesWithManyRowsOfASentence) {
  for (const Index rows : {2, 9, 32, 33, 70}) {
    std::vector<Index> key_row;
    for (Index i = 0; i < rows; ++i) key_row.push_back(i % 3 == 0 ? 1 : 0);
    EXPECT_EQ(check(shape({6, 4}, key_row, 17, 9)), "") << rows << " rows";
  }
}

TEST_P(EveryScore, MatchesWithEmptySentencesAmongOthers) {
  EXPECT_EQ(check(shape({0, 4, 0, 1}, {3, 0, 1, 2, 1}, 12, 7)), "");
}

TEST_P(EveryScore, MatchesWithAScale) {
  Shape s = shape({5}, {0, 0}, 12, 7);
  s.scale = 0.37f;
  EXPECT_EQ(check(s), "");
}

// The factors of the additive form outside the range where they may be taken out of the sums.
TEST_P(EveryScore, MatchesWithLargeQueriesAndKeys) {
  EXPECT_EQ(check(shape({7, 3}, {0, 1, 0, 0}, 20, 6), 5.0), "");
  if (GetParam() != ScoreKind::kAdditive) return;
  EXPECT_EQ(check(shape({7, 3}, {0, 1, 0, 0}, 20, 6), 9.0), "");
  EXPECT_EQ(check(shape({7, 3}, {0, 1, 0, 0}, 20, 6), 60.0), "");
}

TEST_P(EveryScore, LogSumExpAndRawScoresMatchTheReference) {
  const Case c(shape({5, 18, 0}, {1, 0, 2, 1}, 70, 4));
  const Buffers<double> in = c.inputs();
  const Buffers<double> want = c.run_forward(in);
  regard::test::on_each_isa([&] {
    const Buffers<float> got = c.run_forward(regard::test::convert<float>(in));
    for (std::size_t b = 0; b < want.size(); ++b) {
      for (std::size_t i = 0; i < want[b].size(); ++i) {
        if (want[b][i] == static_cast<double>(got[b][i])) continue;  // -inf
        EXPECT_NEAR(got[b][i], want[b][i], 1e-5) << "output " << b << " element " << i;
      }
    }
  });
}

TEST_P(EveryScore, AWrongGradientIsFound) {
  const BrokenOp op{{Case(shape({3}, {0, 0}, 16, 4))}};
  EXPECT_NE(regard::test::check_op(op, op.problem.inputs(), 1e-5), "");
}

// The lesson's three stages one after the other, with a tensor for each.
TEST(AdditiveAttention, EqualsItsStagesDoneOneByOne) {
  Shape s;
  s.lengths = {9};
  s.key_row = {0, 0, 0, 0};
  s.width = 33;
  s.value_width = 12;
  s.gap = 0;
  const Case c(s);
  const Buffers<float> in = regard::test::convert<float>(c.inputs());
  const Buffers<float> fused = c.run_forward(in);
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<float> z, weights(9), context(12);
    for (std::size_t j = 0; j < 9; ++j) {
      for (std::size_t a = 0; a < 33; ++a) {
        z.push_back(in[test::kQuery][i * 33 + a] + in[test::kKeys][j * 33 + a]);
      }
    }
    tanh_array(z.data(), z.data(), static_cast<std::int64_t>(z.size()));
    for (std::size_t j = 0; j < 9; ++j) {
      for (std::size_t a = 0; a < 33; ++a) weights[j] += in[test::kV][a] * z[j * 33 + a];
    }
    exp_array(weights.data(), weights.data(), 9);
    float sum = 0.0f;
    for (const float w : weights) sum += w;
    for (std::size_t j = 0; j < 9; ++j) {
      EXPECT_NEAR(fused[test::kWeights][i * 10 + j], weights[j] / sum, 1e-6);
      for (std::size_t n = 0; n < 12; ++n) {
        context[n] += weights[j] / sum * in[test::kValues][j * 12 + n];
      }
    }
    for (std::size_t n = 0; n < 12; ++n) {
      EXPECT_NEAR(fused[test::kContext][i * 12 + n], context[n], 1e-6);
    }
  }
}

TEST(GeneralProjection, MakesAGeneralScoreOutOfADotProduct) {
  Shape general;
  general.kind = ScoreKind::kGeneral;
  general.lengths = {6, 2};
  general.key_row = {1, 0, 0};
  general.width = 20;
  general.query_width = 13;
  general.value_width = 5;
  const Case whole(general);
  const Buffers<float> in = regard::test::convert<float>(whole.inputs());
  Shape dot = general;
  dot.kind = ScoreKind::kDot;
  Buffers<float> projected = in;
  projected[test::kQuery].assign(3 * 20, 0.0f);
  projected[test::kW].clear();
  Arena workspace;
  general_project_forward({in[test::kQuery].data(), 3, 13}, {in[test::kW].data(), 13, 20},
                          {projected[test::kQuery].data(), 3, 20}, workspace);
  EXPECT_EQ(whole.run_forward(in), Case(dot).run_forward(projected));
}

// One chain over the whole road: what backward says of a step, forward does.
TEST(KeyGradients, GatherOverManyCallsAndReachTheKeysOnce) {
  for (const ScoreKind kind : kAllScores) {
    Shape s;
    s.kind = kind;
    s.lengths = {4, 7};
    s.key_row = {0, 1, 0, 1};
    s.width = s.query_width = 24;
    s.value_width = 10;
    const Case c(s);
    const Buffers<float> in = regard::test::convert<float>(c.inputs());
    const Buffers<float> out = c.run_forward(in);
    Buffers<float> whole;
    for (const auto& b : in) whole.emplace_back(b.size(), 0.5f);
    c.run_backward(in, out, whole);  // any gradients will do: the outputs themselves

    const ConstMatrix keys(in[test::kKeys].data(), s.key_rows(), 24, 24);
    const ConstMatrix values(in[test::kValues].data(), s.key_rows(), 10, 10);
    Arena arena, workspace;
    const PreparedKeys prepared = prepare_keys(c.score(in), keys, c.rows(), arena);
    KeyGradients sums = begin_key_gradients(prepared, 10, arena);
    Buffers<float> steps;
    for (const auto& b : in) steps.emplace_back(b.size(), 0.5f);
    const Vector d_v(steps[test::kV].data(), static_cast<Index>(steps[test::kV].size()));
    const Matrix d_w(steps[test::kW].data(), steps[test::kW].empty() ? 0 : 24, 24);
    for (Index i = 0; i < 4; ++i) {
      const ConstMatrix weights(out[test::kWeights].data() + 8 * i, 1, 8);
      attend_backward(prepared, values,
                      {{ConstMatrix(in[test::kQuery].data() + 24 * i, 1, 24), &s.key_row[i]},
                       weights,
                       ConstMatrix(out[test::kContext].data() + 10 * i, 1, 10),
                       weights},
                      sums, {Matrix(steps[test::kQuery].data() + 24 * i, 1, 24), d_v, d_w},
                      workspace);
    }
    finish_key_gradients(prepared, sums,
                         {{steps[test::kKeys].data(), s.key_rows(), 24},
                          {steps[test::kValues].data(), s.key_rows(), 10},
                          {}},
                         workspace);
    for (std::size_t b = 0; b < in.size(); ++b) {
      for (std::size_t n = 0; n < in[b].size(); ++n) {
        ASSERT_NEAR(steps[b][n], whole[b][n], 2e-6) << test::name_of(kind) << " input " << b;
      }
    }
  }
}

TEST(KeyGradients, OfKeysAndValuesMayMeetInOneMatrix) {
  const Index start = 0, length = 5;
  const std::vector<float> memory = regard::test::random_floats(5 * 16, 1);
  const std::vector<float> query = regard::test::random_floats(2 * 16, 2);
  const Index key_row[] = {0, 0};
  const ConstMatrix h(memory.data(), 5, 16);
  Arena arena, workspace;
  const PreparedKeys keys = prepare_keys(Score{}, h, {&start, &length, 1}, arena);
  std::vector<float> context(32), weights(10), apart(80), values(80), both(80);
  attend_forward(keys, h, {ConstMatrix(query.data(), 2, 16), key_row},
                 {Matrix(context.data(), 2, 16), Matrix(weights.data(), 2, 5), {}, {}}, workspace);
  KeyGradients sums = begin_key_gradients(keys, 16, arena);
  attend_backward(keys, h,
                  {{ConstMatrix(query.data(), 2, 16), key_row},
                   ConstMatrix(weights.data(), 2, 5),
                   ConstMatrix(context.data(), 2, 16),
                   {}},
                  sums, {}, workspace);
  finish_key_gradients(keys, sums, {{apart.data(), 5, 16}, {values.data(), 5, 16}, {}}, workspace);
  finish_key_gradients(keys, sums, {{both.data(), 5, 16}, {both.data(), 5, 16}, {}}, workspace);
  for (std::size_t n = 0; n < 80; ++n) EXPECT_EQ(both[n], apart[n] + values[n]);
}

}  // namespace
}  // namespace regard::attention
