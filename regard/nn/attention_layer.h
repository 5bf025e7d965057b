// AttentionLayer: score, normalise, combine with learned projections (lesson 9.2 and 9.3;
// docs/attention.md).
#pragma once

#include <string>

#include "regard/autograd/ops_attention.h"
#include "regard/nn/layers.h"

namespace regard {

struct AttentionShape {
  ScoreKind score = ScoreKind::kAdditive;
  Index query = 0;   // width of the decoder state s
  Index memory = 0;  // width of h
  Index width = 0;   // A, additive only
};

// additive    e = v . tanh(W_1 s + W_2 h)     `name`.query, `name`.key, `name`.v
// dot         e = s . h
// scaled dot  e = s . h / sqrt(d)
// general     e = s' W h                      `name`.general [M,U] holds W'
class AttentionLayer {
 public:
  // Adds its parameters. Dot and scaled dot have none and need equal widths
  // (ModelConfig::validate).
  static AttentionLayer make(Parameters& p, const std::string& name, const AttentionShape& shape);

  // Projects and prepares the keys of a batch, once.
  AttentionMemory prepare(Tape& tape, Var memory_rows, const RaggedRows& sentences) const;

  // c = sum_j alpha_j h_j for each query row, written into `context`; and the rows asked for.
  void attend(Tape& tape, const AttentionMemory& memory, Var query, const Index* key_row,
              Var context, AttentionRows rows) const;

 private:
  ScoreKind score_ = ScoreKind::kAdditive;
  ParameterId query_, key_, v_;
};

}  // namespace regard
