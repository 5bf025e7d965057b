// TokenStep: the lesson's three stages for one target token.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace regard {

// What the model computed to write one target token. Columns are the record's source tokens.
struct TokenStep {
  std::vector<float> scores;                       // e_ij; empty for a model without attention
  std::vector<float> weights;                      // alpha_ij; likewise
  float context_norm = 0.0F;                       // Euclidean length of c_i; 0 without one
  std::vector<std::pair<std::string, float>> top;  // likeliest next tokens, probabilities, falling
};

}  // namespace regard
