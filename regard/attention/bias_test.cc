// Biases against the reference, forward and backward, on every instruction set; and every error.
#include "regard/attention/bias.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "regard/attention/reference/bias.h"
#include "regard/base/error.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard::attention {
namespace {

using regard::test::Buffers;
using regard::test::Guarded;

constexpr Index kHeads = 3;
constexpr Index kSentences = 2;
constexpr BiasKind kKinds[] = {BiasKind::kDense, BiasKind::kAlibi, BiasKind::kRelative};
constexpr DenseRows kDenseRows[] = {DenseRows::kOne, DenseRows::kPosition, DenseRows::kRow,
                                    DenseRows::kSentence, DenseRows::kHead};

// The scores of some rows at different places, and the values of a bias: what check_op() takes.
struct BiasOp {
  BiasKind kind = BiasKind::kDense;
  DenseRows dense_rows = DenseRows::kRow;
  Index values_rows = 1, values_cols = 1;  // of the dense bias, the slopes or the table
  std::vector<RowPlace> places;
  Index longest = 0;

  // Rows of two sentences, the second a third shorter, in three heads, at positions up to and
  // beyond the last key.
  BiasOp(BiasKind k, Index keys) : kind(k), longest(keys) {
    for (Index r = 0; r < 8; ++r) {
      RowPlace p;
      p.row = r;
      p.sentence = r % kSentences;
      p.position = std::vector<Index>{0, keys / 2, keys - 1, 3, keys, keys / 3, keys + 40, 17}[r];
      p.head = r % kHeads;
      p.keys = p.sentence == 0 ? keys : keys - keys / 3;
      places.push_back(p);
    }
  }
  BiasOp with(Index rows, Index cols) const {
    BiasOp out = *this;
    out.values_rows = rows;
    out.values_cols = cols;
    return out;
  }

  Buffers<double> inputs() const {
    return {test::random_values(static_cast<Index>(places.size()) * longest, 21),
            test::random_values(values_rows * values_cols, 22)};
  }

  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    Guarded<T> scores(static_cast<Index>(places.size()), longest, in[0]);
    const Guarded<T> values(values_rows, values_cols, in[1]);
    for (const RowPlace& p : places) {
      T* row = scores.view().row(p.row);
      if constexpr (std::is_same_v<T, float>) {
        add_bias(float_bias(values), p, row);
      } else {
        const auto bias = reference_bias<T>(values);
        for (Index j = 0; j < p.keys; ++j) row[j] += reference::bias_value(bias, p, j);
      }
    }
    return {scores.values()};
  }

  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Guarded<T> values(values_rows, values_cols, in[1]);
    const Guarded<T> d_scores(static_cast<Index>(places.size()), longest, d_out[0]);
    Guarded<T> d_values(values_rows, values_cols, d_in[1]);
    const MatrixView<T> all = d_values.view();
    for (const RowPlace& p : places) {
      const T* d_row = d_scores.view().row(p.row);
      if constexpr (std::is_same_v<T, float>) {
        bias_backward(float_bias(values), p, d_row, {all, {all.data, all.cols}, all});
      } else {
        for (Index j = 0; j < p.keys; ++j) {
          reference::bias_backward<T>(reference_bias<T>(values), p, j, d_row[j],
                                      {all, {all.data, all.cols}, all});
        }
      }
    }
    for (std::size_t k = 0; k < d_in[0].size(); ++k) d_in[0][k] += d_out[0][k];
    d_in[1] = d_values.values();
  }

 private:
  Bias float_bias(const Guarded<float>& values) const {
    Bias b;
    b.kind = kind;
    b.dense_rows = dense_rows;
    const ConstMatrix m = values.view();
    if (kind == BiasKind::kDense) b.dense = m;
    if (kind == BiasKind::kAlibi) b.slopes = {m.data, m.cols};
    if (kind == BiasKind::kRelative) b.table = m;
    return b;
  }
  template <class T>
  reference::BiasValues<T> reference_bias(const Guarded<T>& values) const {
    const MatrixView<const T> m = values.view();
    return {kind, m, dense_rows, {m.data, m.cols}, m};
  }
};

