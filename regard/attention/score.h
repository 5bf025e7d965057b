// Scores: how a query is compared with a key.
#pragma once

#include "regard/tensor/view.h"

namespace regard::attention {

enum class ScoreKind {
  kAdditive,   // e = v . tanh(q + k); q = W_1 s and k = W_2 h are projected by the caller
  kDot,        // e = q . k
  kScaledDot,  // e = q . k / sqrt(D)
  kGeneral,    // e = q W k
  kConcat,     // e = v . tanh(W [q; k]), computed as additive after splitting W
  kCosine,     // e = q . k / (|q| |k|); a vector of zeros scores 0
  kLocation,   // e_j = q_j: the query, projected by the caller, holds a score for each place
  kLocationSensitive,  // e_j = v . tanh(q + k_j + U f_j), f = filters * (weights of the step
                       // before)
  kCoverage,           // e_j = v . tanh(q + k_j + u (sum of past weights)_j)
  kCustom,             // the caller's own functions
};

// The keys of one sentence as a custom score sees them.
struct KeyRows {
  const float* data = nullptr;
  Index stride = 0;
  Index count = 0;
  Index width = 0;
  const float* row(Index j) const noexcept { return data + j * stride; }
};

// A score of the caller's own: one query row against all keys of its sentence, and the derivative.
// Both functions may run on many threads at once and must not throw. Keys whose d_score is exactly
// 0 are masked or without effect and must add nothing.
//
// Shapes   query [query_width]; scores, d_scores [keys.count]; d_query [query_width]; d_keys rows
//          of [keys.width], d_stride apart; d_query and d_keys accumulate
struct CustomScore {
  const void* self = nullptr;
  void (*forward)(const void* self, const float* query, const KeyRows& keys,
                  float* scores) noexcept = nullptr;
  struct Gradients {
    float* d_query = nullptr;
    float* d_keys = nullptr;
    Index d_stride = 0;
  };
  void (*backward)(const void* self, const float* query, const KeyRows& keys, const float* d_scores,
                   const Gradients& gradients) noexcept = nullptr;
};

// The two functions of an object that outlives the score:
//   void forward(const float* query, const KeyRows&, float* scores) const noexcept;
//   void backward(const float* query, const KeyRows&, const float* d_scores,
//                 const CustomScore::Gradients&) const noexcept;
template <class F>
CustomScore custom_score(const F& functor) {
  CustomScore c;
  c.self = &functor;
  c.forward = [](const void* self, const float* query, const KeyRows& keys,
                 float* scores) noexcept {
    static_cast<const F*>(self)->forward(query, keys, scores);
  };
  c.backward = [](const void* self, const float* query, const KeyRows& keys, const float* d_scores,
                  const CustomScore::Gradients& gradients) noexcept {
    static_cast<const F*>(self)->backward(query, keys, d_scores, gradients);
  };
  return c;
}

// Views are borrowed: they live as long as the keys that were prepared with them.
//
// Source   additive: Bahdanau et al., arXiv 1409.0473v7, section A.1.2; dot, general, concat and
//          location: Luong et al., arXiv 1508.04025v5, section 3.1; scaled: Vaswani et al.,
//          arXiv 1706.03762v7, 3.2.1; location-sensitive: Chorowski et al., arXiv 1506.07503v1,
//          eq. 8 and 9; coverage: Tu et al., arXiv 1601.04811v6, eq. 4; weight normalisation:
//          Salimans and Kingma, arXiv 1602.07868v3, eq. 2
// Shapes   v [A] additive, concat, location-sensitive, coverage; w [Dq, Dk] general,
//          [A, Dq + Dk] concat; b [A] and g [1] where v is, null: none; filters [channels, taps],
//          taps odd, and u [A, channels] location-sensitive; u [A, 1] coverage. With N heads, A
//          and a row of keys are N parts side by side
// Values   `scale` multiplies the score of every kind, for kScaledDot beside 1 / sqrt(D); b is
// added
//          to the query; with g, v becomes g v / |v|; soft_cap > 0: e = cap tanh(e / cap)
struct Score {
  ScoreKind kind = ScoreKind::kDot;
  ConstVector v = {};
  float scale = 1.0f;
  ConstMatrix w = {};
  ConstVector b = {};
  ConstVector g = {};
  float soft_cap = 0.0f;
  ConstMatrix filters = {};
  ConstMatrix u = {};
  CustomScore custom = {};

  // v . tanh(...): the kinds that have a v.
  bool has_v() const noexcept {
    return kind == ScoreKind::kAdditive || kind == ScoreKind::kConcat || stateful();
  }
  // v . tanh(q + k) without a state: the factored form computes it.
  bool factored() const noexcept {
    return kind == ScoreKind::kAdditive || kind == ScoreKind::kConcat;
  }
  // A product of rows, once query and keys are projected or scaled.
  bool product() const noexcept {
    return kind == ScoreKind::kDot || kind == ScoreKind::kScaledDot ||
           kind == ScoreKind::kGeneral || kind == ScoreKind::kCosine;
  }
  // The score reads a state that goes from step to step.
  bool stateful() const noexcept {
    return kind == ScoreKind::kLocationSensitive || kind == ScoreKind::kCoverage;
  }
};

}  // namespace regard::attention
