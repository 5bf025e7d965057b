// The lesson's three stages on one's own sentence: for each output word the scores, the weights
// they become, the context they make, and the words that the model then thought of.
#pragma once

#include <string>
#include <vector>

#include "regard/translate/record.h"
#include "regard/translate/token_step.h"
#include "regard/view/terminal.h"

namespace regard {

using StepDetail = TokenStep;  // as Translator::steps() gives them

struct StepsOptions {
  TerminalOptions terminal;  // at least 64 columns are used
  // The model's own equations, for the explanation before the first word.
  std::string score_formula = "score(s_i, h_j)";
  std::string normalizer_formula = "exp(e_ij) / sum_k exp(e_ik)";
  std::string context_formula = "sum_j a_ij h_j";
  std::size_t most_positions = 12;  // source positions a word; the others are summed up
};

// The steps as text, lines ended by LF; no escape sequence without colour.
//
// Values   a blank line gives a sentence that says so. Of a long source the positions of the
// largest
//          weights are listed, in source order. Without weights (`fixed`) the first two stages are
//          replaced by a sentence.
// Errors   ShapeError if there is not one detail a target token, or one score and weight a source
//          token (or none).
// Threads  pure function.
std::string render_steps(const Record& record, const std::vector<StepDetail>& steps,
                         const StepsOptions& options = {});

}  // namespace regard
