#include "regard/kernels/activations.h"

#include <array>
#include <limits>
#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/activations.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;

enum class Function { kTanh, kLogistic, kRelu };

// Forward and backward of each function, as kernels in float and as plain loops in double.
template <class T>
struct Pair {
  void (*forward)(MatrixView<const T>, MatrixView<T>);
  void (*backward)(MatrixView<const T>, MatrixView<const T>, MatrixView<T>);
};
template <class T>
Pair<T> pair_of(Function function) {
  const auto i = static_cast<std::size_t>(function);
  if constexpr (std::is_same_v<T, float>) {
    return std::array<Pair<T>, 3>{{{tanh_forward, tanh_backward},
                                   {logistic_forward, logistic_backward},
                                   {relu_forward, relu_backward}}}[i];
  } else {
    return std::array<Pair<T>, 3>{
        {{reference::tanh_forward<T>, reference::tanh_backward<T>},
         {reference::logistic_forward<T>, reference::logistic_backward<T>},
         {reference::relu_forward<T>, reference::relu_backward<T>}}}[i];
  }
}

struct ActivationOp {
  Function function;
  Index rows, cols;

  template <class T>
  Guarded<T> run(const Buffers<T>& in) const {
    const Guarded<T> x(rows, cols, in[0]);
    Guarded<T> y(rows, cols);
    pair_of<T>(function).forward(x.view(), y.view());
    return y;
  }
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    return {run(in).values()};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Guarded<T> y = run(in), d_y(rows, cols, d_out[0]);
    Guarded<T> d_x(rows, cols, d_in[0]);
    pair_of<T>(function).backward(y.view(), d_y.view(), d_x.view());
    d_in[0] = d_x.values();
  }
};

TEST(Activations, AgreeWithTheReferenceForwardAndBackward) {
  for (const Index cols : test::kLengths) {
    const Buffers<double> inputs = {test::random_values(3 * cols, 5, -4.0, 4.0)};
    EXPECT_EQ(check_op(ActivationOp{Function::kTanh, 3, cols}, inputs), "") << cols;
    EXPECT_EQ(check_op(ActivationOp{Function::kLogistic, 3, cols}, inputs), "") << cols;
    // No value so near to the kink that a step of the central differences crosses it.
    for (const double x : inputs[0]) ASSERT_GT(std::fabs(x), 1e-4);
    EXPECT_EQ(check_op(ActivationOp{Function::kRelu, 3, cols}, inputs), "") << cols;
  }
}

TEST(Activations, MayWorkInPlace) {
  const std::vector<float> x = test::random_floats(53, 6, -3.0, 3.0);
  std::vector<float> apart(53), in_place = x;
  tanh_forward(ConstMatrix(x.data(), 1, 53), Matrix(apart.data(), 1, 53));
  tanh_forward(ConstMatrix(in_place.data(), 1, 53), Matrix(in_place.data(), 1, 53));
  EXPECT_TRUE(test::same_bits(apart, in_place));
}

TEST(Activations, SaturateExactlyAndPassNaNOn) {
  test::on_each_isa([] {
    const float x[] = {-200.0f, 200.0f, std::numeric_limits<float>::quiet_NaN()};
    float y[3], d_x[3] = {1.0f, 1.0f, 1.0f};
    const float d_y[] = {1.0f, 1.0f, 1.0f};
    tanh_forward(ConstMatrix(x, 1, 3), Matrix(y, 1, 3));
    EXPECT_EQ(y[0], -1.0f);
    EXPECT_EQ(y[1], 1.0f);
    EXPECT_TRUE(std::isnan(y[2]));
    tanh_backward(ConstMatrix(y, 1, 3), ConstMatrix(d_y, 1, 3), Matrix(d_x, 1, 3));
    EXPECT_EQ(d_x[0], 1.0f);
    EXPECT_EQ(d_x[1], 1.0f);
    EXPECT_TRUE(std::isnan(d_x[2]));
  });
}

TEST(Activations, TheRectifierCutsAtZeroAndPassesNaNOn) {
  test::on_each_isa([] {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float x[] = {-2.0f, 0.0f, 3.0f, nan};
    float y[4], d_x[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    const float d_y[] = {nan, nan, 0.5f, 0.5f};
    relu_forward(ConstMatrix(x, 1, 4), Matrix(y, 1, 4));
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_EQ(y[1], 0.0f);
    EXPECT_EQ(y[2], 3.0f);
    EXPECT_TRUE(std::isnan(y[3]));
    relu_backward(ConstMatrix(y, 1, 4), ConstMatrix(d_y, 1, 4), Matrix(d_x, 1, 4));
    EXPECT_EQ(d_x[0], 1.0f);
    EXPECT_EQ(d_x[1], 1.0f);
    EXPECT_EQ(d_x[2], 1.5f);
    EXPECT_TRUE(std::isnan(d_x[3]));
  });
}

// The check itself: an op whose gradient or value is slightly wrong must not pass.
struct WrongGradient : ActivationOp {
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    ActivationOp::backward(in, d_out, d_in);
    if (std::is_same_v<T, float>) d_in[0][7] += T(1e-4);
  }
};
struct WrongReference : ActivationOp {
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    ActivationOp::backward(in, d_out, d_in);
    d_in[0][3] += T(1e-4);
  }
};
struct WrongBits : ActivationOp {
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    Buffers<T> out = ActivationOp::forward(in);
    if (std::is_same_v<T, float> && current_isa() == Isa::kScalar) {
      out[0][3] = std::nextafter(out[0][3], T(9));
    }
    return out;
  }
};

TEST(OpCase, FindsAWrongGradientAWrongReferenceAndBitsThatDiffer) {
  const Buffers<double> inputs = {test::random_values(17, 5)};
  EXPECT_NE(check_op(WrongGradient{{Function::kTanh, 1, 17}}, inputs).find("gradient on"),
            std::string::npos);
  EXPECT_NE(check_op(WrongReference{{Function::kTanh, 1, 17}}, inputs).find("central differences"),
            std::string::npos);
  if (!has_isa(Isa::kAvx2) && !has_isa(Isa::kNeon)) GTEST_SKIP() << "one instruction set only";
  EXPECT_NE(check_op(WrongBits{{Function::kTanh, 1, 17}}, inputs).find("bits differ"),
            std::string::npos);
}

}  // namespace
}  // namespace regard
