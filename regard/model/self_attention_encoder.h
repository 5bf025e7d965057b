// The encoder of self-attention: source ids to memory without recurrence (docs/models.md).
#pragma once

#include <vector>

#include "regard/model/config.h"
#include "regard/model/memory.h"
#include "regard/model/packed.h"
#include "regard/nn/self_attention.h"

namespace regard {

// x_j = e_j + position_j, then layers of self-attention and feed-forward, and a norm: h_j. The
// embedding is projected where its width is not M; one that is tied to the output layer starts at
// 1 / sqrt(E) of the others' size (Init::kEmbedding) and is multiplied by sqrt(E), so that
// positions of size 1 do not drown it. (Where embeddings start at that size anyway, the factor of
// Vaswani et al. drowns the positions: the reverse task is then hardly learnt.) Sources may be of
// any length: sinusoidal positions are computed for the batch, relative ones end at the table's
// edge.
class SelfAttentionEncoder {
 public:
  // Relative positions: distances beyond it share a bias.
  static constexpr Index kHalfWidth = 16;

  // Adds its parameters; `embedding` is the source table. The configuration has been checked.
  static SelfAttentionEncoder make(const ModelConfig& config, ParameterId embedding,
                                   Parameters& parameters);

  Index heads() const { return layers_.front().heads(); }
  int layers() const { return static_cast<int>(layers_.size()); }

  // Encodes all sentences at once. `source` outlives the tape's backward.
  Memory run(Tape& tape, const PackedIds& source, const DropoutPlan& dropout,
             bool with_summary) const;

  // Where layer `layer` (from 0) looks: [rows N, longest], the rows of Memory::rows, row r and head
  // h at r N + h. In the tape's arena.
  Matrix weights(Tape& tape, const PackedIds& source, int layer) const;

 private:
  Var embed(Tape& tape, const PackedIds& source, const SequenceRows& rows) const;

  ParameterId embedding_;
  Linear input_;         // where E is not M
  float factor_ = 1.0f;  // of tied embeddings
  PositionKind positions_ = PositionKind::kNone;
  bool projected_ = false;
  std::vector<SelfAttentionLayer> layers_;
  LayerNorm norm_;
};

}  // namespace regard
