#include "regard/autograd/ops_attention.h"

#include <new>

namespace regard {
namespace {

template <class T>
T* in_arena(Tape& tape, const T& value) {
  return new (tape.arena().allocate(sizeof(T))) T(value);
}

}  // namespace

AttentionMemory begin_attention(Tape& tape, ScoreKind kind, ParameterId v, Var keys, Var values,
                                const RaggedRows& sentences) {
  attention::Score score;
  score.kind = kind;
  if (v) score.v = tape.parameters().vector(v);
  AttentionMemory m;
  m.keys = in_arena(tape, attention::prepare_keys(score, keys.value, sentences, tape.arena()));
  m.v = v;
  m.values = values;
  if (!tape.recording()) return m;
  m.sums = in_arena(tape, attention::begin_key_gradients(*m.keys, values.cols(), tape.arena()));
  // Recorded before any attend(), so it runs when backward has passed them all.
  tape.record([tape = &tape, m, keys, values] {
    attention::finish_key_gradients(*m.keys, *m.sums, {keys.grad, values.grad, {}},
                                    tape->scratch());
  });
  return m;
}

void attend(Tape& tape, const AttentionMemory& memory, Var query, const Index* key_row, Var context,
            AttentionRows rows) {
  if (tape.recording() && rows.weights.data == nullptr) {
    rows.weights = tape.arena().matrix(query.rows(), memory.longest());
  }
  attention::AttentionOutputs outputs;
  outputs.context = context.value;
  outputs.weights = rows.weights;
  outputs.raw_scores = rows.raw_scores;
  attention::attend_forward(*memory.keys, memory.values.value, {query.value, key_row}, outputs,
                            tape.scratch());
  tape.record([tape = &tape, memory, query, key_row, context, weights = rows.weights] {
    attention::BackwardInputs inputs;
    inputs.queries = {query.value, key_row};
    inputs.weights = weights;
    inputs.d_context = context.grad;
    attention::ScoreGradients gradients;
    gradients.d_query = query.grad;
    if (memory.v) gradients.d_v = tape->gradients().vector(memory.v);
    attention::attend_backward(*memory.keys, memory.values.value, inputs, *memory.sums, gradients,
                               tape->scratch());
  });
}

}  // namespace regard
