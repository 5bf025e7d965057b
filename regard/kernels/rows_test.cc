#include "regard/kernels/rows.h"

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/rows.h"

namespace regard {
namespace {

using test::Guarded;

class RowsOfLength : public testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Lengths, RowsOfLength, testing::ValuesIn(test::kLengths));

// Runs `kernel` and `twin` on the same two matrices; the second ones must come out equal to the
// bit, since additions in the same order round the same.
template <class Kernel, class Twin>
void expect_equal(Index x_rows, Index y_rows, Index cols, Kernel kernel, Twin twin) {
  const Guarded<float> x(x_rows, cols, test::random_floats(x_rows * cols, 1));
  const std::vector<float> start = test::random_floats(y_rows * cols, 2);
  Guarded<float> want(y_rows, cols, start);
  twin(x.view(), want.view());
  test::on_each_isa([&] {
    Guarded<float> got(y_rows, cols, start);
    kernel(x.view(), got.view());
    EXPECT_TRUE(test::same_bits(got.values(), want.values())) << executed_isa();
  });
}

TEST_P(RowsOfLength, AreCopiedAndAdded) {
  expect_equal(5, 5, GetParam(), copy_rows, reference::copy_rows<float>);
  expect_equal(5, 5, GetParam(), add_rows, reference::add_rows<float>);
}

TEST_P(RowsOfLength, AreGatheredWithZeroRowsWhereTheIndexIsMinusOne) {
  const Index index[] = {2, -1, 0, 2, 4, -1, 1};
  expect_equal(
      5, 7, GetParam(), [&](ConstMatrix x, Matrix y) { gather_rows(x, index, y); },
      [&](ConstMatrix x, Matrix y) { reference::gather_rows<float>(x, index, y); });
}

TEST_P(RowsOfLength, AreScatteredInRowOrderWithRepeatedTargets) {
  const Index index[] = {2, -1, 0, 2, 4, 2, 1};
  expect_equal(
      7, 5, GetParam(), [&](ConstMatrix x, Matrix y) { scatter_add_rows(x, index, y); },
      [&](ConstMatrix x, Matrix y) { reference::scatter_add_rows<float>(x, index, y); });
}

TEST_P(RowsOfLength, AreSummedAsOneChainOfAdditionsForEachColumn) {
  for (const Index rows : {0, 1, 7, 8, 9, 40}) {
    expect_equal(
        rows, 1, GetParam(),
        [](ConstMatrix x, Matrix y) { column_sums(x, Vector(y.data, y.cols)); },
        [](ConstMatrix x, Matrix y) {
          reference::column_sums<float>(x, VectorView<float>(y.data, y.cols));
        });
  }
}

TEST_P(RowsOfLength, AreFilledAndScaled) {
  expect_equal(
      3, 3, GetParam(), [](ConstMatrix, Matrix y) { fill(y, 2.5f); },
      [](ConstMatrix, Matrix y) { reference::fill(y, 2.5f); });
  expect_equal(
      3, 3, GetParam(), [](ConstMatrix, Matrix y) { scale(y, 0.3f); },
      [](ConstMatrix, Matrix y) { reference::scale(y, 0.3f); });
}

TEST(Rows, ContiguousMatricesAreCopiedAtOnce) {
  const std::vector<float> x = test::random_floats(34, 3);
  std::vector<float> y(34);
  copy_rows(ConstMatrix(x.data(), 2, 17), Matrix(y.data(), 2, 17));
  EXPECT_EQ(x, y);
  copy_rows(ConstMatrix(), Matrix());
}

}  // namespace
}  // namespace regard
