// The encoder: source ids to memory, one vector h_j per source position (docs/models.md;
// lesson 9.1).
#pragma once

#include <optional>
#include <vector>

#include "regard/model/self_attention_encoder.h"
#include "regard/nn/layers.h"

namespace regard {

// The layer that a configuration's cell names.
RecurrentKind recurrent_kind(CellKind kind);

class Encoder {
 public:
  // Adds its parameters; `embedding` is the source table.
  static Encoder make(const ModelConfig& config, ParameterId embedding, Parameters& parameters);

  // Encodes all sentences at once. `source` outlives the tape's backward.
  Memory run(Tape& tape, const PackedIds& source, const DropoutPlan& dropout,
             bool with_summary) const;

  // Null for recurrent encoders.
  const SelfAttentionEncoder* self_attention() const { return self_ ? &*self_ : nullptr; }

 private:
  struct Layer {
    Recurrent forward, backward;
  };
  std::optional<SelfAttentionEncoder> self_;  // instead of all that follows
  ParameterId embedding_;
  bool bidirectional_ = true;
  Index hidden_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace regard
