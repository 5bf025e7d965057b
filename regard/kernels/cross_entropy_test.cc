#include "regard/kernels/cross_entropy.h"

#include <limits>
#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/cross_entropy.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;

// W [V,U] packed both ways.
struct PackedLayer {
  PackedLayer(const std::vector<float>& w, Index vocabulary, Index width)
      : forward(static_cast<std::size_t>(packed_size(width, vocabulary))),
        backward(static_cast<std::size_t>(packed_size(vocabulary, width))) {
    const ConstMatrix plain(w.data(), vocabulary, width);
    packed = pack_transposed(plain, forward.data());
    packed_back = pack(plain, backward.data());
  }
  std::vector<float> forward, backward;
  PackedMatrix packed, packed_back;
};

// Inputs t [R,U], W [V,U], bias [V]; outputs the loss and log-probability of each row. The kernel
// makes the gradient of the sum of losses alone, so d_out is taken as 1 for each loss and 0 for
// each log-probability: the op hands the loss out once, summed.
struct CrossEntropyOp {
  Index rows, width, vocabulary;
  float label_smoothing;

  std::vector<std::int32_t> targets() const {
    std::vector<std::int32_t> t;
    for (Index r = 0; r < rows; ++r) t.push_back(static_cast<std::int32_t>(r * 7 % vocabulary));
    return t;
  }
  template <class T>
  struct Run {
    std::vector<T> log_prob, loss, d_bias;
    Guarded<T> d_t, d_w;
  };
  template <class T>
  Run<T> run(const Buffers<T>& in, const Buffers<T>& start, bool gradient) const {
    const Guarded<T> t(rows, width, in[0]);
    const auto count = static_cast<std::size_t>(rows);
    Run<T> r{std::vector<T>(count), std::vector<T>(count), start[2], Guarded<T>(rows, width),
             Guarded<T>(vocabulary, width, start[1])};
    const VectorView<T> log_prob(r.log_prob.data(), rows), loss(r.loss.data(), rows);
    const VectorView<T> d_bias(r.d_bias.data(), vocabulary);
    const VectorView<const T> bias(in[2].data(), vocabulary);
    if constexpr (std::is_same_v<T, float>) {
      const PackedLayer w(in[1], vocabulary, width);
      Arena arena(256);
      const LinearCrossEntropy layer{w.packed, gradient ? w.packed_back : PackedMatrix(), bias,
                                     label_smoothing};
      linear_cross_entropy(layer, t.view(), targets().data(), log_prob, loss, r.d_t.view(),
                           r.d_w.view(), d_bias, arena);
      EXPECT_EQ(arena.mark().used, 0u);
    } else {
      const reference::LinearCrossEntropy<T> layer{
          {in[1].data(), vocabulary, width}, bias, T(label_smoothing)};
      reference::linear_cross_entropy<T>(layer, t.view(), targets().data(), log_prob, loss,
                                         gradient ? r.d_t.view() : MatrixView<T>(),
                                         gradient ? r.d_w.view() : MatrixView<T>(), d_bias);
    }
    return r;
  }
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    const Run<T> r = run(in, in, false);
    T sum = 0;
    for (const T loss : r.loss) sum += loss;
    return {{sum}};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Buffers<T> zero = {{}, std::vector<T>(in[1].size()), std::vector<T>(in[2].size())};
    const Run<T> r = run(in, zero, true);
    const std::vector<T> gradients[] = {r.d_t.values(), r.d_w.values(), r.d_bias};
    for (std::size_t b = 0; b < 3; ++b) {
      for (std::size_t i = 0; i < d_in[b].size(); ++i) d_in[b][i] += d_out[0][0] * gradients[b][i];
    }
  }
  Buffers<double> inputs() const {
    return {test::random_values(rows * width, 1), test::random_values(vocabulary * width, 2),
            test::random_values(vocabulary, 3)};
  }
};

TEST(CrossEntropy, AgreesWithTheReferenceForwardAndBackward) {
  for (const Index vocabulary : test::kLengths) {
    for (const float smoothing : {0.0f, 0.1f}) {
      const CrossEntropyOp op{5, 19, vocabulary, smoothing};
      EXPECT_EQ(check_op(op, op.inputs(), 1e-5), "") << vocabulary << " " << smoothing;
    }
  }
}

TEST(CrossEntropy, OverwritesTheInputsGradientAndAddsToTheWeights) {
  const CrossEntropyOp op{3, 5, 17, 0.0f};
  const Buffers<float> in = test::convert<float>(op.inputs());
  const Buffers<float> zero = {{}, std::vector<float>(85, 0.0f), std::vector<float>(17, 0.0f)};
  const Buffers<float> one = {{}, std::vector<float>(85, 1.0f), std::vector<float>(17, 1.0f)};
  const auto a = op.run(in, zero, true), b = op.run(in, one, true);
  EXPECT_TRUE(test::same_bits(a.d_t.values(), b.d_t.values()));
  EXPECT_NEAR(b.d_bias[4], a.d_bias[4] + 1.0f, 1e-6);
  EXPECT_NEAR(b.d_w.values()[9], a.d_w.values()[9] + 1.0f, 1e-6);
}

