#include "regard/kernels/gru.h"

#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/packed_rows_test_util.h"
#include "regard/kernels/reference/gemm.h"
#include "regard/kernels/reference/gru.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;
using test::PackedLengths;

// Inputs gi, gh, h_prev; output h.
struct GruCellOp {
  Index rows, width;

  template <class T>
  Guarded<T> gates(const Buffers<T>& in, Guarded<T>& h) const {
    const Guarded<T> gi(rows, 3 * width, in[0]), gh(rows, 3 * width, in[1]);
    const Guarded<T> h_prev(rows, width, in[2]);
    Guarded<T> kept(rows, 4 * width);
    if constexpr (std::is_same_v<T, float>) {
      gru_cell_forward(gi.view(), gh.view(), h_prev.view(), h.view(), kept.view());
    } else {
      reference::gru_cell_forward<T>(gi.view(), gh.view(), h_prev.view(), h.view(), kept.view());
    }
    return kept;
  }
  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    Guarded<T> h(rows, width);
    gates(in, h);
    return {h.values()};
  }
  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    Guarded<T> h(rows, width);
    const Guarded<T> kept = gates(in, h), h_prev(rows, width, in[2]), d_h(rows, width, d_out[0]);
    Guarded<T> d_gi(rows, 3 * width), d_gh(rows, 3 * width), d_h_prev(rows, width, d_in[2]);
    if constexpr (std::is_same_v<T, float>) {
      gru_cell_backward(kept.view(), h_prev.view(), d_h.view(), d_gi.view(), d_gh.view(),
                        d_h_prev.view());
    } else {
      reference::gru_cell_backward<T>(kept.view(), h_prev.view(), d_h.view(), d_gi.view(),
                                      d_gh.view(), d_h_prev.view());
    }
    d_gi.add_to(d_in[0]);
    d_gh.add_to(d_in[1]);
    d_in[2] = d_h_prev.values();
  }
};

// Inputs gi [R,3H], U [3H,H], u [3H], h0 [B,H]; output h [R,H]. The weight gradients are made as a
// caller makes them.
struct GruSequenceOp {
  PackedLengths lengths;
  Index width;
  bool reverse;
  bool zero_start;

  Index total() const { return lengths.packing().total(); }
  Index sequences() const { return lengths.packing().max_rows(); }
  Buffers<double> inputs() const {
    return {test::random_values(total() * 3 * width, 1),
            test::random_values(3 * width * width, 2, -0.4, 0.4), test::random_values(3 * width, 3),
            test::random_values(sequences() * width, 4)};
  }

