// LayerNorm and FeedForward: parameters, equations, gradients.
#include "regard/nn/feed_forward.h"

#include <gtest/gtest.h>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/shape_check.h"
#include "regard/base/error.h"

namespace regard {
namespace {

std::vector<std::string> names(const Parameters& p) {
  std::vector<std::string> out;
  for (const ParameterInfo& info : p.infos())
    out.push_back(info.name + extents(info.rows, info.cols));
  return out;
}

void start(Parameters& p) {
  p.allocate();
  p.initialise(5);
  Threads alone;
  p.pack(alone, true);
}

TEST(LayerNorm, StartsWithGainOneAndBiasZero) {
  Parameters p;
  const LayerNorm norm = LayerNorm::make(p, "n", 3);
  EXPECT_EQ(names(p), (std::vector<std::string>{"n.gain[1,3]", "n.bias[1,3]"}));
  EXPECT_THROW(LayerNorm::make(p, "n", 3), ConfigError);
  start(p);
  std::vector<float> x = {1.0f, 2.0f, 3.0f};
  Tape tape(p, nullptr);
  const Var y = norm(tape, {{x.data(), 1, 3}, {}});
  EXPECT_NEAR(y.value(0, 0), -std::sqrt(1.5), 1e-5);
  EXPECT_EQ(y.value(0, 1), 0.0f);
  EXPECT_EQ(y.value(0, 2), -y.value(0, 0));
}

TEST(FeedForward, NamesTwoLinearLayers) {
  Parameters p;
  FeedForward::make(p, "f", 3, 8);
  EXPECT_EQ(names(p), (std::vector<std::string>{"f.inner.weight[8,3]", "f.inner.bias[1,8]",
                                                "f.outer.weight[3,8]", "f.outer.bias[1,3]"}));
}

// The equation of the header in double.
std::vector<double> plain(const Parameters& p, const float* x, const std::vector<float>& kept) {
  const auto at = [&](const char* name) { return p.value(p.find(name)); };
  std::vector<double> inner, y;
  for (Index i = 0; i < 8; ++i) {
    double sum = at("f.inner.bias")(0, i);
    for (Index k = 0; k < 3; ++k)
      sum += static_cast<double>(at("f.inner.weight")(i, k)) * static_cast<double>(x[k]);
    inner.push_back(std::max(sum, 0.0) * static_cast<double>(kept[static_cast<size_t>(i)]));
  }
  for (Index i = 0; i < 3; ++i) {
    double sum = at("f.outer.bias")(0, i);
    for (Index k = 0; k < 8; ++k)
      sum += static_cast<double>(at("f.outer.weight")(i, k)) * inner[static_cast<size_t>(k)];
    y.push_back(sum);
  }
  return y;
}

TEST(FeedForward, IsItsEquationWithAndWithoutDropout) {
  Parameters p;
  const FeedForward layer = FeedForward::make(p, "f", 3, 8);
  start(p);
  Tape tape(p, nullptr);
  std::vector<float> x = test::random_floats(6, 1, -2.0, 2.0);
  const Var rows{{x.data(), 2, 3}, {}};
  const std::uint64_t keys[] = {5, 6};
  const std::uint32_t positions[] = {0, 1};
  // What dropout does to ones is its mask.
  const Var ones = tape.make(2, 8);
  std::fill_n(ones.value.data, 16, 1.0f);
  for (const float rate : {0.0f, 0.5f}) {
    const DropoutRows dropped{keys, positions};
    const Var mask = dropout(tape, ones, dropped, rate);
    const Var y = rate == 0.0f ? layer(tape, rows) : layer(tape, rows, dropped, rate);
    for (Index r = 0; r < 2; ++r) {
      const std::vector<double> want =
          plain(p, rows.value.row(r), {mask.value.row(r), mask.value.row(r) + 8});
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(y.value(r, j), want[static_cast<size_t>(j)], 2e-6) << rate;
    }
  }
}

// The operations have their own checks; here, that each parameter takes part once.
TEST(FeedForward, WithNormAndResidualGivesEveryParameterAGradient) {
  Parameters p;
  const LayerNorm norm = LayerNorm::make(p, "n", 3);
  const FeedForward layer = FeedForward::make(p, "f", 3, 8);
  start(p);
  Gradients gradients(p);
  Tape tape(p, &gradients);
  const Var x = tape.make(4, 3);
  const std::vector<float> values = test::random_floats(12, 1);
  std::copy(values.begin(), values.end(), x.value.data);
  const Var y = add(tape, x, layer(tape, norm(tape, x)));
  const std::vector<float> d_y = test::random_floats(12, 2);
  std::copy(d_y.begin(), d_y.end(), y.grad.data);
  tape.backward();
  for (int i = 0; i < p.count(); ++i) {
    const Vector d = gradients.vector({i});
    EXPECT_TRUE(std::any_of(d.begin(), d.end(), [](float v) { return v != 0.0f; }))
        << p.info({i}).name;
  }
  for (size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(gradients.vector(p.find("f.outer.bias"))[static_cast<Index>(j)],
              ((d_y[j] + d_y[3 + j]) + d_y[6 + j]) + d_y[9 + j]);
    EXPECT_NE(x.grad(0, static_cast<Index>(j)), d_y[j]);  // the residual's alone
  }
}

}  // namespace
}  // namespace regard
