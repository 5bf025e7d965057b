// LayerNorm and FeedForward: the parts of an encoder layer besides attention.
#pragma once

#include <string>

#include "regard/autograd/ops_norm.h"
#include "regard/nn/layers.h"

namespace regard {

// y = gain * (x - mean) / sqrt(variance + 1e-5) + bias, row by row. Parameters `name`.gain
// [1,width], 1 at the start, and `name`.bias [1,width], 0 at the start.
struct LayerNorm {
  ParameterId gain, bias;

  static LayerNorm make(Parameters& p, const std::string& name, Index width);
  Var operator()(Tape& tape, Var x) const { return layer_norm(tape, x, gain, bias); }
};

// y = W_2 dropout(max(0, W_1 x + b_1)) + b_2, row by row. Parameters `name`.inner [inner,width] and
// `name`.outer [width,inner], each with weight and bias.
//
// Source   Vaswani et al., arXiv 1706.03762v7, section 3.3, eq. 2; the dropout between the products
//          is that of later practice
struct FeedForward {
  Linear inner, outer;

  static FeedForward make(Parameters& p, const std::string& name, Index width, Index inner_width);
  // `rows` [rows of x] says what is dropped; unused at rate 0.
  Var operator()(Tape& tape, Var x, const DropoutRows& rows = {}, float rate = 0.0f) const;
};

}  // namespace regard