  template <class T>
  struct Run {
    Guarded<T> h, h_prev, gates;
  };
  template <class T>
  Run<T> run(const Buffers<T>& in) const {
    const Guarded<T> gi(total(), 3 * width, in[0]), h0(sequences(), width, in[3]);
    const MatrixView<const T> u(in[1].data(), 3 * width, width);
    const VectorView<const T> u_bias(in[2].data(), 3 * width);
    const MatrixView<const T> start = zero_start ? MatrixView<const T>() : h0.view();
    Run<T> r{Guarded<T>(total(), width), Guarded<T>(total(), width),
             Guarded<T>(total(), 4 * width)};
    if constexpr (std::is_same_v<T, float>) {
      std::vector<float> packed(static_cast<std::size_t>(packed_size(width, 3 * width)));
      Arena arena(256);
      gru_sequence_forward({lengths.packing(), reverse, start}, gi.view(),
                           pack_transposed(u, packed.data()), u_bias, r.h.view(), r.h_prev.view(),
                           r.gates.view(), arena);
    } else {
      reference::gru_sequence_forward<T>({lengths.packing(), reverse, start}, gi.view(), u, u_bias,
                                         r.h.view(), r.h_prev.view(), r.gates.view());
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
    const MatrixView<const T> u(in[1].data(), 3 * width, width);
    Guarded<T> d_gi(total(), 3 * width), d_gh(total(), 3 * width);
    Guarded<T> d_h0(sequences(), width, d_in[3]);
    const MatrixView<T> d_start = zero_start ? MatrixView<T>() : d_h0.view();
    if constexpr (std::is_same_v<T, float>) {
      std::vector<float> packed(static_cast<std::size_t>(packed_size(3 * width, width)));
      Arena arena(256);
      gru_sequence_backward({lengths.packing(), reverse, {}}, pack(u, packed.data()),
                            kept.h_prev.view(), kept.gates.view(), d_h.view(), d_gi.view(),
                            d_gh.view(), d_start, arena);
    } else {
      reference::gru_sequence_backward<T>({lengths.packing(), reverse, {}}, u, kept.h_prev.view(),
                                          kept.gates.view(), d_h.view(), d_gi.view(), d_gh.view(),
                                          d_start);
    }
    d_gi.add_to(d_in[0]);
    const Guarded<T>& d_gates = d_gh;
    reference::gemm_at_b<T>(d_gates.view(), kept.h_prev.view(), ChainStart::kContinue,
                            {d_in[1].data(), 3 * width, width});
    for (Index r = 0; r < total(); ++r) {
      for (Index g = 0; g < 3 * width; ++g) {
        d_in[2][static_cast<std::size_t>(g)] += d_gates.view()(r, g);
      }
    }
    d_in[3] = d_h0.values();
  }
};

TEST(GruCell, AgreesWithTheReferenceForwardAndBackward) {
  for (const Index width : test::kLengths) {
    const Buffers<double> inputs = {test::random_values(6 * width, 1, -3.0, 3.0),
                                    test::random_values(6 * width, 2, -3.0, 3.0),
                                    test::random_values(2 * width, 3)};
    EXPECT_EQ(check_op(GruCellOp{2, width}, inputs), "") << width;
  }
}

TEST(GruCell, GivesTheSameBitsWithoutGatesAndInPlace) {
  const GruCellOp op{2, 17};
  const std::vector<float> gi = test::random_floats(102, 1), gh = test::random_floats(102, 2);
  const std::vector<float> start = test::random_floats(34, 3);
  const std::vector<float> want = op.forward(Buffers<float>{gi, gh, start})[0];
  std::vector<float> h = start;
  gru_cell_forward({gi.data(), 2, 51}, {gh.data(), 2, 51}, {h.data(), 2, 17}, {h.data(), 2, 17},
                   {});
  EXPECT_TRUE(test::same_bits(h, want));
}

TEST(GruSequence, AgreesWithTheReferenceForwardAndBackward) {
  for (const bool reverse : {false, true}) {
    for (const Index width : {1, 15, 16, 17, 37}) {
      const GruSequenceOp op{PackedLengths({5, 5, 3, 1}), width, reverse, width == 16};
      EXPECT_EQ(check_op(op, op.inputs(), 2e-5), "") << width << (reverse ? " reverse" : "");
    }
  }
}

TEST(GruSequence, OfOneStepAndOfNoStepsWork) {
  const GruSequenceOp one{PackedLengths({1, 1}), 17, true, false};
  EXPECT_EQ(check_op(one, one.inputs()), "");
  const GruSequenceOp none{PackedLengths({}), 17, false, false};
  EXPECT_EQ(none.forward(test::convert<float>(none.inputs()))[0].size(), 0u);
}

// Each sequence alone, one cell at a time.
TEST(GruSequence, EqualsTheCellAppliedToEachSequenceAloneToTheBit) {
  constexpr Index kWidth = 21;
  for (const bool reverse : {false, true}) {
    const GruSequenceOp op{PackedLengths({7, 4, 4, 2, 1}), kWidth, reverse, false};
    const Buffers<float> in = test::convert<float>(op.inputs());
    test::on_each_isa([&] {
      const std::vector<float> all = op.forward(in)[0];
      std::vector<float> packed(static_cast<std::size_t>(packed_size(kWidth, 3 * kWidth)));
      const PackedMatrix u =
          pack_transposed(ConstMatrix(in[1].data(), 3 * kWidth, kWidth), packed.data());
      for (Index b = 0; b < op.sequences(); ++b) {
        const Index length = op.lengths.lengths[static_cast<std::size_t>(b)];
        const std::vector<float> gi = op.lengths.sequence(in[0], 3 * kWidth, b);
        std::vector<float> state(in[3].begin() + b * kWidth, in[3].begin() + (b + 1) * kWidth);
        std::vector<float> gh(3 * kWidth), h(static_cast<std::size_t>(length * kWidth));
        for (Index i = 0; i < length; ++i) {
          const Index t = reverse ? length - 1 - i : i;
          gemm({state.data(), 1, kWidth}, u, ChainStart::kBias, {in[2].data(), 3 * kWidth},
               {gh.data(), 1, 3 * kWidth});
          gru_cell_forward({gi.data() + t * 3 * kWidth, 1, 3 * kWidth}, {gh.data(), 1, 3 * kWidth},
                           {state.data(), 1, kWidth}, {state.data(), 1, kWidth}, {});
          std::copy(state.begin(), state.end(), h.begin() + t * kWidth);
        }
        EXPECT_TRUE(test::same_bits(h, op.lengths.sequence(all, kWidth, b)))
            << "sequence " << b << (reverse ? " reverse " : " ") << executed_isa();
      }
    });
  }
}

TEST(GruSequence, GivesTheSameBitsWhenNothingIsKept) {
  constexpr Index kWidth = 21;
  for (const bool reverse : {false, true}) {
    const GruSequenceOp op{PackedLengths({7, 4, 4, 2, 1}), kWidth, reverse, reverse};
    const Buffers<float> in = test::convert<float>(op.inputs());
    std::vector<float> packed(static_cast<std::size_t>(packed_size(kWidth, 3 * kWidth)));
    const PackedMatrix u =
        pack_transposed(ConstMatrix(in[1].data(), 3 * kWidth, kWidth), packed.data());
    const ConstMatrix h0 = reverse ? ConstMatrix() : ConstMatrix(in[3].data(), 5, kWidth);
    std::vector<float> h(static_cast<std::size_t>(op.total() * kWidth));
    Arena arena;
    gru_sequence_forward({op.lengths.packing(), reverse, h0},
                         {in[0].data(), op.total(), 3 * kWidth}, u, {in[2].data(), 3 * kWidth},
                         {h.data(), op.total(), kWidth}, {}, {}, arena);
    EXPECT_TRUE(test::same_bits(h, op.forward(in)[0])) << reverse;
    EXPECT_EQ(arena.mark().used, 0u);
  }
}

TEST(GruSequence, PassesTheSameGradientsOnWhenTheStartsGradientIsNotAskedFor) {
  for (const bool reverse : {false, true}) {
    GruSequenceOp op{PackedLengths({4, 3, 1}), 17, reverse, false};
    Buffers<float> in = test::convert<float>(op.inputs());
    std::fill(in[3].begin(), in[3].end(), 0.0f);  // so that both start from zeros
    const Buffers<float> d_h = {test::random_floats(op.total() * 17, 9)};
    Buffers<float> asked, not_asked;
    for (const auto& b : in) asked.emplace_back(b.size(), 0.0f);
    not_asked = asked;
    op.backward(in, d_h, asked);
    op.zero_start = true;
    op.backward(in, d_h, not_asked);
    for (const std::size_t b : {0, 1, 2}) EXPECT_TRUE(test::same_bits(asked[b], not_asked[b]));
  }
}

}  // namespace
}  // namespace regard
