#include "regard/nn/feed_forward.h"

namespace regard {

LayerNorm LayerNorm::make(Parameters& p, const std::string& name, Index width) {
  LayerNorm n;
  n.gain = p.add({name + ".gain", 1, width, Use::kVector, Init::kOne});
  n.bias = p.add({name + ".bias", 1, width, Use::kVector, Init::kZero});
  return n;
}

FeedForward FeedForward::make(Parameters& p, const std::string& name, Index width,
                              Index inner_width) {
  FeedForward f;
  f.inner = Linear::make(p, name + ".inner", width, inner_width);
  f.outer = Linear::make(p, name + ".outer", inner_width, width);
  return f;
}

Var FeedForward::operator()(Tape& tape, Var x, const DropoutRows& rows, float rate) const {
  return outer(tape, dropout(tape, relu(tape, inner(tape, x)), rows, rate));
}

}  // namespace regard
