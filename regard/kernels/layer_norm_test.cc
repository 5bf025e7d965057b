#include "regard/kernels/layer_norm.h"

#include <limits>
#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/layer_norm.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;

// Inputs x [R,N], gain [N], bias [N].
struct LayerNormOp {
  Index rows, cols;
  bool wants_d_x = true;

  Buffers<double> inputs(double middle = 0.0) const {
    return {test::random_values(rows * cols, 1, middle - 2.0, middle + 2.0),
            test::random_values(cols, 2), test::random_values(cols, 3)};
  }
  template <class T>
  struct Kept {
    explicit Kept(Index rows)
        : mean(static_cast<std::size_t>(rows)), scale(static_cast<std::size_t>(rows)) {}
    std::vector<T> mean, scale;
    VectorView<T> mean_view() { return {mean.data(), static_cast<Index>(mean.size())}; }
    VectorView<T> scale_view() { return {scale.data(), static_cast<Index>(scale.size())}; }
  };
  template <class T>
  Guarded<T> run(const Buffers<T>& in, Kept<T>& kept) const {
    const Guarded<T> x(rows, cols, in[0]);
    Guarded<T> y(rows, cols);
    const VectorView<const T> gain(in[1].data(), cols), bias(in[2].data(), cols);
    if constexpr (std::is_same_v<T, float>) {
      layer_norm_forward(x.view(), gain, bias, y.view(), {kept.mean_view(), kept.scale_view()});
    } else {
      reference::layer_norm_forward<T>(x.view(), gain, bias, y.view(),
                                       {kept.mean_view(), kept.scale_view()});
    }
    return y;
  }
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    Kept<T> kept(rows);
    return {run(in, kept).values()};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    Kept<T> kept(rows);
    run(in, kept);
    const Guarded<T> x(rows, cols, in[0]), d_y(rows, cols, d_out[0]);
    Guarded<T> d_x(rows, cols, d_in[0]);
    const VectorView<const T> gain(in[1].data(), cols);
    const VectorView<T> d_gain(d_in[1].data(), cols), d_bias(d_in[2].data(), cols);
    if constexpr (std::is_same_v<T, float>) {
      layer_norm_backward(x.view(), gain, {kept.mean_view(), kept.scale_view()}, d_y.view(),
                          {wants_d_x ? d_x.view() : Matrix(), d_gain, d_bias});
    } else {
      reference::layer_norm_backward<T>(x.view(), gain, {kept.mean_view(), kept.scale_view()},
                                        d_y.view(), {d_x.view(), d_gain, d_bias});
    }
    d_in[0] = d_x.values();
  }
};

TEST(LayerNorm, AgreesWithTheReferenceForwardAndBackward) {
  for (const Index cols : test::kLengths) {
    for (const Index rows : {0, 1, 5}) {
      const LayerNormOp op{rows, cols};
      EXPECT_EQ(check_op(op, op.inputs()), "") << rows << " x " << cols;
    }
  }
}

// Squares of the values themselves would lose half the digits of the variance here.
TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  const LayerNormOp op{3, 53};
  Buffers<double> in = op.inputs(256.0);
  EXPECT_EQ(test::compare("forward", op.forward(test::convert<float>(in)), op.forward(in), 1e-4),
            "");
}

TEST(LayerNorm, MakesRowsOfMeanZeroAndVarianceOne) {
  const LayerNormOp op{4, 53};
  Buffers<float> in = test::convert<float>(op.inputs(3.0));
  in[1].assign(53, 1.0f);
  in[2].assign(53, 0.0f);
  const std::vector<float> y = op.forward(in)[0];
  for (std::size_t r = 0; r < 4; ++r) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t j = 0; j < 53; ++j) {
      sum += y[r * 53 + j];
      squares += static_cast<double>(y[r * 53 + j]) * y[r * 53 + j];
    }
    EXPECT_NEAR(sum / 53, 0.0, 1e-6);
    EXPECT_NEAR(squares / 53, 1.0, 1e-4);
  }
}

TEST(LayerNorm, ARowOfEqualValuesBecomesTheBias) {
  test::on_each_isa([] {
    for (const Index cols : {1, 16, 17}) {
      const LayerNormOp op{1, cols};
      Buffers<float> in = test::convert<float>(op.inputs());
      in[0].assign(static_cast<std::size_t>(cols), 0.5f);
      EXPECT_EQ(op.forward(in)[0], in[2]);
    }
  });
}

TEST(LayerNorm, ARowsBitsDoNotDependOnItsNeighbours) {
  const LayerNormOp many{5, 53}, one{1, 53};
  const Buffers<float> in = test::convert<float>(many.inputs());
  const std::vector<float> all = many.forward(in)[0];
  Buffers<float> alone = in;
  alone[0].assign(in[0].begin() + 2 * 53, in[0].begin() + 3 * 53);
  EXPECT_TRUE(test::same_bits(one.forward(alone)[0],
                              std::vector<float>(all.begin() + 2 * 53, all.begin() + 3 * 53)));
}

TEST(LayerNorm, MayWorkInPlace) {
  const LayerNormOp op{1, 53};
  const Buffers<float> in = test::convert<float>(op.inputs());
  std::vector<float> x = in[0];
  float mean, scale;
  layer_norm_forward(ConstMatrix(x.data(), 1, 53), ConstVector(in[1].data(), 53),
                     ConstVector(in[2].data(), 53), Matrix(x.data(), 1, 53),
                     {Vector(&mean, 1), Vector(&scale, 1)});
  EXPECT_TRUE(test::same_bits(x, op.forward(in)[0]));
}

TEST(LayerNorm, ANullGradientOfTheInputIsLeftOutAndChangesNoOther) {
  const LayerNormOp op{5, 17}, without{5, 17, false};
  const Buffers<float> in = test::convert<float>(op.inputs());
  const Buffers<float> d_out = {test::random_floats(5 * 17, 4)};
  Buffers<float> want = in, got = in;
  op.backward(in, d_out, want);
  without.backward(in, d_out, got);
  EXPECT_TRUE(test::same_bits(got[0], in[0]));
  EXPECT_TRUE(test::same_bits(got[1], want[1]));
  EXPECT_TRUE(test::same_bits(got[2], want[2]));
}

TEST(LayerNorm, ANaNStaysInItsRow) {
  const LayerNormOp op{3, 17};
  Buffers<float> in = test::convert<float>(op.inputs());
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    in[0][17 + 16] = bad;
    test::on_each_isa([&] {
      const std::vector<float> y = op.forward(in)[0];
      for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 17 == 1);
    });
  }
}

// A check that cannot fail proves nothing: a backward that takes the statistics for constants.
struct ConstantStatistics : LayerNormOp {
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const std::vector<T> start = d_in[0];
    LayerNormOp::backward(in, d_out, d_in);
    if (!std::is_same_v<T, float>) return;
    Kept<T> kept(rows);
    run(in, kept);
    for (std::size_t i = 0; i < d_in[0].size(); ++i) {
      const std::size_t j = i % static_cast<std::size_t>(cols);
      d_in[0][i] =
          start[i] + d_out[0][i] * in[1][j] * kept.scale[i / static_cast<std::size_t>(cols)];
    }
  }
};

TEST(LayerNorm, ABackwardThatTakesTheStatisticsForConstantsIsFound) {
  const ConstantStatistics op{{2, 17}};
  EXPECT_NE(check_op(op, op.inputs()).find("gradient on"), std::string::npos);
}

}  // namespace
}  // namespace regard
