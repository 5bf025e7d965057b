// A training step by hand: an additive score learns to look where it should.
//
// Two queries and three keys; query 0 belongs to key 2, query 1 to key 0. Loss: minus the mean log
// of the weight on the right key. Each step runs forward, takes the gradient of the weights, runs
// backward, and moves queries, keys and v a little downhill.
#include <cmath>
#include <cstdio>

#include "regard/attention/attention.h"

namespace attention = regard::attention;
using regard::Index;
using regard::Matrix;

constexpr Index kQueries = 2, kKeys = 3, kWidth = 4;
constexpr Index kRight[kQueries] = {2, 0};
constexpr float kRate = 0.5f;

int main() {
  float query[kQueries * kWidth], keys[kKeys * kWidth], v[kWidth];
  float start = 0.1f;
  for (float* x = query; x < query + kQueries * kWidth; ++x) *x = start = -0.9f * start + 0.03f;
  for (float* x = keys; x < keys + kKeys * kWidth; ++x) *x = start = -0.9f * start + 0.05f;
  for (float& x : v) x = start = -0.8f * start + 0.3f;
  const Matrix q(query, kQueries, kWidth), k(keys, kKeys, kWidth);
  const Index first = 0, length = kKeys;

  regard::Arena arena, workspace;
  for (int step = 0; step <= 60; ++step) {
    arena.reset();  // the memory of the last step serves again
    attention::Score score;
    score.kind = attention::ScoreKind::kAdditive;
    score.v = {v, kWidth};
    const attention::PreparedKeys prepared =
        attention::prepare_keys(score, k, {&first, &length, 1}, arena);
    attention::AttentionOutputs out;
    out.weights = arena.matrix(kQueries, kKeys);
    out.context = arena.matrix(kQueries, kWidth);
    attend_forward(prepared, k, {q}, out, workspace);

    float loss = 0.0f;
    attention::BackwardInputs in;
    in.queries.query = q;
    in.weights = out.weights;
    in.d_context = arena.zero_matrix(kQueries, kWidth);
    const Matrix d_weights = arena.zero_matrix(kQueries, kKeys);
    for (Index i = 0; i < kQueries; ++i) {
      const float w = out.weights(i, kRight[i]);
      loss -= std::log(w) / kQueries;
      d_weights(i, kRight[i]) = -1.0f / w / kQueries;
    }
    in.d_weights = d_weights;
    if (step % 20 == 0) {
      std::printf("step %2d  loss %.4f  weights on the right keys %.3f %.3f\n", step,
                  static_cast<double>(loss), static_cast<double>(out.weights(0, kRight[0])),
                  static_cast<double>(out.weights(1, kRight[1])));
    }

    const Matrix d_query = arena.zero_matrix(kQueries, kWidth);
    const Matrix d_keys = arena.zero_matrix(kKeys, kWidth);
    float d_v[kWidth] = {};
    attention::ScoreGradients gradients;
    gradients.d_query = d_query;
    gradients.d_v = {d_v, kWidth};
    attention::KeyGradients sums = attention::begin_key_gradients(prepared, 0, arena);
    attend_backward(prepared, k, in, sums, gradients, workspace);
    finish_key_gradients(prepared, sums, {d_keys, {}, {}}, workspace);
    for (Index n = 0; n < kQueries * kWidth; ++n) query[n] -= kRate * d_query.data[n];
    for (Index n = 0; n < kKeys * kWidth; ++n) keys[n] -= kRate * d_keys.data[n];
    for (Index n = 0; n < kWidth; ++n) v[n] -= kRate * d_v[n];
  }
  return 0;
}
