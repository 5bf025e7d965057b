#include "regard/kernels/lstm.h"

#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/packed_rows_test_util.h"
#include "regard/kernels/reference/gemm.h"
#include "regard/kernels/reference/lstm.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;
using test::PackedLengths;

// Inputs gi, gh, c_prev; outputs h, c.
struct LstmCellOp {
  Index rows, width;

  template <class T>
  struct Run {
    Guarded<T> h, c, gates;
  };
  template <class T>
  Run<T> run(const Buffers<T>& in) const {
    const Guarded<T> gi(rows, 4 * width, in[0]), gh(rows, 4 * width, in[1]);
    const Guarded<T> c_prev(rows, width, in[2]);
    Run<T> r{Guarded<T>(rows, width), Guarded<T>(rows, width), Guarded<T>(rows, 4 * width)};
    if constexpr (std::is_same_v<T, float>) {
      lstm_cell_forward(gi.view(), gh.view(), c_prev.view(), r.h.view(), r.c.view(),
                        r.gates.view());
    } else {
      reference::lstm_cell_forward<T>(gi.view(), gh.view(), c_prev.view(), r.h.view(), r.c.view(),
                                      r.gates.view());
    }
    return r;
  }
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    const Run<T> r = run(in);
    return {r.h.values(), r.c.values()};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Run<T> kept = run(in);
    const Guarded<T> c_prev(rows, width, in[2]), d_h(rows, width, d_out[0]);
    const Guarded<T> d_c(rows, width, d_out[1]);
    Guarded<T> d_gates(rows, 4 * width), d_c_prev(rows, width, d_in[2]);
    if constexpr (std::is_same_v<T, float>) {
      lstm_cell_backward(kept.gates.view(), c_prev.view(), kept.c.view(), d_h.view(), d_c.view(),
                         d_gates.view(), d_c_prev.view());
    } else {
      reference::lstm_cell_backward<T>(kept.gates.view(), c_prev.view(), kept.c.view(), d_h.view(),
                                       d_c.view(), d_gates.view(), d_c_prev.view());
    }
    d_gates.add_to(d_in[0]);
    d_gates.add_to(d_in[1]);
    d_in[2] = d_c_prev.values();
  }
};

// Inputs gi [R,4H], U [4H,H], u [4H], h0 [B,H], c0 [B,H]; output h [R,H]. The weight gradients are
// made as a caller makes them.
struct LstmSequenceOp {
  PackedLengths lengths;
  Index width;
  bool reverse;
  bool zero_start;

  Index total() const { return lengths.packing().total(); }
  Index sequences() const { return lengths.packing().max_rows(); }
  Buffers<double> inputs() const {
    return {test::random_values(total() * 4 * width, 1),
            test::random_values(4 * width * width, 2, -0.4, 0.4), test::random_values(4 * width, 3),
            test::random_values(sequences() * width, 4),
            test::random_values(sequences() * width, 5)};
  }

