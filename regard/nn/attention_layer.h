// AttentionLayer: score, normalise, combine with learned projections (lesson 9.2 and 9.3;
// docs/attention.md).
#pragma once

#include <string>

#include "regard/autograd/ops_attention.h"
#include "regard/nn/layers.h"

namespace regard {

// What a layer is made of. Which parameters it has follows from this.
struct AttentionShape {
  ScoreKind score = ScoreKind::kAdditive;  // all but kCustom
  Index query = 0;                         // width of the decoder state s
  Index memory = 0;                        // width of h, and of the context
  Index width = 0;  // A: of v . tanh(...), of projected queries and keys, of the centre's layer
  Index heads = 1;  // N; the widths that are split have to be multiples
  bool projections = false;  // W_Q, W_K, W_V and an output projection
  bool weight_norm = false;  // scores with a v: g v / |v| for v, and a bias before the tanh
  float scale = 1.0f;        // of the score
  attention::Normalizer normalizer = {};  // entmax: alpha is learned
  attention::Mask mask = {};              // positional
  Index window = 0;     // local-m: keys within D of the row's own place min(i, S - 1); 0: all
  Index relative = -1;  // half-width W of a learned bias by distance j - i; -1: none
  Index channels = 8;   // location-sensitive: filters
  Index taps = 7;       // and their width, odd
  Index longest = 0;    // location: Smax
};

// additive, concat     e = v . tanh(W_1 s + W_2 h)         `name`.query, `name`.key, `name`.v
// dot, scaled, cosine  e = s . h (/ sqrt(d), / (|s| |h|))  with projections `name`.query,
// `name`.key general              e = s' W h                          `name`.general [M,U] holds W'
// location             e = W s                             `name`.location [N Smax,U]
// location-sensitive   e = v . tanh(W_1 s + W_2 h + U f)   and `name`.filters [C,taps], `name`.u
// [A,C] coverage             e = v . tanh(W_1 s + W_2 h + u sum of past weights)   and `name`.u
// [A,1]
//
// concat is additive with W = [W_1 W_2] kept as its two halves. Besides: `name`.value [M,M] and
// `name`.output [M,M] with projections; `name`.b [1,A] and `name`.g [1,1] with weight_norm;
// `name`.relative [N,2W+1]; `name`.alpha [1,1] for entmax (ops_attention.h); `name`.offset [N,1], a
// number added to all scores, where the normaliser feels it (sigmoid, monotonic, MoChA);
// `name`.center.inner [A,U] and `name`.center.v [N,A] for local, whose centre is
// p = S sigma(v_p . tanh(W_p s)).
class AttentionLayer {
 public:
  // Adds its parameters. Widths have been checked (ModelConfig::validate).
  static AttentionLayer make(Parameters& p, const std::string& name, const AttentionShape& shape);

  // A state goes from step to step: Rows::state and Output::next_state, [n N, longest].
  bool stateful() const { return spec_.stateful(); }
  Index heads() const { return spec_.heads; }

  // Projects and prepares the keys of a batch, once. `dropout` is that of the weights.
  // Errors  ShapeError: location, and a sentence longer than Smax
  AttentionMemory prepare(Tape& tape, Var memory_rows, const RaggedRows& sentences,
                          float dropout = 0.0f) const;

  // The rows that look; arrays are borrowed until backward has run.
  struct Rows {
    Var query;  // s [n,U]
    const Index* key_row = nullptr;
    const Index* position = nullptr;      // i; needed by windows, masks and relative positions
    const Index* query_length = nullptr;  // by sentence; masks that ask for it
    const std::uint64_t* dropout_key = nullptr;  // one a row and position
    Var state;                                   // empty: the beginning
  };
  // What is written, [n, longest] where no other shape is given; null data: not asked for.
  struct Output {
    Var context;               // [n,M]
    Matrix weights = {};       // the mean over heads, as is
    Matrix raw_scores = {};    // this one
    Matrix head_weights = {};  // [n N, longest]: row r, head h is r N + h
    Var next_state = {};       // [n N, longest]
    // coverage alone: See's loss (ops_attention.h) at this weight into [n]; 0: none
    float coverage_weight = 0.0f;
    Vector coverage_loss = {};
  };
  // c = sum_j alpha_j h_j for each query row; and what else is asked for.
  void attend(Tape& tape, const AttentionMemory& memory, const Rows& rows,
              const Output& output) const;

 private:
  void add_score(Parameters& p, const std::string& name, const AttentionShape& shape);
  void add_normalizer(Parameters& p, const std::string& name, const AttentionShape& shape);
  const Index* places(Tape& tape, const AttentionMemory& memory, const Rows& rows) const;
  AttentionRows asked_for(Tape& tape, const AttentionMemory& memory, Index n,
                          const Output& output) const;

  attention::Attention spec_;
  AttentionParameters parameters_;
  ParameterId query_, key_, value_, output_, center_inner_, center_v_;
  Index window_ = 0, longest_ = 0;
};

}  // namespace regard
