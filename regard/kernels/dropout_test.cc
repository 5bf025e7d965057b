#include "regard/kernels/dropout.h"

#include <limits>
#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/dropout.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;

constexpr std::uint64_t kKeys[] = {0x0123456789ABCDEFu, 0xFFFFFFFFFFFFFFFFu, 0u};
constexpr std::uint32_t kPositions[] = {0u, 7u, 0xFFFFFFFFu};
constexpr DropoutRows kThreeRows = {kKeys, kPositions};

struct DropoutOp {
  Index cols;
  float rate;

  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    const Guarded<T> x(3, cols, in[0]);
    Guarded<T> y(3, cols);
    if constexpr (std::is_same_v<T, float>) {
      dropout_forward(x.view(), kThreeRows, rate, y.view());
    } else {
      reference::dropout_forward<T>(x.view(), kThreeRows, rate, y.view());
    }
    return {y.values()};
  }
  template <class T>
  void backward(const Buffers<T>&, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Guarded<T> d_y(3, cols, d_out[0]);
    Guarded<T> d_x(3, cols, d_in[0]);
    if constexpr (std::is_same_v<T, float>) {
      dropout_backward(d_y.view(), kThreeRows, rate, d_x.view());
    } else {
      reference::dropout_backward<T>(d_y.view(), kThreeRows, rate, d_x.view());
    }
    d_in[0] = d_x.values();
  }
};

TEST(Dropout, AgreesWithTheReferenceForwardAndBackward) {
  for (const Index cols : {1, 15, 16, 17, 53, 64, 65, 200}) {
    for (const float rate : {0.0f, 0.2f, 0.75f}) {
      const Buffers<double> inputs = {test::random_values(3 * cols, 5)};
      EXPECT_EQ(check_op(DropoutOp{cols, rate}, inputs), "") << cols << " at " << rate;
    }
  }
}

TEST(Dropout, KeepsExactlyTheUnitsThatPhiloxNames) {
  constexpr Index kCols = 1003;
  const std::vector<float> ones(3 * kCols, 1.0f);
  test::on_each_isa([&] {
    std::vector<float> y(3 * kCols);
    dropout_forward(ConstMatrix(ones.data(), 3, kCols), kThreeRows, 0.3f,
                    Matrix(y.data(), 3, kCols));
    for (Index r = 0; r < 3; ++r) {
      for (Index j = 0; j < kCols; ++j) {
        const bool keep = reference::dropout_keeps(kKeys[r], kPositions[r], j, 0.3f);
        ASSERT_EQ(y[static_cast<std::size_t>(r * kCols + j)], keep ? 1.0f / (1.0f - 0.3f) : 0.0f)
            << executed_isa() << " row " << r << " unit " << j;
      }
    }
  });
}

TEST(Dropout, TheMaskOfARowDoesNotDependOnWhereTheRowLies) {
  const std::vector<float> x = test::random_floats(53, 8);
  std::vector<float> three(3 * 53), alone(53);
  std::vector<float> rows;
  for (int r = 0; r < 3; ++r) rows.insert(rows.end(), x.begin(), x.end());
  dropout_forward(ConstMatrix(rows.data(), 3, 53), kThreeRows, 0.5f, Matrix(three.data(), 3, 53));
  dropout_forward(ConstMatrix(x.data(), 1, 53), {kKeys + 2, kPositions + 2}, 0.5f,
                  Matrix(alone.data(), 1, 53));
  EXPECT_TRUE(test::same_bits(alone, {three.begin() + 2 * 53, three.end()}));
}

TEST(Dropout, RateOneGivesZerosEvenOfNaN) {
  test::on_each_isa([] {
    std::vector<float> x(3 * 17, std::numeric_limits<float>::quiet_NaN());
    dropout_forward(ConstMatrix(x.data(), 3, 17), kThreeRows, 1.0f, Matrix(x.data(), 3, 17));
    EXPECT_EQ(x, std::vector<float>(3 * 17, 0.0f));
  });
}

TEST(Dropout, DropsAboutTheAskedShare) {
  constexpr Index kCols = 40000;
  std::vector<float> x(kCols, 1.0f);
  dropout_forward(ConstMatrix(x.data(), 1, kCols), kThreeRows, 0.2f, Matrix(x.data(), 1, kCols));
  const double zeros = static_cast<double>(std::count(x.begin(), x.end(), 0.0f)) / kCols;
  EXPECT_NEAR(zeros, 0.2, 0.01);  // five standard deviations
}

}  // namespace
}  // namespace regard
