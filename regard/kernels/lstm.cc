// As gru.cc: one product and one pass over the buffers for each step. tanh(c) is made again in
// backward: it costs less than storing and reading it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/lstm.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/lstm.h"
#include "regard/kernels/math-inl.h"
#include "regard/kernels/sequence.h"

#ifndef REGARD_KERNELS_LSTM_ARGUMENTS
#define REGARD_KERNELS_LSTM_ARGUMENTS
namespace regard {
// The buffers of one step. next_h and next_c take second copies of their first rows of h and c and
// may have no rows; c and gates may be null; c and next_c may be c_prev.
struct LstmForward {
  ConstMatrix gi, gh, c_prev;
  Matrix h, c, gates, next_h, next_c;
};
struct LstmBackward {
  ConstMatrix gates, c_prev, c, d_h;
  ConstMatrix more_d_h;  // added to d_h; may be null
  ConstMatrix d_c;       // may be null
  Matrix d_gates, d_c_prev;
};
}  // namespace regard
#endif

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

HWY_INLINE float* row_or_null(Matrix m, Index row) {
  return m.data != nullptr && row < m.rows ? m.row(row) : nullptr;
}

void lstm_forward_impl(const LstmForward& a) noexcept {
  const Index width = a.h.cols;
  for (Index row = 0; row < a.h.rows; ++row) {
    const float* in = a.gi.row(row);
    const float* recurrent = a.gh.row(row);
    const float* before = a.c_prev.row(row);
    float* h = a.h.row(row);
    float* c = row_or_null(a.c, row);
    float* kept = row_or_null(a.gates, row);
    float* next_h = row_or_null(a.next_h, row);
    float* next_c = row_or_null(a.next_c, row);
    for_blocks(width, [&](Index j, auto block) HWY_ATTR {
      const auto sum = [&](Index gate) HWY_ATTR {
        const Index at = gate * width + j;
        return add(load(in + at, block), load(recurrent + at, block));
      };
      const F16 i = logistic(sum(0));
      const F16 f = logistic(sum(1));
      const F16 g = tanh(sum(2));
      const F16 o = logistic(sum(3));
      const F16 cell = fma(f, load(before + j, block), mul(i, g));
      const F16 value = mul(o, tanh(cell));
      store(value, h + j, block);
      if (c != nullptr) store(cell, c + j, block);
      if (next_h != nullptr) store(value, next_h + j, block);
      if (next_c != nullptr) store(cell, next_c + j, block);
      if (kept != nullptr) {
        store(i, kept + j, block);
        store(f, kept + width + j, block);
        store(g, kept + 2 * width + j, block);
        store(o, kept + 3 * width + j, block);
      }
    });
  }
}

// kCarry: d_c_prev is overwritten and may be d_c. Otherwise it grows.
template <bool kCarry>
HWY_INLINE void lstm_backward_rows(const LstmBackward& a) {
  const Index width = a.d_h.cols;
  const F16 one = set(1.0f);
  for (Index row = 0; row < a.d_h.rows; ++row) {
    const float* kept = a.gates.row(row);
    const float* before = a.c_prev.row(row);
    const float* c = a.c.row(row);
    const float* d_h = a.d_h.row(row);
    const float* more_d_h = a.more_d_h.data != nullptr ? a.more_d_h.row(row) : nullptr;
    const float* d_c = a.d_c.data != nullptr ? a.d_c.row(row) : nullptr;
    float* d_gates = a.d_gates.row(row);
    float* d_before = a.d_c_prev.row(row);
    for_blocks(width, [&](Index j, auto block) HWY_ATTR {
      const F16 i = load(kept + j, block);
      const F16 f = load(kept + width + j, block);
      const F16 g = load(kept + 2 * width + j, block);
      const F16 o = load(kept + 3 * width + j, block);
      const F16 tanh_c = tanh(load(c + j, block));
      F16 d = load(d_h + j, block);
      if (more_d_h != nullptr) d = add(d, load(more_d_h + j, block));
      F16 d_cell = mul(mul(d, o), fnma(tanh_c, tanh_c, one));
      if (d_c != nullptr) d_cell = add(d_cell, load(d_c + j, block));
      store(mul(mul(d_cell, g), mul(i, sub(one, i))), d_gates + j, block);
      store(mul(mul(d_cell, load(before + j, block)), mul(f, sub(one, f))), d_gates + width + j,
            block);
      store(mul(mul(d_cell, i), fnma(g, g, one)), d_gates + 2 * width + j, block);
      store(mul(mul(d, tanh_c), mul(o, sub(one, o))), d_gates + 3 * width + j, block);
      store(kCarry ? mul(d_cell, f) : fma(d_cell, f, load(d_before + j, block)), d_before + j,
            block);
    });
  }
}