// Around blocks of sixteen and words of 64.
std::vector<Index> lengths() {
  std::vector<Index> n = test::kLengths;
  n.insert(n.end(), {63, 64, 65, 130});
  return n;
}

TEST(DenseBias, IsTheRowThatItIsAskedForAtEveryLength) {
  for (const DenseRows rows : kDenseRows) {
    for (const Index keys : lengths()) {
      // As many rows as positions need; columns may be more than the longest sentence.
      BiasOp op = BiasOp(BiasKind::kDense, keys).with(keys + 41 > 18 ? keys + 41 : 18, keys + 2);
      op.dense_rows = rows;
      EXPECT_EQ(test::check_op(op, op.inputs()), "") << static_cast<int>(rows) << ", " << keys;
    }
  }
}

// Slopes' gradients sum products with distances up to 130, hence the tolerance.
TEST(AlibiBias, FallsWithDistanceOnBothSidesAtEveryLength) {
  for (const Index keys : lengths()) {
    const BiasOp op = BiasOp(BiasKind::kAlibi, keys).with(1, kHeads);
    EXPECT_EQ(test::check_op(op, op.inputs(), 1e-5), "") << keys;
  }
}

TEST(RelativeBias, IsTheTableWithinItsReachAndItsEndsBeyondAtEveryLength) {
  for (const Index keys : lengths()) {
    for (const Index half_width : {0, 1, 7, 16, 64, 200}) {
      for (const Index rows : {Index{1}, kHeads}) {
        const BiasOp op = BiasOp(BiasKind::kRelative, keys).with(rows, 2 * half_width + 1);
        EXPECT_EQ(test::check_op(op, op.inputs()), "")
            << keys << ", " << half_width << ", " << rows;
      }
    }
  }
}

TEST(RelativeBias, CanBeAlibi) {
  std::vector<float> table(2 * 70 + 1), slopes = {0.25f};
  for (Index k = 0; k < 141; ++k) {
    table[static_cast<std::size_t>(k)] = -0.25f * std::fabs(static_cast<float>(k - 70));
  }
  Bias alibi, relative;
  alibi.kind = BiasKind::kAlibi;
  alibi.slopes = {slopes.data(), 1};
  relative.kind = BiasKind::kRelative;
  relative.table = {table.data(), 1, 141};
  RowPlace p;
  p.position = 20;
  p.keys = 65;
  std::vector<float> a = test::random_floats(65, 3), b = a;
  add_bias(alibi, p, a.data());
  add_bias(relative, p, b.data());
  EXPECT_TRUE(test::same_bits(a, b));
}

TEST(Bias, GivesTheSameBitsOnEachInstructionSet) {
  for (const BiasKind kind : kKinds) {
    const BiasOp op = BiasOp(kind, 130).with(kind == BiasKind::kAlibi ? 1 : 200, 133);
    const Buffers<float> in = test::convert<float>(op.inputs());
    const std::vector<float> d = test::random_floats(8 * 130, 5);
    // SSE4 too: nothing here fuses a multiplication with an addition.
    std::vector<float> first;
    test::on_each_isa([&] {
      std::vector<float> got = op.forward<float>(in)[0];
      Buffers<float> d_in = in;
      op.backward<float>(in, {d}, d_in);
      got.insert(got.end(), d_in[1].begin(), d_in[1].end());
      if (first.empty()) first = got;
      EXPECT_TRUE(test::same_bits(got, first)) << executed_isa();
    });
  }
}

