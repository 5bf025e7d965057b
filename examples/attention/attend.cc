// Attention as a library: "we are eating bread" looks at "nous mangeons du pain".
//
// Vectors are made by hand: each English word points at the French words that it comes from, and
// the last one asks for a gradient.
#include <cstdio>

#include "regard/attention/attention.h"

int main() {
  namespace attention = regard::attention;
  using regard::ConstMatrix;
  using regard::Matrix;
  const char* french[] = {"nous", "mangeons", "du", "pain"};
  const char* english[] = {"we", "are", "eating", "bread"};
  // Keys and values: one row per French word. Queries: one row per English word.
  const float keys[4 * 4] = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4};
  const float queries[4 * 4] = {1, 0, 0, 0, .4f, .6f, 0, 0, 0, 1, 0, 0, 0, 0, .3f, 1};
  const ConstMatrix memory(keys, 4, 4);
  const regard::Index start = 0, length = 4;

  regard::Arena arena, workspace;
  attention::Score score;
  score.kind = attention::ScoreKind::kDot;
  const attention::PreparedKeys prepared =
      attention::prepare_keys(score, memory, {&start, &length, 1}, arena);
  const attention::QueryRows rows{ConstMatrix(queries, 4, 4)};
  const Matrix context = arena.matrix(4, 4), weights = arena.matrix(4, 4);
  attention::attend_forward(prepared, memory, rows, {context, weights, {}, {}}, workspace);

  std::printf("%8s", "");
  for (const char* word : french) std::printf("%10s", word);
  for (int i = 0; i < 4; ++i) {
    std::printf("\n%8s", english[i]);
    for (int j = 0; j < 4; ++j) std::printf("%10.3f", static_cast<double>(weights(i, j)));
  }

  // How the query of "bread" should move to make its context larger where "pain" is.
  const Matrix d_context = arena.zero_matrix(4, 4), d_query = arena.zero_matrix(4, 4);
  d_context(3, 3) = 1.0f;
  attention::KeyGradients sums = attention::begin_key_gradients(prepared, 4, arena);
  attention::attend_backward(prepared, memory, {rows, weights, d_context, {}}, sums,
                             {d_query, {}, {}}, workspace);
  std::printf("\n\nto see more of pain, bread's query moves by");
  for (int n = 0; n < 4; ++n) std::printf(" %.3f", static_cast<double>(d_query(3, n)));
  std::printf("\n");
  return 0;
}