  template <class T>
  struct Run {
    Guarded<T> h, h_prev, c, c_prev, gates;
  };
  template <class T>
  Run<T> run(const Buffers<T>& in) const {
    const Guarded<T> gi(total(), 4 * width, in[0]);
    const Guarded<T> h0(sequences(), width, in[3]), c0(sequences(), width, in[4]);
    const MatrixView<const T> u(in[1].data(), 4 * width, width);
    const VectorView<const T> u_bias(in[2].data(), 4 * width);
    const MatrixView<const T> h_start = zero_start ? MatrixView<const T>() : h0.view();
    const MatrixView<const T> c_start = zero_start ? MatrixView<const T>() : c0.view();
    Run<T> r{Guarded<T>(total(), width), Guarded<T>(total(), width), Guarded<T>(total(), width),
             Guarded<T>(total(), width), Guarded<T>(total(), 4 * width)};
    if constexpr (std::is_same_v<T, float>) {
      std::vector<float> packed(static_cast<std::size_t>(packed_size(width, 4 * width)));
      Arena arena(256);
      lstm_sequence_forward({lengths.packing(), reverse, h_start, c_start}, gi.view(),
                            pack_transposed(u, packed.data()), u_bias, r.h.view(), r.h_prev.view(),
                            r.c.view(), r.c_prev.view(), r.gates.view(), arena);
    } else {
      reference::lstm_sequence_forward<T>({lengths.packing(), reverse, h_start, c_start}, gi.view(),
                                          u, u_bias, r.h.view(), r.h_prev.view(), r.c.view(),
                                          r.c_prev.view(), r.gates.view());
    }
    return r;
  }
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    return {run(in).h.values()};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Run<T> kept = run(in);
    const Guarded<T> d_h(total(), width, d_out[0]);
    const MatrixView<const T> u(in[1].data(), 4 * width, width);
    Guarded<T> d_gates(total(), 4 * width);
    Guarded<T> d_h0(sequences(), width, d_in[3]), d_c0(sequences(), width, d_in[4]);
    const MatrixView<T> d_h_start = zero_start ? MatrixView<T>() : d_h0.view();
    const MatrixView<T> d_c_start = zero_start ? MatrixView<T>() : d_c0.view();
    if constexpr (std::is_same_v<T, float>) {
      std::vector<float> packed(static_cast<std::size_t>(packed_size(4 * width, width)));
      Arena arena(256);
      lstm_sequence_backward({lengths.packing(), reverse, {}, {}}, pack(u, packed.data()),
                             kept.c.view(), kept.c_prev.view(), kept.gates.view(), d_h.view(),
                             d_gates.view(), d_h_start, d_c_start, arena);
    } else {
      reference::lstm_sequence_backward<T>({lengths.packing(), reverse, {}, {}}, u, kept.c.view(),
                                           kept.c_prev.view(), kept.gates.view(), d_h.view(),
                                           d_gates.view(), d_h_start, d_c_start);
    }
    d_gates.add_to(d_in[0]);
    const Guarded<T>& d_gh = d_gates;
    reference::gemm_at_b<T>(d_gh.view(), kept.h_prev.view(), ChainStart::kContinue,
                            {d_in[1].data(), 4 * width, width});
    for (Index r = 0; r < total(); ++r) {
      for (Index g = 0; g < 4 * width; ++g) {
        d_in[2][static_cast<std::size_t>(g)] += d_gh.view()(r, g);
      }
    }
    d_in[3] = d_h0.values();
    d_in[4] = d_c0.values();
  }
};

TEST(LstmCell, AgreesWithTheReferenceForwardAndBackward) {
  for (const Index width : test::kLengths) {
    const Buffers<double> inputs = {test::random_values(8 * width, 1, -3.0, 3.0),
                                    test::random_values(8 * width, 2, -3.0, 3.0),
                                    test::random_values(2 * width, 3)};
    EXPECT_EQ(check_op(LstmCellOp{2, width}, inputs), "") << width;
  }
}

TEST(LstmCell, ANullGradientOfTheCellIsZero) {
  const LstmCellOp op{1, 17};
  const Buffers<float> in = {test::random_floats(68, 1), test::random_floats(68, 2),
                             test::random_floats(17, 3)};
  const auto kept = op.run(in);
  const std::vector<float> d_h = test::random_floats(17, 4), zeros(17, 0.0f);
  std::vector<float> a(68), b(68), d_a(17, 1.0f), d_b(17, 1.0f);
  lstm_cell_backward(kept.gates.view(), {in[2].data(), 1, 17}, kept.c.view(), {d_h.data(), 1, 17},
                     {}, {a.data(), 1, 68}, {d_a.data(), 1, 17});
  lstm_cell_backward(kept.gates.view(), {in[2].data(), 1, 17}, kept.c.view(), {d_h.data(), 1, 17},
                     {zeros.data(), 1, 17}, {b.data(), 1, 68}, {d_b.data(), 1, 17});
  EXPECT_EQ(a, b);
  EXPECT_EQ(d_a, d_b);
}

TEST(LstmSequence, AgreesWithTheReferenceForwardAndBackward) {
  for (const bool reverse : {false, true}) {
    for (const Index width : {1, 15, 16, 17, 37}) {
      const LstmSequenceOp op{PackedLengths({5, 5, 3, 1}), width, reverse, width == 16};
      EXPECT_EQ(check_op(op, op.inputs(), 2e-5), "") << width << (reverse ? " reverse" : "");
    }
  }
}

