#include "regard/autograd/ops_norm.h"

#include "regard/autograd/shape_check.h"
#include "regard/kernels/activations.h"
#include "regard/kernels/layer_norm.h"
#include "regard/kernels/rows.h"

namespace regard {

Var layer_norm(Tape& tape, Var x, ParameterId gain, ParameterId bias) {
  const Parameters& p = tape.parameters();
  require_shape("layer_norm", "gain", p.info(gain), 1, x.cols());
  require_shape("layer_norm", "bias", p.info(bias), 1, x.cols());
  Var y = tape.make(x.rows(), x.cols());
  const LayerNormRows kept{{tape.arena().array<float>(x.rows()), x.rows()},
                           {tape.arena().array<float>(x.rows()), x.rows()}};
  layer_norm_forward(x.value, p.vector(gain), p.vector(bias), y.value, kept);
  tape.record([tape = &tape, x, gain, bias, y, kept] {
    const Gradients& d = tape->gradients();
    layer_norm_backward(x.value, tape->parameters().vector(gain), kept, y.grad,
                        {x.grad, d.vector(gain), d.vector(bias)});
  });
  return y;
}

Var relu(Tape& tape, Var x) {
  Var y = tape.make(x.rows(), x.cols());
  relu_forward(x.value, y.value);
  tape.record([x, y] {
    if (x.grad.data != nullptr) relu_backward(y.value, y.grad, x.grad);
  });
  return y;
}

Var scaled(Tape& tape, Var x, float factor) {
  const Var y = tape.make(x.rows(), x.cols());
  copy_rows(x.value, y.value);
  scale(y.value, factor);
  tape.record([x, y, factor] {
    if (x.grad.data == nullptr) return;
    scale(y.grad, factor);  // nobody reads it again
    add_rows(y.grad, x.grad);
  });
  return y;
}

Var add_table_rows(Tape& tape, Var x, ConstMatrix table, const std::uint32_t* row) {
  require_shape("add_table_rows", "table", table, table.rows, x.cols());
  for (Index r = 0; r < x.rows(); ++r) {
    if (row[r] < static_cast<std::uint64_t>(table.rows)) continue;
    throw ShapeError("add_table_rows: row " + std::to_string(r) + " asks for row " +
                     std::to_string(row[r]) + " of a table that has " + std::to_string(table.rows));
  }
  Var y = tape.make(x.rows(), x.cols());
  copy_rows(x.value, y.value);
  for (Index r = 0; r < x.rows(); ++r)
    add_rows(table.row_slice(row[r], 1), y.value.row_slice(r, 1));
  tape.record([x, y] {
    if (x.grad.data != nullptr) add_rows(y.grad, x.grad);
  });
  return y;
}

}  // namespace regard