void lstm_backward_impl(const LstmBackward& a) noexcept { lstm_backward_rows<false>(a); }
void lstm_backward_carry_impl(const LstmBackward& a) noexcept { lstm_backward_rows<true>(a); }

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(lstm_forward_impl);
REGARD_DISPATCH_TABLE(lstm_backward_impl);
REGARD_DISPATCH_TABLE(lstm_backward_carry_impl);

void lstm_cell_forward(ConstMatrix gi, ConstMatrix gh, ConstMatrix c_prev, Matrix h, Matrix c,
                       Matrix gates) noexcept {
  REGARD_DISPATCH(lstm_forward_impl)
  (LstmForward{gi, gh, c_prev, h, c, gates, Matrix(), Matrix()});
}

void lstm_cell_backward(ConstMatrix gates, ConstMatrix c_prev, ConstMatrix c, ConstMatrix d_h,
                        ConstMatrix d_c, Matrix d_gates, Matrix d_c_prev) noexcept {
  REGARD_DISPATCH(lstm_backward_impl)
  (LstmBackward{gates, c_prev, c, d_h, ConstMatrix(), d_c, d_gates, d_c_prev});
}

void lstm_sequence_forward(const LstmSequence& sequence, ConstMatrix gi, const PackedMatrix& u,
                           ConstVector u_bias, Matrix h, Matrix h_prev, Matrix c, Matrix c_prev,
                           Matrix gates, Arena& arena) {
  const Packing& packing = sequence.packing;
  const ArenaScope scope(arena);
  const Matrix gh_all = arena.matrix(packing.max_rows(), u.n);
  const StateBefore before_h(h_prev, packing, h.cols, arena);
  const StateBefore before_c(c_prev, packing, h.cols, arena);
  for (Index i = 0; i < packing.steps; ++i) {
    const auto [t, continued] = sequence_step(packing, sequence.reverse, i);
    const Matrix state = before_h.rows(t);
    const Matrix cell = before_c.rows(t);
    start_rows(sequence.h0, continued, state);
    start_rows(sequence.c0, continued, cell);
    const Matrix gh = gh_all.row_slice(0, packing.rows(t));
    gemm(state, u, ChainStart::kBias, u_bias, gh);
    Matrix next_h, next_c;
    if (i + 1 < packing.steps) {
      const SequenceStep following = sequence_step(packing, sequence.reverse, i + 1);
      next_h = before_h.rows(following.t).row_slice(0, following.continued);
      next_c = before_c.rows(following.t).row_slice(0, following.continued);
    }
    REGARD_DISPATCH(lstm_forward_impl)
    (LstmForward{step_rows(gi, packing, t), gh, cell, step_rows(h, packing, t),
                 step_rows(c, packing, t), step_rows(gates, packing, t), next_h, next_c});
  }
}

void lstm_sequence_backward(const LstmSequence& sequence, const PackedMatrix& u_back, ConstMatrix c,
                            ConstMatrix c_prev, ConstMatrix gates, ConstMatrix d_h, Matrix d_gates,
                            Matrix d_h0, Matrix d_c0, Arena& arena) {
  const Packing& packing = sequence.packing;
  const ArenaScope scope(arena);
  // What flows from the steps run later into each sequence's state; zero where none did yet.
  const Matrix carry_h_all = arena.zero_matrix(packing.max_rows(), d_h.cols);
  const Matrix carry_c_all = arena.zero_matrix(packing.max_rows(), d_h.cols);
  for (Index i = packing.steps - 1; i >= 0; --i) {
    const auto [t, continued] = sequence_step(packing, sequence.reverse, i);
    const Matrix carry_h = carry_h_all.row_slice(0, packing.rows(t));
    const Matrix carry_c = carry_c_all.row_slice(0, packing.rows(t));
    const Matrix d_gates_step = step_rows(d_gates, packing, t);
    REGARD_DISPATCH(lstm_backward_carry_impl)
    (LstmBackward{step_rows(gates, packing, t), step_rows(c_prev, packing, t),
                  step_rows(c, packing, t), step_rows(d_h, packing, t), carry_h, carry_c,
                  d_gates_step, carry_c});
    // Nobody reads what flows into a start value unless it is asked for.
    const Index needed = d_h0.data != nullptr ? carry_h.rows : continued;
    gemm(d_gates_step.row_slice(0, needed), u_back, ChainStart::kZero, ConstVector(),
         carry_h.row_slice(0, needed));
    end_rows(carry_h, continued, d_h0);
    end_rows(carry_c, continued, d_c0);
  }
}
}  // namespace regard
#endif  // HWY_ONCE
