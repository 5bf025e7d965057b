#include "regard/autograd/ops_attention.h"

#include <new>

#include "regard/autograd/shape_check.h"
#include "regard/kernels/activations.h"

namespace regard {
namespace {

constexpr float kMiddleAlpha = 1.5f, kAlphaReach = 0.45f;

template <class T>
T* in_arena(Tape& tape, const T& value) {
  return new (tape.arena().allocate(sizeof(T))) T(value);
}

float tanh_of(float x) {
  const Matrix m(&x, 1, 1);
  tanh_forward(m, m);
  return x;
}

attention::Attention filled(const Tape& tape, attention::Attention spec,
                            const AttentionParameters& p) {
  const Parameters& values = tape.parameters();
  const auto vector = [&](ParameterId id, ConstVector& to) {
    if (id) to = values.vector(id);
  };
  const auto matrix = [&](ParameterId id, ConstMatrix& to) {
    if (id) to = values.value(id);
  };
  vector(p.v, spec.score.v);
  vector(p.b, spec.score.b);
  vector(p.g, spec.score.g);
  matrix(p.w, spec.score.w);
  matrix(p.filters, spec.score.filters);
  matrix(p.u, spec.score.u);
  vector(p.slopes, spec.bias.slopes);
  matrix(p.table, spec.bias.table);
  if (p.alpha) {
    spec.normalizer.alpha = kMiddleAlpha + kAlphaReach * tanh_of(values.vector(p.alpha)[0]);
  }
  return spec;
}

attention::ScoreGradients parameter_gradients(const Tape& tape, const AttentionParameters& p) {
  attention::ScoreGradients g;
  const Gradients& all = tape.gradients();
  const auto vector = [&](ParameterId id) { return id ? all.vector(id) : Vector{}; };
  const auto matrix = [&](ParameterId id) { return id ? all.matrix(id) : Matrix{}; };
  g.d_v = vector(p.v);
  g.d_b = vector(p.b);
  g.d_g = vector(p.g);
  g.d_w = matrix(p.w);
  g.d_filters = matrix(p.filters);
  g.d_u = matrix(p.u);
  g.bias.d_slopes = vector(p.slopes);
  g.bias.d_table = matrix(p.table);
  return g;
}

ConstVector as_vector(const Matrix& m) { return {m.data, m.rows * m.cols}; }

attention::QueryRows query_rows(const AttentionQuery& q) {
  attention::QueryRows rows;
  rows.query = q.query.value;
  rows.key_row = q.key_row;
  rows.position = q.position;
  rows.query_length = q.query_length;
  rows.dropout_key = q.dropout_key;
  rows.state = q.state.value;
  rows.chunk_scores = q.chunk_scores.value;
  rows.center = as_vector(q.center.value);
  return rows;
}

// d_a of alpha = 1.5 + 0.45 tanh(a).
void add_alpha_gradient(const Tape& tape, ParameterId id, float d_alpha) {
  const float t = tanh_of(tape.parameters().vector(id)[0]);
  tape.gradients().vector(id)[0] += d_alpha * kAlphaReach * (1.0f - t * t);
}

}  // namespace

AttentionMemory begin_attention(Tape& tape, attention::Attention spec,
                                const AttentionParameters& parameters, Var keys, Var values,
                                const RaggedRows& sentences) {
  AttentionMemory m;
  m.keys = in_arena(tape, attention::prepare_keys(filled(tape, spec, parameters), keys.value,
                                                  sentences, tape.arena()));
  m.parameters = parameters;
  m.values = values;
  if (!tape.recording()) return m;
  m.sums = in_arena(tape, attention::begin_key_gradients(*m.keys, values.cols(), tape.arena()));
  // Recorded before any attend(), so it runs when backward has passed them all.
  tape.record([tape = &tape, m, keys, values] {
    attention::MemoryGradients gradients;
    gradients.d_keys = keys.grad;
    gradients.d_values = values.grad;
    if (m.keys->attention.score.kind == ScoreKind::kConcat && m.parameters.w) {
      gradients.d_w = tape->gradients().matrix(m.parameters.w);
    }
    attention::finish_key_gradients(*m.keys, *m.sums, gradients, tape->scratch());
  });
  return m;
}

AttentionMemory begin_attention(Tape& tape, ScoreKind kind, ParameterId v, Var keys, Var values,
                                const RaggedRows& sentences) {
  attention::Attention spec;
  spec.score.kind = kind;
  AttentionParameters parameters;
  parameters.v = v;
  return begin_attention(tape, spec, parameters, keys, values, sentences);
}

void attend(Tape& tape, const AttentionMemory& memory, const AttentionQuery& query, Var context,
            AttentionRows rows) {
  const bool streams = memory.keys->attention.streams();
  const Index head_rows = query.query.rows() * memory.heads();
  attention::AttentionOutputs outputs;
  if (tape.recording() && streams) {
    outputs.softmax_stats = tape.arena().matrix(head_rows, 2);
  } else if (tape.recording() && rows.weights.data == nullptr) {
    rows.weights = tape.arena().matrix(head_rows, memory.longest());
  }
  outputs.context = context.value;
  outputs.weights = rows.weights;
  outputs.raw_scores = rows.raw_scores;
  outputs.next_state = rows.next_state.value;
  attention::attend_forward(*memory.keys, memory.values.value, query_rows(query), outputs,
                            tape.scratch());
  tape.record([tape = &tape, memory, query, context, rows, stats = outputs.softmax_stats] {
    attention::BackwardInputs inputs;
    inputs.queries = query_rows(query);
    inputs.weights = rows.weights;
    if (stats.data != nullptr) {
      inputs.context = context.value;
      inputs.softmax_stats = stats;
    }
    inputs.d_context = context.grad;
    inputs.d_weights = rows.d_weights;
    inputs.d_next_state = rows.next_state.grad;
    attention::ScoreGradients gradients = parameter_gradients(*tape, memory.parameters);
    gradients.d_query = query.query.grad;
    gradients.d_state = query.state.grad;
    gradients.d_chunk_scores = query.chunk_scores.grad;
    const Matrix& d_center = query.center.grad;
    gradients.d_center = {d_center.data, d_center.rows * d_center.cols};
    float d_alpha = 0.0f;
    if (memory.parameters.alpha) gradients.d_alpha = {&d_alpha, 1};
    attention::attend_backward(*memory.keys, memory.values.value, inputs, *memory.sums, gradients,
                               tape->scratch());
    if (memory.parameters.alpha) add_alpha_gradient(*tape, memory.parameters.alpha, d_alpha);
  });
}

void attend(Tape& tape, const AttentionMemory& memory, Var query, const Index* key_row, Var context,
            AttentionRows rows) {
  AttentionQuery q;
  q.query = query;
  q.key_row = key_row;
  attend(tape, memory, q, context, rows);
}

Var local_center(Tape& tape, const AttentionMemory& memory, Var z, const Index* key_row) {
  const Index heads = memory.heads(), rows = z.rows();
  require_shape("local_center", "z", z.value, rows, heads);
  const Matrix part = tape.arena().matrix(rows, heads);  // sigma(z)
  logistic_forward(z.value, part);
  const Var center = tape.make(rows * heads, 1);
  const Index* lengths = memory.keys->rows.length;
  const auto length = [key_row, lengths](Index r) {
    return static_cast<float>(lengths[key_row == nullptr ? 0 : key_row[r]]);
  };
  for (Index r = 0; r < rows; ++r) {
    for (Index h = 0; h < heads; ++h) center.value.data[r * heads + h] = length(r) * part(r, h);
  }
  tape.record([tape = &tape, z, part, center, length] {
    const ArenaScope scope(tape->scratch());
    const Matrix d = tape->scratch().matrix(part.rows, part.cols);
    for (Index r = 0; r < part.rows; ++r) {
      for (Index h = 0; h < part.cols; ++h) {
        d(r, h) = length(r) * center.grad.data[r * part.cols + h];
      }
    }
    logistic_backward(part, d, z.grad);
  });
  return center;
}

void coverage_loss(Tape& tape, const AttentionMemory& memory, const AttentionRows& rows,
                   Var coverage, float weight, Vector loss) {
  const Index heads = memory.heads(), n = loss.size;
  require_shape("coverage_loss", "weights", rows.weights, n * heads, memory.longest());
  for (Index r = 0; r < n; ++r) loss[r] = 0.0f;
  if (coverage.empty()) return;
  require_shape("coverage_loss", "coverage", coverage.value, n * heads, memory.longest());
  const float factor = weight / static_cast<float>(heads);
  for (Index r = 0; r < n * heads; ++r) {
    const float* w = rows.weights.row(r);
    const float* c = coverage.value.row(r);
    float sum = 0.0f;
    for (Index j = 0; j < memory.longest(); ++j) sum += w[j] < c[j] ? w[j] : c[j];
    loss[r / heads] += factor * sum;
  }
  tape.record([rows, coverage, factor] {
    for (Index r = 0; r < rows.weights.rows; ++r) {
      const float* w = rows.weights.row(r);
      const float* c = coverage.value.row(r);
      for (Index j = 0; j < rows.weights.cols; ++j) {
        if (w[j] < c[j]) {
          rows.d_weights(r, j) += factor;
        } else {
          coverage.grad(r, j) += factor;
        }
      }
    }
  });
}

}  // namespace regard
