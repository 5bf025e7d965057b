#include "regard/autograd/ops.h"
#include "regard/autograd/shape_check.h"
#include "regard/kernels/gru.h"
#include "regard/kernels/lstm.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

// Room for what backward needs; none when nothing is recorded.
Matrix kept(Tape& tape, Index rows, Index cols) {
  return tape.recording() ? tape.arena().matrix(rows, cols) : Matrix{};
}

// d_U += d_gh^T h_prev and its bias, one product over all rows.
void add_recurrent_gradients(Tape& tape, ConstMatrix d_gh, ConstMatrix h_prev, ParameterId u,
                             ParameterId u_bias) {
  gemm_at_b(d_gh, h_prev, ChainStart::kContinue, tape.gradients().matrix(u), tape.scratch());
  column_sums(d_gh, tape.gradients().vector(u_bias));
}

struct Weights {
  ParameterId u, bias;
};

void check_sequence(const char* op, const Tape& tape, const Packing& packing, Var gi, Weights w,
                    Var out, int gates) {
  const Index hidden = out.cols();
  require_shape(op, "out", out.value, packing.total(), hidden);
  require_shape(op, "gi", gi.value, packing.total(), gates * hidden);
  require_shape(op, "U", tape.parameters().value(w.u), gates * hidden, hidden);
  require_shape(op, "the bias of U", tape.parameters().value(w.bias), 1, gates * hidden);
}

}  // namespace

void gru_cell(Tape& tape, Var gi, Var gh, Var h_prev, Var out) {
  require_shape("gru_cell", "gi", gi.value, gi.rows(), 3 * out.cols());
  require_shape("gru_cell", "gh", gh.value, gi.rows(), gi.cols());
  require_shape("gru_cell", "h_prev", h_prev.value, gi.rows(), out.cols());
  require_shape("gru_cell", "out", out.value, gi.rows(), out.cols());
  const Matrix gates = kept(tape, gi.rows(), 4 * h_prev.cols());
  gru_cell_forward(gi.value, gh.value, h_prev.value, out.value, gates);
  tape.record([gi, gh, h_prev, out, gates] {
    gru_cell_backward(gates, h_prev.value, out.grad, gi.grad, gh.grad, h_prev.grad);
  });
}

void lstm_cell(Tape& tape, Var gi, Var gh, CellState previous, CellState out) {
  require_shape("lstm_cell", "gi", gi.value, gi.rows(), 4 * out.h.cols());
  require_shape("lstm_cell", "gh", gh.value, gi.rows(), gi.cols());
  require_shape("lstm_cell", "c_prev", previous.c.value, gi.rows(), out.h.cols());
  require_shape("lstm_cell", "h", out.h.value, gi.rows(), out.h.cols());
  require_shape("lstm_cell", "c", out.c.value, gi.rows(), out.h.cols());
  const Matrix gates = kept(tape, gi.rows(), gi.cols());
  lstm_cell_forward(gi.value, gh.value, previous.c.value, out.h.value, out.c.value, gates);
  tape.record([gi, gh, previous, out, gates] {
    lstm_cell_backward(gates, previous.c.value, out.c.value, out.h.grad, out.c.grad, gi.grad,
                       previous.c.grad);
    copy_rows(gi.grad, gh.grad);
  });
}

void gru_sequence(Tape& tape, const SequenceOptions& options, Var gi, ParameterId u,
                  ParameterId u_bias, Var out) {
  check_sequence("gru_sequence", tape, options.packing, gi, {u, u_bias}, out, 3);
  const GruSequence sequence{options.packing, options.reverse, {}};
  const Matrix h_prev = kept(tape, gi.rows(), out.cols());
  const Matrix gates = kept(tape, gi.rows(), 4 * out.cols());
  gru_sequence_forward(sequence, gi.value, tape.parameters().packed(u),
                       tape.parameters().vector(u_bias), out.value, h_prev, gates, tape.scratch());
  tape.record([tape = &tape, sequence, gi, u, u_bias, out, h_prev, gates] {
    ArenaScope scope(tape->scratch());
    const Matrix d_gh = tape->scratch().matrix(gi.rows(), gi.cols());
    gru_sequence_backward(sequence, tape->parameters().packed_back(u), h_prev, gates, out.grad,
                          gi.grad, d_gh, {}, tape->scratch());
    add_recurrent_gradients(*tape, d_gh, h_prev, u, u_bias);
  });
}

void lstm_sequence(Tape& tape, const SequenceOptions& options, Var gi, ParameterId u,
                   ParameterId u_bias, Var out) {
  check_sequence("lstm_sequence", tape, options.packing, gi, {u, u_bias}, out, 4);
  const LstmSequence sequence{options.packing, options.reverse, {}, {}};
  const Matrix h_prev = kept(tape, gi.rows(), out.cols());
  const Matrix c = kept(tape, gi.rows(), out.cols());
  const Matrix c_prev = kept(tape, gi.rows(), out.cols());
  const Matrix gates = kept(tape, gi.rows(), gi.cols());
  lstm_sequence_forward(sequence, gi.value, tape.parameters().packed(u),
                        tape.parameters().vector(u_bias), out.value, h_prev, c, c_prev, gates,
                        tape.scratch());
  tape.record([tape = &tape, sequence, gi, u, u_bias, out, h_prev, c, c_prev, gates] {
    lstm_sequence_backward(sequence, tape->parameters().packed_back(u), c, c_prev, gates, out.grad,
                           gi.grad, {}, {}, tape->scratch());
    add_recurrent_gradients(*tape, gi.grad, h_prev, u, u_bias);
  });
}

}  // namespace regard
