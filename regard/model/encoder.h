// The encoder: source ids to memory, one vector h_j per source position (docs/models.md;
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
  // [count, M]: the last forward state and the backward state at position 1, which is the backward
  // direction's last. Only when the decoder needs it.
  Var summary;
};

// The layer that a configuration's cell names.
RecurrentKind recurrent_kind(CellKind kind);

class Encoder {
 public:
  // Adds its parameters; `embedding` is the source table.
  static Encoder make(const ModelConfig& config, ParameterId embedding, Parameters& parameters);

  // Encodes all sentences at once. `source` outlives the tape's backward.
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
