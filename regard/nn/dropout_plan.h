// DropoutPlan: which rows are dropped where, keyed by what a row means and not by where it lies.
#pragma once

#include <cstdint>
#include <string_view>

#include "regard/autograd/tape.h"
#include "regard/kernels/dropout.h"

namespace regard {

// Rates per site; 0 is off.
struct DropoutRates {
  float embedding = 0.0f;
  float layer = 0.0f;      // between recurrent layers
  float memory = 0.0f;     // on h_j
  float readout = 0.0f;    // on t_i
  float attention = 0.0f;  // on the weights
};

// `pair_key[s]` is mixed from (seed, update, index of the pair); a row's key also holds the site's
// name, and its position is the step. Inference uses a default plan: all rates 0.
struct DropoutPlan {
  DropoutRates rates;
  const std::uint64_t* pair_key = nullptr;  // per sequence of the batch
};

// Which sequence and position each of `count` rows belongs to.
struct RowOrigin {
  const Index* row_lane = nullptr;
  const Index* lane_sequence = nullptr;
  const std::uint32_t* row_position = nullptr;
  Index count = 0;

  RowOrigin at(Index first, Index n) const {
    return {row_lane + first, lane_sequence, row_position + first, n};
  }
};

// Keys for one site in the tape's arena.
DropoutRows dropout_rows(Tape& tape, const DropoutPlan& plan, const RowOrigin& rows,
                         std::string_view site);

// The same for the weights of attention: one key a row, which holds its position too.
const std::uint64_t* attention_dropout_keys(Tape& tape, const DropoutPlan& plan,
                                            const RowOrigin& rows, std::string_view site);

}  // namespace regard