// The vocabulary is large enough for several blocks of rows; row by row is the smallest block.
TEST(CrossEntropy, ResultsDoNotDependOnHowRowsAreCutIntoBlocks) {
  const CrossEntropyOp op{37, 3, 100001, 0.1f};
  const Buffers<float> in = test::convert<float>(op.inputs());
  const Buffers<float> start = {{}, in[1], in[2]};
  const auto all = op.run(in, start, true);
  const std::vector<float> d_t = all.d_t.values();
  const PackedLayer w(in[1], op.vocabulary, op.width);
  std::vector<float> d_w = in[1], d_bias = in[2];
  Arena arena;
  for (Index r = 0; r < op.rows; ++r) {
    float log_prob = 0.0f, loss = 0.0f, d_row[3];
    linear_cross_entropy(
        {w.packed, w.packed_back, {in[2].data(), op.vocabulary}, op.label_smoothing},
        {in[0].data() + 3 * r, 1, 3}, op.targets().data() + r, {&log_prob, 1}, {&loss, 1},
        {d_row, 1, 3}, {d_w.data(), op.vocabulary, 3}, {d_bias.data(), op.vocabulary}, arena);
    EXPECT_EQ(log_prob, all.log_prob[static_cast<std::size_t>(r)]);
    EXPECT_EQ(loss, all.loss[static_cast<std::size_t>(r)]);
    EXPECT_TRUE(std::equal(d_row, d_row + 3, d_t.begin() + 3 * r)) << r;
  }
  EXPECT_TRUE(test::same_bits(d_w, all.d_w.values()));
  EXPECT_TRUE(test::same_bits(d_bias, all.d_bias));
}

TEST(CrossEntropy, ScoresTheTargetWithTheBitsOfSearchAndOfTrainingWithoutGradients) {
  const CrossEntropyOp op{5, 19, 53, 0.1f};
  const Buffers<float> in = test::convert<float>(op.inputs());
  test::on_each_isa([&] {
    const auto trained = op.run(in, in, true), scored = op.run(in, in, false);
    EXPECT_TRUE(test::same_bits(trained.log_prob, scored.log_prob));
    EXPECT_TRUE(test::same_bits(trained.loss, scored.loss));
    const PackedLayer w(in[1], 53, 19);
    std::vector<float> logits(5 * 53);
    gemm({in[0].data(), 5, 19}, w.packed, ChainStart::kBias, {in[2].data(), 53},
         {logits.data(), 5, 53});
    log_softmax_rows({logits.data(), 5, 53});
    for (std::size_t r = 0; r < 5; ++r) {
      const auto target = static_cast<std::size_t>(op.targets()[r]);
      EXPECT_EQ(logits[r * 53 + target], trained.log_prob[r]) << executed_isa();
    }
  });
}

TEST(CrossEntropy, WithoutSmoothingTheLossIsMinusTheLogProbability) {
  const CrossEntropyOp op{5, 19, 53, 0.0f};
  const Buffers<float> in = test::convert<float>(op.inputs());
  const auto r = op.run(in, in, true);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(r.loss[i], -r.log_prob[i]);
}

TEST(CrossEntropy, ANullGradientOfTheInputsChangesNoOtherResult) {
  const CrossEntropyOp op{3, 5, 17, 0.0f};
  const Buffers<float> in = test::convert<float>(op.inputs());
  const auto want = op.run(in, in, true);
  const PackedLayer w(in[1], 17, 5);
  std::vector<float> log_prob(3), loss(3), d_w = in[1], d_bias = in[2];
  Arena arena;
  linear_cross_entropy({w.packed, w.packed_back, {in[2].data(), 17}, 0.0f}, {in[0].data(), 3, 5},
                       op.targets().data(), {log_prob.data(), 3}, {loss.data(), 3}, {},
                       {d_w.data(), 17, 5}, {d_bias.data(), 17}, arena);
  EXPECT_TRUE(test::same_bits(d_w, want.d_w.values()));
  EXPECT_TRUE(test::same_bits(d_bias, want.d_bias));
}

TEST(LogSoftmax, AgreesWithTheReferenceAndIsTheSameOnEachInstructionSet) {
  for (const Index n : test::kLengths) {
    const std::vector<double> x = test::random_values(3 * n, 9, -30.0, 30.0);
    std::vector<double> want = x;
    reference::log_softmax_rows(MatrixView<double>(want.data(), 3, n));
    const auto run = [&] {
      Guarded<float> m(3, n, {x.begin(), x.end()});
      log_softmax_rows(m.view());
      return m.values();
    };
    test::on_each_isa([&] {
      EXPECT_EQ(test::compare("log_softmax", Buffers<float>{run()}, {want}, 1e-6), "");
      const std::vector<float> row(x.begin(), x.begin() + n);
      EXPECT_NEAR(log_sum_exp(row.data(), n), reference::log_sum_exp(x.data(), n), 1e-5);
    });
    test::expect_same_bits_on_each_isa(run);
  }
}

TEST(LogSoftmax, IsExactOnOneValueAndHonestAboutInfAndNaN) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  test::on_each_isa([] {
    float one[] = {-1e30f};
    log_softmax_rows({one, 1, 1});
    EXPECT_EQ(one[0], 0.0f);
    float barred[] = {2.0f, -kInf, 2.0f};
    log_softmax_rows({barred, 1, 3});
    EXPECT_EQ(barred[1], -kInf);
    EXPECT_NEAR(barred[0], -std::log(2.0), 1e-7);
    float huge[] = {3e38f, -3e38f};
    log_softmax_rows({huge, 1, 2});
    EXPECT_EQ(huge[0], 0.0f);
    float bad[20] = {0.0f};
    bad[18] = std::numeric_limits<float>::quiet_NaN();
    log_softmax_rows({bad, 1, 20});
    for (const float v : bad) EXPECT_TRUE(std::isnan(v));
    float nothing[] = {-kInf, -kInf};
    EXPECT_TRUE(std::isnan(log_sum_exp(nothing, 2)));
  });
}

}  // namespace
}  // namespace regard
