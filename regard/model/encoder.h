// The encoder: source ids to memory, one vector h_j per source position (DESIGN section 8;
// lesson 9.1).
#pragma once

#include <vector>

#include "regard/model/config.h"
#include "regard/model/packed.h"
#include "regard/nn/dropout_plan.h"
#include "regard/nn/layers.h"

namespace regard {

// What the encoder hands over. Sentences are numbered as the lanes of the source batch (longest
// first).
struct Memory {
  Var rows;                      // [sum of lengths, M] sentence after sentence: h_1 .. h_S
  const Index* start = nullptr;  // [count] first row of each sentence
  const Index* length = nullptr;
  Index count = 0;
  Var summary;  // [count, M]: last forward state; first backward state. Only when the decoder needs
                // it
};

class Encoder {
 public:
  static Encoder make(const ModelConfig& config, ParameterId embedding, Parameters& parameters);

  // `source` outlives the tape's backward.
  Memory run(Tape& tape, const PackedIds& source, const DropoutPlan& dropout,
             bool with_summary) const;

 private:
  struct Layer {
    Recurrent forward, backward;
  };
  ParameterId embedding_;
  bool bidirectional_ = true;
  Index hidden_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace regard
