// For tests: configurations with an encoder of self-attention.
#pragma once

#include <vector>

#include "regard/model/config.h"

namespace regard::test {

// `base` with a memory as wide as its decoder, which every score can compare.
inline ModelConfig with_self_attention(ModelConfig base, PositionKind positions) {
  base.encoder = EncoderKind::kSelfAttention;
  base.bidirectional = true;
  base.encoder_layers = 2;
  base.encoder_hidden = base.hidden;
  base.encoder_heads = 2;
  base.feed_forward = base.hidden + 3;
  base.positions = positions;
  return base;
}

// One of each kind of positions.
inline std::vector<ModelConfig> encoder_choices(const ModelConfig& base) {
  return {with_self_attention(base, PositionKind::kSinusoidal),
          with_self_attention(base, PositionKind::kRelative),
          with_self_attention(base, PositionKind::kNone)};
}

}  // namespace regard::test
