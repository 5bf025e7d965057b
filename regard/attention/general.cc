#include "regard/attention/attention.h"
#include "regard/attention/checks.h"
#include "regard/base/float_environment.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {

void general_project_forward(ConstMatrix query, ConstMatrix w, Matrix projected, Arena& workspace) {
  constexpr char kForward[] = "general_project_forward";
  const FloatEnvironment environment;
  check_extent(kForward, "rows of w", query.cols, w.rows);
  check_extent(kForward, "rows of projected", query.rows, projected.rows);
  check_extent(kForward, "columns of projected", w.cols, projected.cols);
  check_apart(kForward, {{"projected", projected}}, {{"query", query}, {"w", w}});
  gemm_a_b(query, w, ChainStart::kZero, projected, workspace);
}

void general_project_backward(ConstMatrix query, ConstMatrix w, ConstMatrix d_projected,
                              const GeneralGradients& gradients, Arena& workspace) {
  constexpr char kBackward[] = "general_project_backward";
  const FloatEnvironment environment;
  check_extent(kBackward, "rows of w", query.cols, w.rows);
  check_extent(kBackward, "rows of d_projected", query.rows, d_projected.rows);
  check_extent(kBackward, "columns of d_projected", w.cols, d_projected.cols);
  check_apart(kBackward, {{"d_query", gradients.d_query}, {"d_w", gradients.d_w}},
              {{"query", query}, {"w", w}, {"d_projected", d_projected}});
  if (gradients.d_query.data != nullptr) {
    check_extent(kBackward, "rows of d_query", query.rows, gradients.d_query.rows);
    check_extent(kBackward, "columns of d_query", query.cols, gradients.d_query.cols);
    gemm_a_bt(d_projected, w, ChainStart::kContinue, gradients.d_query, workspace);
  }
  if (gradients.d_w.data != nullptr) {
    check_extent(kBackward, "rows of d_w", w.rows, gradients.d_w.rows);
    check_extent(kBackward, "columns of d_w", w.cols, gradients.d_w.cols);
    gemm_at_b(query, d_projected, ChainStart::kContinue, gradients.d_w, workspace);
  }
}

}  // namespace regard::attention
