#include "regard/autograd/ops.h"
#include "regard/autograd/shape_check.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

// Records the backward of y = ... + x W^T: d_x at once; d_W and d_b here, or for all steps together
// when inside a loop.
void record_product(Tape& tape, Var y, Var x, ParameterId weight, ParameterId bias) {
  if (!tape.recording()) return;
  Loop* loop = tape.loop();
  Loop::Site* site = nullptr;
  Index first = 0;
  if (loop != nullptr) {
    require_shape("linear in a loop", "x", x.value, loop->row_count(), x.cols());
    site = &loop->next_site(weight, bias);
    first = loop->first_row();
    copy_rows(x.value, site->inputs.row_slice(first, x.rows()));
  }
  tape.record([tape = &tape, y, x, weight, bias, site, first] {
    if (x.grad.data != nullptr) {
      gemm(y.grad, tape->parameters().packed_back(weight), ChainStart::kContinue, {}, x.grad);
    }
    if (site != nullptr) {
      copy_rows(y.grad, site->d_outputs.row_slice(first, y.rows()));
      return;
    }
    gemm_at_b(y.grad, x.value, ChainStart::kContinue, tape->gradients().matrix(weight),
              tape->scratch());
    if (bias) column_sums(y.grad, tape->gradients().vector(bias));
  });
}

}  // namespace

Var linear(Tape& tape, Var x, ParameterId weight, ParameterId bias) {
  Var y = tape.make(x.rows(), tape.parameters().info(weight).rows);
  linear_into(tape, y, x, weight, bias);
  return y;
}

void linear_into(Tape& tape, Var y, Var x, ParameterId weight, ParameterId bias) {
  const ParameterInfo& w = tape.parameters().info(weight);
  require_shape("linear", w.name.c_str(), x.value, y.rows(), w.cols);
  require_shape("linear", "y", y.value, x.rows(), w.rows);
  if (bias) require_shape("linear", "bias", tape.parameters().value(bias), 1, w.rows);
  gemm(x.value, tape.parameters().packed(weight), bias ? ChainStart::kBias : ChainStart::kZero,
       tape.parameters().vector(bias), y.value);
  record_product(tape, y, x, weight, bias);
}

void linear_onto(Tape& tape, Var y, Var x, ParameterId weight) {
  const ParameterInfo& w = tape.parameters().info(weight);
  require_shape("linear_onto", w.name.c_str(), x.value, y.rows(), w.cols);
  require_shape("linear_onto", "y", y.value, x.rows(), w.rows);
  gemm(x.value, tape.parameters().packed(weight), ChainStart::kContinue, {}, y.value);
  record_product(tape, y, x, weight, {});
}

}  // namespace regard
