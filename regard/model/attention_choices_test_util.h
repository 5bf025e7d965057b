// For tests: a configuration for every score and every normaliser.
#pragma once

#include <string>
#include <vector>

#include "regard/model/config.h"

namespace regard::test {

inline constexpr AttentionKind kAttentionKinds[] = {
    AttentionKind::kAdditive,  AttentionKind::kDot,
    AttentionKind::kScaledDot, AttentionKind::kGeneral,
    AttentionKind::kConcat,    AttentionKind::kCosine,
    AttentionKind::kLocation,  AttentionKind::kLocationSensitive,
    AttentionKind::kCoverage};
inline constexpr WeightsKind kWeightsKinds[] = {
    WeightsKind::kSoftmax, WeightsKind::kSparsemax, WeightsKind::kEntmax15,  WeightsKind::kEntmax,
    WeightsKind::kHardmax, WeightsKind::kSigmoid,   WeightsKind::kMonotonic, WeightsKind::kMocha,
    WeightsKind::kLocalP,  WeightsKind::kLocalM};

inline ModelConfig with_normalizer(ModelConfig c, WeightsKind kind) {
  c.normalizer = kind;
  c.straight_through = kind == WeightsKind::kHardmax;
  if (kind == WeightsKind::kLocalP) c.window = 8;
  if (kind == WeightsKind::kLocalM || kind == WeightsKind::kMocha) c.window = 2;
  return c;
}

// Every score by softmax, every normaliser of `base`'s score, and some that go together.
inline std::vector<ModelConfig> attention_choices(const ModelConfig& base, Index longest_source) {
  std::vector<ModelConfig> all;
  for (const AttentionKind kind : kAttentionKinds) {
    all.push_back(base);
    all.back().attention = kind;
    if (kind == AttentionKind::kLocation) all.back().longest_source = longest_source;
  }
  for (const WeightsKind kind : kWeightsKinds) all.push_back(with_normalizer(base, kind));
  ModelConfig c = with_normalizer(base, WeightsKind::kMonotonic);
  c.attention = AttentionKind::kLocationSensitive;
  c.projections = true;
  c.heads = 2;
  c.weight_norm = true;
  all.push_back(c);
  c = with_normalizer(base, WeightsKind::kEntmax);
  c.attention = AttentionKind::kCoverage;
  c.temperature = 0.5;
  all.push_back(c);
  c = with_normalizer(base, WeightsKind::kMocha);
  c.attention = AttentionKind::kCosine;
  c.temperature = 0.25;
  all.push_back(c);
  c = with_normalizer(base, WeightsKind::kLocalP);
  c.attention = AttentionKind::kScaledDot;
  c.projections = true;
  c.heads = 2;
  all.push_back(c);
  return all;
}

}  // namespace regard::test
