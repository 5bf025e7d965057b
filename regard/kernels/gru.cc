// The cell reads each of its buffers once and writes each once; the sequence's step also writes the
// state where the next step reads it. One step is one product and one such pass.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "regard/kernels/gru.cc"
#include "regard/kernels/simd_targets.h"
// order matters
#include "hwy/foreach_target.h"
// order matters
#include "hwy/highway.h"
#include "regard/kernels/blocks-inl.h"
#include "regard/kernels/dispatch-inl.h"
#include "regard/kernels/gru.h"
#include "regard/kernels/math-inl.h"
#include "regard/kernels/sequence.h"

HWY_BEFORE_NAMESPACE();
namespace regard {
namespace HWY_NAMESPACE {

// `next` takes a second copy of its first rows of h; it may have no rows, and may be h_prev.
void gru_forward_impl(ConstMatrix gi, ConstMatrix gh, ConstMatrix h_prev, Matrix h, Matrix next,
                      Matrix gates) noexcept {
  const Index width = h.cols;
  const F16 one = set(1.0f);
  for (Index row = 0; row < h.rows; ++row) {
    const float* in = gi.row(row);
    const float* recurrent = gh.row(row);
    const float* before = h_prev.row(row);
    float* after = h.row(row);
    float* copy = row < next.rows ? next.row(row) : nullptr;
    float* kept = gates.data != nullptr ? gates.row(row) : nullptr;
    for_blocks(width, [&](Index j, auto block) HWY_ATTR {
      const F16 r = logistic(add(load(in + j, block), load(recurrent + j, block)));
      const F16 z = logistic(add(load(in + width + j, block), load(recurrent + width + j, block)));
      const F16 gh_n = load(recurrent + 2 * width + j, block);
      const F16 n = tanh(fma(r, gh_n, load(in + 2 * width + j, block)));
      const F16 value = fma(z, load(before + j, block), mul(sub(one, z), n));
      store(value, after + j, block);
      if (copy != nullptr) store(value, copy + j, block);
      if (kept != nullptr) {
        store(r, kept + j, block);
        store(z, kept + width + j, block);
        store(n, kept + 2 * width + j, block);
        store(gh_n, kept + 3 * width + j, block);
      }
    });
  }
}

// kCarry: what arrives is d_h + d_h_prev, and d_h_prev becomes the direct path. Otherwise what
// arrives is d_h, and d_h_prev grows by the direct path.
template <bool kCarry>
HWY_INLINE void gru_backward_rows(ConstMatrix gates, ConstMatrix h_prev, ConstMatrix d_h,
                                  Matrix d_gi, Matrix d_gh, Matrix d_h_prev) {
  const Index width = d_h.cols;
  const F16 one = set(1.0f);
  for (Index row = 0; row < d_h.rows; ++row) {
    const float* kept = gates.row(row);
    const float* before = h_prev.row(row);
    const float* arriving = d_h.row(row);
    float* d_in = d_gi.row(row);
    float* d_recurrent = d_gh.row(row);
    float* d_before = d_h_prev.row(row);
    for_blocks(width, [&](Index j, auto block) HWY_ATTR {
      const F16 r = load(kept + j, block);
      const F16 z = load(kept + width + j, block);
      const F16 n = load(kept + 2 * width + j, block);
      const F16 gh_n = load(kept + 3 * width + j, block);
      const F16 old = load(d_before + j, block);
      F16 d = load(arriving + j, block);
      if (kCarry) d = add(d, old);
      const F16 keep = sub(one, z);
      const F16 d_n = mul(mul(d, keep), fnma(n, n, one));
      const F16 d_z = mul(mul(d, sub(load(before + j, block), n)), mul(z, keep));
      const F16 d_r = mul(mul(d_n, gh_n), mul(r, sub(one, r)));
      store(d_r, d_in + j, block);
      store(d_z, d_in + width + j, block);
      store(d_n, d_in + 2 * width + j, block);
      store(d_r, d_recurrent + j, block);
      store(d_z, d_recurrent + width + j, block);
      store(mul(d_n, r), d_recurrent + 2 * width + j, block);
      store(kCarry ? mul(z, d) : fma(z, d, old), d_before + j, block);
    });
  }
}

void gru_backward_impl(ConstMatrix gates, ConstMatrix h_prev, ConstMatrix d_h, Matrix d_gi,
                       Matrix d_gh, Matrix d_h_prev) noexcept {
  gru_backward_rows<false>(gates, h_prev, d_h, d_gi, d_gh, d_h_prev);
}
void gru_backward_carry_impl(ConstMatrix gates, ConstMatrix h_prev, ConstMatrix d_h, Matrix d_gi,
                             Matrix d_gh, Matrix carry) noexcept {
  gru_backward_rows<true>(gates, h_prev, d_h, d_gi, d_gh, carry);
}

}  // namespace HWY_NAMESPACE
}  // namespace regard
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace regard {
REGARD_DISPATCH_TABLE(gru_forward_impl);
REGARD_DISPATCH_TABLE(gru_backward_impl);
REGARD_DISPATCH_TABLE(gru_backward_carry_impl);

void gru_cell_forward(ConstMatrix gi, ConstMatrix gh, ConstMatrix h_prev, Matrix h,
                      Matrix gates) noexcept {
  REGARD_DISPATCH(gru_forward_impl)(gi, gh, h_prev, h, Matrix(), gates);
}

void gru_cell_backward(ConstMatrix gates, ConstMatrix h_prev, ConstMatrix d_h, Matrix d_gi,
                       Matrix d_gh, Matrix d_h_prev) noexcept {
  REGARD_DISPATCH(gru_backward_impl)(gates, h_prev, d_h, d_gi, d_gh, d_h_prev);
}

void gru_sequence_forward(const GruSequence& sequence, ConstMatrix gi, const PackedMatrix& u,
                          ConstVector u_bias, Matrix h, Matrix h_prev, Matrix gates, Arena& arena) {
  const Packing& packing = sequence.packing;
  const ArenaScope scope(arena);
  const Matrix gh_all = arena.matrix(packing.max_rows(), u.n);
  const StateBefore before(h_prev, packing, h.cols, arena);
  for (Index i = 0; i < packing.steps; ++i) {
    const auto [t, continued] = sequence_step(packing, sequence.reverse, i);
    const Matrix state = before.rows(t);
    start_rows(sequence.h0, continued, state);
    const Matrix gh = gh_all.row_slice(0, packing.rows(t));
    gemm(state, u, ChainStart::kBias, u_bias, gh);
    Matrix next;
    if (i + 1 < packing.steps) {
      const SequenceStep following = sequence_step(packing, sequence.reverse, i + 1);
      next = before.rows(following.t).row_slice(0, following.continued);
    }
    REGARD_DISPATCH(gru_forward_impl)
    (step_rows(gi, packing, t), gh, state, step_rows(h, packing, t), next,
     step_rows(gates, packing, t));
  }
}

void gru_sequence_backward(const GruSequence& sequence, const PackedMatrix& u_back,
                           ConstMatrix h_prev, ConstMatrix gates, ConstMatrix d_h, Matrix d_gi,
                           Matrix d_gh, Matrix d_h0, Arena& arena) {
  const Packing& packing = sequence.packing;
  const ArenaScope scope(arena);
  // What flows from the steps run later into each sequence's state; zero where none did yet.
  const Matrix carry_all = arena.zero_matrix(packing.max_rows(), d_h.cols);
  for (Index i = packing.steps - 1; i >= 0; --i) {
    const auto [t, continued] = sequence_step(packing, sequence.reverse, i);
    const Matrix carry = carry_all.row_slice(0, packing.rows(t));
    const Matrix d_gh_step = step_rows(d_gh, packing, t);
    REGARD_DISPATCH(gru_backward_carry_impl)
    (step_rows(gates, packing, t), step_rows(h_prev, packing, t), step_rows(d_h, packing, t),
     step_rows(d_gi, packing, t), d_gh_step, carry);
    // Nobody reads what flows into a start value unless it is asked for.
    const Index needed = d_h0.data != nullptr ? carry.rows : continued;
    gemm(d_gh_step.row_slice(0, needed), u_back, ChainStart::kContinue, ConstVector(),
         carry.row_slice(0, needed));
    end_rows(carry, continued, d_h0);
  }
}
}  // namespace regard
#endif  // HWY_ONCE