TEST(Bias, OfKindNoneChangesNothing) {
  RowPlace p;
  p.keys = 3;
  std::vector<float> scores = {1, 2, 3};
  float d = 5.0f;
  add_bias({}, p, scores.data());
  bias_backward({}, p, scores.data(), {{&d, 1, 1}, {&d, 1}, {&d, 1, 1}});
  EXPECT_EQ(scores, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(d, 5.0f);
}

TEST(Bias, GradientsThatAreNotWantedAreLeftOut) {
  EXPECT_FALSE(BiasGradients().wanted());
  float d = 5.0f;
  EXPECT_TRUE((BiasGradients{{&d, 1, 1}, {}, {}}.wanted()));
  EXPECT_TRUE((BiasGradients{{}, {&d, 1}, {}}.wanted()));
  EXPECT_TRUE((BiasGradients{{}, {}, {&d, 1, 1}}.wanted()));
  RowPlace p;
  p.keys = 1;
  for (const BiasKind kind : kKinds) {
    const float value = 2.0f, d_score = 3.0f;
    Bias b;
    b.kind = kind;
    b.dense = b.table = {&value, 1, 1};
    b.slopes = {&value, 1};
    bias_backward(b, p, &d_score, {});  // would crash
  }
}

TEST(Bias, WithoutKeysChangesNothing) {
  const float value = 2.0f;
  float d = 5.0f;
  RowPlace p;
  p.position = 4;
  for (const BiasKind kind : kKinds) {
    Bias b;
    b.kind = kind;
    b.dense = b.table = {&value, 1, 1};
    b.slopes = {&value, 1};
    b.dense_rows = DenseRows::kOne;
    add_bias(b, p, nullptr);
    bias_backward(b, p, nullptr, {{&d, 1, 1}, {&d, 1}, {&d, 1, 1}});
  }
  EXPECT_EQ(d, 5.0f);
}

TEST(Bias, OfMinusInfinityIsLiveData) {
  const float infinite = -std::numeric_limits<float>::infinity();
  const std::vector<float> values = {0.5f, infinite};
  Bias b;
  b.kind = BiasKind::kDense;
  b.dense_rows = DenseRows::kOne;
  b.dense = {values.data(), 1, 2};
  RowPlace p;
  p.keys = 2;
  std::vector<float> scores = {1.0f, 1.0f};
  add_bias(b, p, scores.data());
  EXPECT_EQ(scores, (std::vector<float>{1.5f, infinite}));
}

// The sums of a row don't depend on where the other rows are: that a row is added to a gradient
// twice is twice the gradient.
TEST(Bias, GradientsAccumulateRowByRow) {
  for (const BiasKind kind : kKinds) {
    const BiasOp op = BiasOp(kind, 53).with(kind == BiasKind::kAlibi ? 1 : 100, 55);
    const Buffers<float> in = test::convert<float>(op.inputs());
    const std::vector<float> d = test::random_floats(8 * 53, 5);
    BiasOp one = op, twice = op;
    one.places = {op.places[2]};
    one.places[0].row = 0;
    twice.places = {one.places[0], one.places[0]};
    twice.places[1].row = 1;
    if (kind == BiasKind::kDense) one.dense_rows = twice.dense_rows = DenseRows::kPosition;
    const std::vector<float> d_one(d.begin(), d.begin() + 53);
    std::vector<float> d_two = d_one;
    d_two.insert(d_two.end(), d_one.begin(), d_one.end());
    Buffers<float> once = {std::vector<float>(53), std::vector<float>(in[1].size())};
    Buffers<float> doubled = {std::vector<float>(106), std::vector<float>(in[1].size())};
    one.backward<float>(in, {d_one}, once);
    twice.backward<float>(in, {d_two}, doubled);
    for (float& x : once[1]) x *= 2.0f;
    EXPECT_TRUE(test::same_bits(once[1], doubled[1]));
  }
}

TEST(AlibiSlopes, OfPowersOfTwoAreTheGeometricSequence) {
  for (const Index n : {1, 2, 4, 8, 16, 32, 64, 1024}) {
    std::vector<float> slopes(static_cast<std::size_t>(n));
    alibi_slopes(n, slopes.data());
    for (Index h = 0; h < n; ++h) {
      const double want = std::pow(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(n));
      // The nearest float; for whole exponents the power of two itself.
      EXPECT_EQ(slopes[static_cast<std::size_t>(h)], static_cast<float>(want)) << n << ", " << h;
    }
  }
}

TEST(AlibiSlopes, OfOtherNumbersAddEverySecondOfTheNextPower) {
  for (const Index n : {3, 5, 6, 7, 12, 20}) {
    Index lower = 1;
    while (2 * lower <= n) lower *= 2;
    std::vector<float> slopes(static_cast<std::size_t>(n)), low(static_cast<std::size_t>(lower)),
        high(static_cast<std::size_t>(2 * lower));
    alibi_slopes(n, slopes.data());
    alibi_slopes(lower, low.data());
    alibi_slopes(2 * lower, high.data());
    for (Index h = lower; h < n; ++h) {
      low.push_back(high[static_cast<std::size_t>(2 * (h - lower))]);
    }
    EXPECT_EQ(slopes, low) << n;
  }
}

TEST(AlibiSlopes, OfNoHeadsAreNone) { alibi_slopes(0, nullptr); }

template <class Fn>
void expect_shape_error(Fn fn, const std::string& message) {
  try {
    fn();
    ADD_FAILURE() << "nothing was thrown; wanted: " << message;
  } catch (const ShapeError& error) {
    EXPECT_EQ(error.what(), "attend_forward: " + message);
  }
}

// A bias of each kind that fits 3 heads, of which a test changes one thing.
class BiasChecks : public testing::Test {
 protected:
  Bias dense(DenseRows rows) const {
    Bias b;
    b.kind = BiasKind::kDense;
    b.dense = {data, 3, 10};
    b.dense_rows = rows;
    return b;
  }
  Bias alibi() const {
    Bias b;
    b.kind = BiasKind::kAlibi;
    b.slopes = {data, 3};
    return b;
  }
  Bias relative() const {
    Bias b;
    b.kind = BiasKind::kRelative;
    b.table = {data, 3, 9};
    return b;
  }
  static void check(const Bias& b) { check_bias("attend_forward", b, 3); }
  static void check(const Bias& b, const BiasGradients& g) {
    check_bias_gradients("attend_forward", b, g);
  }
  static void check(const Bias& b, const RowPlace& p) { check_bias_place("attend_forward", b, p); }
  static RowPlace place() {
    RowPlace p;
    p.keys = 10;
    p.row = p.sentence = p.position = p.head = 2;
    return p;
  }
  float data[100] = {};
};

TEST_F(BiasChecks, WhatFitsPasses) {
  EXPECT_NO_THROW(check(Bias()));
  EXPECT_NO_THROW(check(Bias(), place()));
  EXPECT_NO_THROW(check(Bias(), BiasGradients()));
  EXPECT_NO_THROW(check(alibi()));
  EXPECT_NO_THROW(check(alibi(), place()));
  EXPECT_NO_THROW(check(relative()));
  EXPECT_NO_THROW(check(relative(), place()));
  Bias one = relative();
  one.table.rows = 1;
  EXPECT_NO_THROW(check(one));
  for (const DenseRows rows : kDenseRows) {
    EXPECT_NO_THROW(check(dense(rows)));
    EXPECT_NO_THROW(check(dense(rows), place()));
  }
  EXPECT_NO_THROW(check(dense(DenseRows::kRow), {{data, 3, 10, 12}, {}, {}}));
  EXPECT_NO_THROW(check(alibi(), {{}, {data, 3}, {}}));
  EXPECT_NO_THROW(check(relative(), {{}, {}, {data, 3, 9}}));
}

TEST_F(BiasChecks, SlopesAreOneAHead) {
  Bias b = alibi();
  b.slopes.size = 4;
  expect_shape_error([&] { check(b); }, "ALiBi slopes, one a head: wanted 3, got 4");
}

TEST_F(BiasChecks, TablesHaveARowForEachHeadOrOneAndAnOddNumberOfColumns) {
  Bias b = relative();
  b.table.rows = 2;
  expect_shape_error([&] { check(b); },
                     "rows of the table of relative positions, one a head or 1: wanted 3, got 2");
  for (const Index columns : {0, 8}) {
    b = relative();
    b.table.cols = columns;
    expect_shape_error([&] { check(b); },
                       "columns of the table of relative positions, an odd number: wanted " +
                           std::to_string(columns + 1) + ", got " + std::to_string(columns));
  }
  b = relative();
  b.table.stride = 8;
  expect_shape_error([&] { check(b); },
                     "table of relative positions: stride 8 is less than its 9 columns");
}

TEST_F(BiasChecks, RowsOfADenseBiasDoNotOverlap) {
  Bias b = dense(DenseRows::kRow);
  b.dense.stride = 9;
  expect_shape_error([&] { check(b); }, "dense bias: stride 9 is less than its 10 columns");
}

TEST_F(BiasChecks, ADenseBiasByHeadHasARowForEach) {
  Bias b = dense(DenseRows::kHead);
  b.dense.rows = 4;
  expect_shape_error([&] { check(b); }, "dense bias rows, one a head: wanted 3, got 4");
}

TEST_F(BiasChecks, TheRowThatAPlaceTakesHasToBeThere) {
  const auto expect = [&](DenseRows rows, Index wanted, const std::string& what) {
    Bias b = dense(rows);
    b.dense.rows = wanted - 1;
    expect_shape_error([&] { check(b, place()); }, "dense bias rows" + what + ": wanted at least " +
                                                       std::to_string(wanted) + ", got " +
                                                       std::to_string(wanted - 1));
  };
  expect(DenseRows::kOne, 1, "");
  expect(DenseRows::kPosition, 3, ", one a position");
  expect(DenseRows::kRow, 3, ", one a row of the call");
  expect(DenseRows::kSentence, 3, ", one a sentence");
  expect(DenseRows::kHead, 3, ", one a head");
}

TEST_F(BiasChecks, ADenseBiasIsAsWideAsTheSentence) {
  Bias b = dense(DenseRows::kRow);
  b.dense.cols = 9;
  expect_shape_error([&] { check(b, place()); }, "dense bias columns: wanted at least 10, got 9");
}

TEST_F(BiasChecks, GradientsHaveTheShapesOfTheirBias) {
  expect_shape_error(
      [&] {
        check(dense(DenseRows::kRow), {{data, 2, 10}, {}, {}});
      },
      "d_dense rows: wanted 3, got 2");
  expect_shape_error(
      [&] {
        check(dense(DenseRows::kRow), {{data, 3, 11}, {}, {}});
      },
      "d_dense columns: wanted 10, got 11");
  expect_shape_error(
      [&] {
        check(dense(DenseRows::kRow), {{data, 3, 10, 9}, {}, {}});
      },
      "d_dense: stride 9 is less than its 10 columns");
  expect_shape_error([&] { check(alibi(), {{}, {data, 2}, {}}); }, "d_slopes: wanted 3, got 2");
  expect_shape_error(
      [&] {
        check(relative(), {{}, {}, {data, 1, 9}});
      },
      "d_table rows: wanted 3, got 1");
  expect_shape_error(
      [&] {
        check(relative(), {{}, {}, {data, 3, 7}});
      },
      "d_table columns: wanted 9, got 7");
}

TEST_F(BiasChecks, AGradientOfAnotherKindIsAnError) {
  expect_shape_error(
      [&] {
        check(alibi(), {{data, 3, 10}, {}, {}});
      },
      "d_dense rows: wanted 0, got 3");
  expect_shape_error([&] { check(relative(), {{}, {data, 3}, {}}); }, "d_slopes: wanted 0, got 3");
  expect_shape_error(
      [&] {
        check(Bias(), {{}, {}, {data, 3, 9}});
      },
      "d_table rows: wanted 0, got 3");
}

}  // namespace
}  // namespace regard::attention
