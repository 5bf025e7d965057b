// Self-attention: a sequence that looks at itself, and the encoder layer that is built on it
// (lesson 9.4; docs/models.md).
#pragma once

#include <string>

#include "regard/nn/attention_layer.h"
#include "regard/nn/dropout_plan.h"
#include "regard/nn/feed_forward.h"

namespace regard {

// Multi-head attention is an AttentionLayer with projections: W_Q, W_K, W_V and an output
// projection around N attentions side by side.
using MultiHeadAttention = AttentionLayer;

// Its usual shape: scaled dot products under softmax, queries and keys as wide as what they are
// made of, no bias in the projections.
//
// Source   Vaswani et al., arXiv 1706.03762v7, section 3.2.2
AttentionShape multi_head_shape(Index width, Index heads);

// The rows of a batch of sequences, one sequence after the other, and what is dropped in them.
// Borrowed until backward has run.
struct SequenceRows {
  RaggedRows sequences;             // sequence s owns rows [start[s], start[s] + length[s])
  RowOrigin origin;                 // by row: its sequence (a lane) and its place there
  const Index* position = nullptr;  // the places once more, as attention reads them
  DropoutPlan dropout;

  Index count() const { return origin.count; }
};

// Lays `count` sequences of these lengths out in the tape's arena. `lane_sequence` [count]: which
// entry of dropout.pair_key is whose; unused without dropout.
SequenceRows sequence_rows(Tape& tape, const Index* length, Index count,
                           const Index* lane_sequence = nullptr, const DropoutPlan& dropout = {});

// y_i = attention of the query x_i over x_1 .. x_S: queries, keys and values of one sequence, all
// positions at once.
//
// Values   a row's bits depend on its own sequence alone; positions reach the result through masks,
//          windows and relative positions only
class SelfAttention {
 public:
  // Adds the parameters of AttentionLayer under `name`; shape.query and shape.memory become
  // `width`. Errors  ConfigError: heads that do not divide the widths; scores and normalisers that
  // read where
  //         the step before looked, since all positions look at once
  static SelfAttention make(Parameters& p, const std::string& name, Index width,
                            AttentionShape shape);

  Index heads() const { return attention_.heads(); }
  // x [rows, width]. Weights are dropped at rates.attention, at the site `name`. Writes
  // head_weights [rows N, longest] (row r, head h: row r N + h) unless its data is null.
  // Errors  ShapeError: x has another number of rows; location: a sequence beyond Smax
  Var operator()(Tape& tape, Var x, const SequenceRows& rows, Matrix head_weights = {}) const;

 private:
  std::string name_;
  AttentionLayer attention_;
};

struct SelfAttentionShape {
  Index width = 0;         // M
  Index feed_forward = 0;  // of the layer between its two products
  AttentionShape attention;
};

//     x + self-attention(norm x), then x + feed-forward(norm x)
//
// The norms stand inside the residuals: the sum itself passes unchanged from the embeddings to the
// top, so the layers train at a full rate from the first update, without a warm-up. What comes out
// of the last layer wants one more norm.
//
// Math     parameters `name`.attention.*, `name`.attention_norm, `name`.feed_forward and
//          `name`.feed_forward_norm; dropout at rates.layer on what either part adds and inside
//          the feed-forward, at sites below `name`
// Source   Vaswani et al., arXiv 1706.03762v7, section 3.1; norms inside: Xiong et al.,
//          arXiv 2002.04745v2, figure 1 (b)
class SelfAttentionLayer {
 public:
  // Errors  as SelfAttention::make
  static SelfAttentionLayer make(Parameters& p, const std::string& name,
                                 const SelfAttentionShape& shape);

  Index heads() const { return attention_.heads(); }
  // As SelfAttention's.
  Var operator()(Tape& tape, Var x, const SequenceRows& rows, Matrix head_weights = {}) const;

 private:
  std::string name_;
  LayerNorm attention_norm_, feed_forward_norm_;
  SelfAttention attention_;
  FeedForward feed_forward_;
};

}  // namespace regard
