#include "regard/autograd/ops.h"
#include "regard/autograd/shape_check.h"
#include "regard/kernels/activations.h"
#include "regard/kernels/embedding.h"
#include "regard/kernels/pooling.h"
#include "regard/kernels/rows.h"

namespace regard {

Var embedding(Tape& tape, ParameterId table, const std::int32_t* ids, Index n) {
  const ParameterInfo& info = tape.parameters().info(table);
  Var y = tape.make(n, info.cols);
  embedding_forward(tape.parameters().value(table), ids, y.value);
  tape.record([tape = &tape, table, ids, y] {
    tape->gradients().touch(table, ids, y.rows());
    embedding_backward(y.grad, ids, tape->gradients().matrix(table));
  });
  return y;
}

Var tanh_onto(Tape& tape, Var x) {
  Var y = x;
  if (tape.recording()) y.grad = tape.arena().zero_matrix(x.rows(), x.cols());
  tanh_into(tape, x, y);
  return y;
}

void tanh_into(Tape& tape, Var x, Var y) {
  require_shape("tanh", "y", y.value, x.rows(), x.cols());
  tanh_forward(x.value, y.value);
  tape.record([x, y] { tanh_backward(y.value, y.grad, x.grad); });
}

Var dropout(Tape& tape, Var x, const DropoutRows& rows, float rate) {
  if (rate == 0.0f) return x;
  Var y = tape.make(x.rows(), x.cols());
  dropout_forward(x.value, rows, rate, y.value);
  tape.record([x, y, rows, rate] {
    if (x.grad.data != nullptr) dropout_backward(y.grad, rows, rate, x.grad);
  });
  return y;
}

Var gather_rows(Tape& tape, Var x, const Index* index, Index n) {
  Var y = tape.make(n, x.cols());
  gather_rows_into(tape, x, index, y);
  return y;
}

void gather_rows_into(Tape& tape, Var x, const Index* index, Var y) {
  require_shape("gather_rows", "y", y.value, y.rows(), x.cols());
  gather_rows(x.value, index, y.value);
  tape.record([x, y, index] {
    if (x.grad.data != nullptr) scatter_add_rows(y.grad, index, x.grad);
  });
}

Var mean_rows(Tape& tape, Var x, const Index* start, const Index* length, Index n) {
  Var y = tape.make(n, x.cols());
  mean_rows_forward(x.value, start, length, y.value);
  tape.record([x, y, start, length] {
    if (x.grad.data != nullptr) mean_rows_backward(y.grad, start, length, x.grad);
  });
  return y;
}

Var add(Tape& tape, Var a, Var b) {
  require_shape("add", "b", b.value, a.rows(), a.cols());
  Var y = tape.make(a.rows(), a.cols());
  copy_rows(a.value, y.value);
  add_rows(b.value, y.value);
  tape.record([a, b, y] {
    if (a.grad.data != nullptr) add_rows(y.grad, a.grad);
    if (b.grad.data != nullptr) add_rows(y.grad, b.grad);
  });
  return y;
}

}  // namespace regard
