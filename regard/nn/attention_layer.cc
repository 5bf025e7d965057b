#include "regard/nn/attention_layer.h"

namespace regard {

AttentionLayer AttentionLayer::make(Parameters& p, const std::string& name,
                                    const AttentionShape& shape) {
  AttentionLayer a;
  a.score_ = shape.score;
  if (shape.score == ScoreKind::kAdditive) {
    a.query_ = Linear::make(p, name + ".query", shape.query, shape.width, false).weight;
    a.key_ = Linear::make(p, name + ".key", shape.memory, shape.width, false).weight;
    a.v_ = p.add({name + ".v", 1, shape.width, Use::kVector, Init::kGlorot});
  } else if (shape.score == ScoreKind::kGeneral) {
    a.query_ = Linear::make(p, name + ".general", shape.query, shape.memory, false).weight;
  }
  return a;
}

AttentionMemory AttentionLayer::prepare(Tape& tape, Var memory_rows,
                                        const RaggedRows& sentences) const {
  const Var keys = key_ ? linear(tape, memory_rows, key_) : memory_rows;
  // General is a projection of the query and then a plain dot product.
  const ScoreKind kernel = score_ == ScoreKind::kGeneral ? ScoreKind::kDot : score_;
  return begin_attention(tape, kernel, v_, keys, memory_rows, sentences);
}

void AttentionLayer::attend(Tape& tape, const AttentionMemory& memory, Var query,
                            const Index* key_row, Var context, AttentionRows rows) const {
  const Var projected = query_ ? linear(tape, query, query_) : query;
  regard::attend(tape, memory, projected, key_row, context, rows);
}

}  // namespace regard
