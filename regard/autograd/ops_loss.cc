#include "regard/autograd/ops.h"
#include "regard/autograd/shape_check.h"

namespace regard {

LossRows linear_cross_entropy(Tape& tape, Var t, ParameterId weight, ParameterId bias,
                              const std::int32_t* target, float label_smoothing) {
  const Parameters& parameters = tape.parameters();
  const ParameterInfo& w = parameters.info(weight);
  require_shape("linear_cross_entropy", "t", t.value, t.rows(), w.cols);
  require_shape("linear_cross_entropy", "bias", parameters.value(bias), 1, w.rows);
  LossRows rows;
  rows.token_log_prob = {tape.arena().array<float>(t.rows()), t.rows()};
  rows.token_loss = {tape.arena().array<float>(t.rows()), t.rows()};
  LinearCrossEntropy op{parameters.packed(weight), {}, parameters.vector(bias), label_smoothing};
  ArenaScope scope(tape.scratch());
  if (!tape.recording()) {
    linear_cross_entropy(op, t.value, target, rows.token_log_prob, rows.token_loss, {}, {}, {},
                         tape.scratch());
    return rows;
  }
  // The loss is a sum, so its gradient is known now: d_t goes straight into t's gradient, of which
  // this is the first writer.
  op.w_back = parameters.packed_back(weight);
  linear_cross_entropy(op, t.value, target, rows.token_log_prob, rows.token_loss, t.grad,
                       tape.gradients().matrix(weight), tape.gradients().vector(bias),
                       tape.scratch());
  return rows;
}

Matrix linear_log_softmax(Tape& tape, Var t, ParameterId weight, ParameterId bias) {
  const Parameters& parameters = tape.parameters();
  const ParameterInfo& w = parameters.info(weight);
  require_shape("linear_log_softmax", "t", t.value, t.rows(), w.cols);
  require_shape("linear_log_softmax", "bias", parameters.value(bias), 1, w.rows);
  const Matrix logits = tape.arena().matrix(t.rows(), w.rows);
  gemm(t.value, parameters.packed(weight), ChainStart::kBias, parameters.vector(bias), logits);
  log_softmax_rows(logits);
  return logits;
}

}  // namespace regard
