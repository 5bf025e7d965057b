// What the recurrent layers share: the order of the steps, and where a sequence starts and ends.
// Internal to kernels/.
#pragma once

#include "regard/kernels/packing.h"
#include "regard/kernels/rows.h"
#include "regard/tensor/arena.h"

namespace regard {

// The i-th step to run, and the number of its first rows that come from the step run before it; the
// others start here. For the order of backward, count i down.
struct SequenceStep {
  Index t = 0;
  Index continued = 0;
};
inline SequenceStep sequence_step(const Packing& packing, bool reverse, Index i) {
  const Index t = reverse ? packing.steps - 1 - i : i;
  if (i == 0) return {t, 0};
  return {t, reverse ? packing.rows(t + 1) : packing.rows(t)};
}

// The rows of step t in a buffer that holds all steps, or nothing of a null one.
template <class T>
MatrixView<T> step_rows(MatrixView<T> all, const Packing& packing, Index t) {
  return all.data == nullptr ? all : all.row_slice(packing.offsets[t], packing.rows(t));
}

// The state before each step: kept for all steps in the caller's buffer, or, without one, in a
// single piece of scratch that the steps hand on in place.
class StateBefore {
 public:
  StateBefore(Matrix kept, const Packing& packing, Index width, Arena& arena)
      : kept_(kept), packing_(packing) {
    if (kept.data == nullptr) scratch_ = arena.matrix(packing.max_rows(), width);
  }
  Matrix rows(Index t) const {
    return kept_.data != nullptr ? step_rows(kept_, packing_, t)
                                 : scratch_.row_slice(0, packing_.rows(t));
  }

 private:
  Matrix kept_;
  Matrix scratch_;
  const Packing& packing_;
};

// Rows from `first` on of a state take their start values; a null start is zeros.
inline void start_rows(ConstMatrix start, Index first, Matrix state) {
  const Matrix to = state.row_slice(first, state.rows - first);
  if (start.data == nullptr) {
    fill(to, 0.0f);
  } else {
    copy_rows(start.row_slice(first, to.rows), to);
  }
}

// d_start[r] += d_state[r] for the rows from `first` on; a null d_start takes nothing.
inline void end_rows(ConstMatrix d_state, Index first, Matrix d_start) {
  if (d_start.data == nullptr) return;
  const Index count = d_state.rows - first;
  add_rows(d_state.row_slice(first, count), d_start.row_slice(first, count));
}

}  // namespace regard