TEST(LstmSequence, OfOneStepAndOfNoStepsWork) {
  const LstmSequenceOp one{PackedLengths({1, 1}), 17, true, false};
  EXPECT_EQ(check_op(one, one.inputs()), "");
  const LstmSequenceOp none{PackedLengths({}), 17, false, false};
  EXPECT_EQ(none.forward(test::convert<float>(none.inputs()))[0].size(), 0u);
}

// Each sequence alone, one cell at a time, with the cell updated in place.
TEST(LstmSequence, EqualsTheCellAppliedToEachSequenceAloneToTheBit) {
  constexpr Index kWidth = 21, kGates = 4 * kWidth;
  for (const bool reverse : {false, true}) {
    const LstmSequenceOp op{PackedLengths({7, 4, 4, 2, 1}), kWidth, reverse, false};
    const Buffers<float> in = test::convert<float>(op.inputs());
    test::on_each_isa([&] {
      const std::vector<float> all = op.forward(in)[0];
      std::vector<float> packed(static_cast<std::size_t>(packed_size(kWidth, kGates)));
      const PackedMatrix u =
          pack_transposed(ConstMatrix(in[1].data(), kGates, kWidth), packed.data());
      for (Index b = 0; b < op.sequences(); ++b) {
        const Index length = op.lengths.lengths[static_cast<std::size_t>(b)];
        const std::vector<float> gi = op.lengths.sequence(in[0], kGates, b);
        std::vector<float> h(in[3].begin() + b * kWidth, in[3].begin() + (b + 1) * kWidth);
        std::vector<float> c(in[4].begin() + b * kWidth, in[4].begin() + (b + 1) * kWidth);
        std::vector<float> gh(kGates), outputs(static_cast<std::size_t>(length * kWidth));
        for (Index i = 0; i < length; ++i) {
          const Index t = reverse ? length - 1 - i : i;
          gemm({h.data(), 1, kWidth}, u, ChainStart::kBias, {in[2].data(), kGates},
               {gh.data(), 1, kGates});
          lstm_cell_forward({gi.data() + t * kGates, 1, kGates}, {gh.data(), 1, kGates},
                            {c.data(), 1, kWidth}, {h.data(), 1, kWidth}, {c.data(), 1, kWidth},
                            {});
          std::copy(h.begin(), h.end(), outputs.begin() + t * kWidth);
        }
        EXPECT_TRUE(test::same_bits(outputs, op.lengths.sequence(all, kWidth, b)))
            << "sequence " << b << (reverse ? " reverse " : " ") << executed_isa();
      }
    });
  }
}

TEST(LstmSequence, GivesTheSameBitsWhenNothingIsKept) {
  constexpr Index kWidth = 21, kGates = 4 * kWidth;
  for (const bool reverse : {false, true}) {
    const LstmSequenceOp op{PackedLengths({7, 4, 4, 2, 1}), kWidth, reverse, reverse};
    const Buffers<float> in = test::convert<float>(op.inputs());
    std::vector<float> packed(static_cast<std::size_t>(packed_size(kWidth, kGates)));
    const PackedMatrix u =
        pack_transposed(ConstMatrix(in[1].data(), kGates, kWidth), packed.data());
    const ConstMatrix h0 = reverse ? ConstMatrix() : ConstMatrix(in[3].data(), 5, kWidth);
    const ConstMatrix c0 = reverse ? ConstMatrix() : ConstMatrix(in[4].data(), 5, kWidth);
    std::vector<float> h(static_cast<std::size_t>(op.total() * kWidth));
    Arena arena;
    lstm_sequence_forward({op.lengths.packing(), reverse, h0, c0},
                          {in[0].data(), op.total(), kGates}, u, {in[2].data(), kGates},
                          {h.data(), op.total(), kWidth}, {}, {}, {}, {}, arena);
    EXPECT_TRUE(test::same_bits(h, op.forward(in)[0])) << reverse;
    EXPECT_EQ(arena.mark().used, 0u);
  }
}

}  // namespace
}  // namespace regard
