// A score of one's own: e = -|q - k|^2 / 2, so that near keys get the weight. Two functions, one
// query row against all keys of its sentence each; everything else of the library goes with it.
#include <cstdio>

#include "regard/attention/attention.h"

namespace attention = regard::attention;
using regard::ConstMatrix;
using regard::Index;
using regard::Matrix;

struct Nearness {
  void forward(const float* query, const attention::KeyRows& keys, float* scores) const noexcept {
    for (Index j = 0; j < keys.count; ++j) {
      float sum = 0.0f;
      for (Index a = 0; a < keys.width; ++a) {
        const float d = query[a] - keys.row(j)[a];
        sum += d * d;
      }
      scores[j] = -0.5f * sum;
    }
  }
  void backward(const float* query, const attention::KeyRows& keys, const float* d_scores,
                const attention::CustomScore::Gradients& g) const noexcept {
    for (Index j = 0; j < keys.count; ++j) {
      if (d_scores[j] == 0.0f) continue;  // masked, or without effect
      for (Index a = 0; a < keys.width; ++a) {
        const float d = d_scores[j] * (keys.row(j)[a] - query[a]);
        g.d_query[a] += d;
        g.d_keys[j * g.d_stride + a] -= d;
      }
    }
  }
};

int main() {
  const float points[] = {0, 0, 1, 0, 0, 1, 3, 3};
  const float where[] = {0.9f, 0.1f};
  const ConstMatrix keys(points, 4, 2);
  const Index start = 0, length = 4;
  const Nearness nearness;

  attention::Attention spec;
  spec.score.kind = attention::ScoreKind::kCustom;
  spec.score.custom = attention::custom_score(nearness);
  spec.score.scale = 1.5f;
  spec.normalizer.kind = attention::NormalizerKind::kSparsemax;

  regard::Arena arena, workspace;
  const attention::PreparedKeys prepared =
      attention::prepare_keys(spec, keys, {&start, &length, 1}, arena);
  attention::AttentionOutputs out;
  out.context = arena.matrix(1, 2);
  out.weights = arena.matrix(1, 4);
  attend_forward(prepared, keys, {ConstMatrix(where, 1, 2)}, out, workspace);
  std::printf("weights");
  for (Index j = 0; j < 4; ++j) std::printf(" %.3f", static_cast<double>(out.weights(0, j)));

  const Matrix d_query = arena.zero_matrix(1, 2), d_context = arena.zero_matrix(1, 2);
  d_context(0, 0) = 1.0f;
  attention::BackwardInputs in;
  in.queries.query = ConstMatrix(where, 1, 2);
  in.d_context = d_context;
  attention::ScoreGradients gradients;
  gradients.d_query = d_query;
  attention::KeyGradients sums = attention::begin_key_gradients(prepared, 0, arena);
  attend_backward(prepared, keys, in, sums, gradients, workspace);
  std::printf("\nto move the context to the right, the query moves by %.3f %.3f\n",
              static_cast<double>(d_query(0, 0)), static_cast<double>(d_query(0, 1)));
  return 0;
}
