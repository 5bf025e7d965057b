// Keys prepared once, queried step by step: two sentences decode side by side, and coverage keeps
// the sum of what each has looked at.
#include <cstdio>
#include <utility>

#include "regard/attention/attention.h"

namespace attention = regard::attention;
using regard::ConstMatrix;
using regard::Index;
using regard::Matrix;

int main() {
  // Three keys of sentence 0, two of sentence 1, one under the other; A = 2.
  const float keys[] = {1, 0, 0, 1, -1, 0, 0.5f, 0.5f, -0.5f, 1};
  const ConstMatrix memory(keys, 5, 2);
  const Index start[] = {0, 3}, length[] = {3, 2};
  const float v[] = {1.5f, 1}, coverage[] = {-1, -1};  // what has been looked at attracts less

  regard::Arena arena, workspace;
  attention::Score score;
  score.kind = attention::ScoreKind::kCoverage;
  score.v = {v, 2};
  score.u = ConstMatrix(coverage, 2, 1);
  const attention::PreparedKeys prepared =
      attention::prepare_keys(score, memory, {start, length, 2}, arena);

  float query[] = {0.2f, 0.1f, -0.1f, 0.4f};
  const Index key_row[] = {0, 1};  // row r decodes sentence key_row[r]
  const Matrix context = arena.matrix(2, 2), weights = arena.matrix(2, 3);
  Matrix covered = arena.zero_matrix(2, 3), next = arena.matrix(2, 3);
  for (int step = 0; step < 4; ++step) {
    attention::QueryRows rows;
    rows.query = ConstMatrix(query, 2, 2);
    rows.key_row = key_row;
    rows.state = covered;
    attention::AttentionOutputs out;
    out.context = context;
    out.weights = weights;
    out.next_state = next;
    attend_forward(prepared, memory, rows, out, workspace);
    std::swap(covered, next);
    for (Index r = 0; r < 2; ++r) {
      std::printf("step %d sentence %d  weights", step, static_cast<int>(r));
      for (Index j = 0; j < length[r]; ++j) {
        std::printf(" %.2f", static_cast<double>(weights(r, j)));
      }
      std::printf("  covered");
      for (Index j = 0; j < length[r]; ++j) {
        std::printf(" %.2f", static_cast<double>(covered(r, j)));
      }
      std::printf("\n");
      for (Index n = 0; n < 2; ++n) query[2 * r + n] = 0.5f * context(r, n);  // a decoder's place
    }
  }
  return 0;
}
