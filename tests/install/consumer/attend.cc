// One query that looks at two keys: the program of a user who has the attention library alone.
#include <cmath>
#include <cstdio>

#include "regard/attention/attention.h"
#include "regard/tensor/arena.h"

int main() {
  using namespace regard;
  namespace attention = regard::attention;

  const float keys[] = {1, 0, 0, 1};
  const float query[] = {2, 1};
  const float values[] = {10, 20};
  const Index start = 0, length = 2;
  float context = 0, weights[2] = {};

  Arena arena;
  attention::Score score;
  score.kind = attention::ScoreKind::kDot;
  const attention::PreparedKeys prepared =
      attention::prepare_keys(score, {keys, 2, 2}, {&start, &length, 1}, arena);
  attention::AttentionOutputs outputs;
  outputs.context = {&context, 1, 1};
  outputs.weights = {weights, 1, 2};
  attention::attend_forward(prepared, {values, 2, 1}, {{query, 1, 2}, nullptr}, outputs, arena);

  // The scores are 2 and 1, so the weights are e / (e + 1) and 1 / (e + 1).
  const float wanted = std::exp(1.0f) / (std::exp(1.0f) + 1.0f);
  std::printf("weights %.6f %.6f, context %.6f\n", weights[0], weights[1], context);
  const bool right = std::fabs(weights[0] - wanted) < 1e-6f &&
                     std::fabs(context - (10 * wanted + 20 * (1 - wanted))) < 1e-4f;
  return right ? 0 : 1;
}
