// Attention: score each key against a query, normalise over the keys, combine the values. Forward
// and backward, over sentences of any length, with keys prepared once and queried many times.
//
//   PreparedKeys keys = prepare_keys(score, projected_memory, sentences, arena);
//   attend_forward(keys, memory, {query, key_row}, {context, weights}, workspace);    many times
//   KeyGradients sums = begin_key_gradients(keys, memory.cols, arena);
//   attend_backward(keys, memory, inputs, sums, gradients, workspace);                many times
//   finish_key_gradients(keys, sums, d_projected_memory, d_memory);
//
// Letters: R query rows, S keys of a sentence, A width of the additive layer, D width of a dot
// product, Dv width of a value. Row i of the queries reads sentence b = key_row[i].
#pragma once

#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard::attention {

enum class ScoreKind {
  kAdditive,   // e = v . tanh(q + k); q = W_1 s + b and k = W_2 h are projected by the caller
  kDot,        // e = q . k
  kScaledDot,  // e = q . k / sqrt(D)
  kGeneral,    // e = q W k
};

// How a query is scored against a key. Views are borrowed: v and w live as long as the keys that
// were prepared with them.
//
// Source   additive: Bahdanau et al., arXiv 1409.0473v7, section A.1.2; dot and general: Luong et
//          al., arXiv 1508.04025v5, section 3.1; scaled: Vaswani et al., arXiv 1706.03762v7, 3.2.1
// Shapes   v [A], additive only; w [width of q, width of k], general only
// Values   `scale` multiplies the score of every kind, for kScaledDot beside 1 / sqrt(D)
struct Score {
  ScoreKind kind = ScoreKind::kDot;
  ConstVector v;
  float scale = 1.0f;
  ConstMatrix w;
};

// Sentences as runs of matrix rows: sentence b owns rows [start[b], start[b] + length[b]). Nothing
// outside those rows is read or written. A length may be 0.
struct RaggedRows {
  const Index* start = nullptr;
  const Index* length = nullptr;
  Index count = 0;
};

// The rows of a dense [B, padded_length, width] block with lengths; `start` comes from the arena.
RaggedRows dense_rows(Index batch, Index padded_length, const Index* length, Arena& arena);

// The keys of some sentences, made ready for scoring. Made by prepare_keys; plain data in its
// arena, valid until that is rewound; it also borrows the key matrix. Read-only afterwards: any
// number of threads may attend to one at once.
struct PreparedKeys {
  Score score;
  ConstMatrix keys;              // as given
  RaggedRows rows;               // copied
  const Index* first = nullptr;  // [count] first row of each sentence when live rows are counted on
  Index live_rows = 0;           // sum of lengths
  Index longest = 0;             // largest length
  Index width = 0;               // A or D
  Index padded_width = 0;        // A rounded up to a whole group of 64

  // Below: for the kernels, see additive.h and kernels/gemm.h.
  // Additive: e^(2k) by live row [live_rows, padded_width], zero beyond A; extrema by sentence; v
  // and -2 v, scaled and padded; their sum.
  const float* exponentials = nullptr;
  const struct RowExtrema* extrema = nullptr;
  const float* v = nullptr;
  const float* minus_two_v = nullptr;
  float sum_v = 0.0f;
  bool v_in_range = false;
  // Dot: packed panels of 16 keys; those of sentence b start at panels + panel_start[b].
  const float* panels = nullptr;
  const Index* panel_start = nullptr;
};

// Shapes   keys [rows, A] (additive), [rows, D] (dot), [rows, w.cols] (general)
// Errors   ShapeError: a sentence outside the rows, widths that disagree with v or w
// Cost     additive: one exponential per live key element; dot: one copy
PreparedKeys prepare_keys(const Score& score, ConstMatrix keys, const RaggedRows& rows,
                          Arena& arena);

// The rows that look. Any order, any number per sentence; a result never depends on the other rows.
//
// Shapes   query [R, A] (additive, projected), [R, D] (dot), [R, w.rows] (general); key_row [R],
//          null when there is one sentence
struct QueryRows {
  ConstMatrix query;
  const Index* key_row = nullptr;
};

// What a call writes. Null data: not asked for. What is asked for changes no bit of the others.
//
// Shapes   context [R, Dv]; weights and raw_scores [R, at least keys.longest], 0 beyond a length;
//          log_sum_exp [R]
struct AttentionOutputs {
  Matrix context;
  Matrix weights;
  Vector log_sum_exp;
  Matrix raw_scores;
};

// Context vectors, and the weights where asked for.
//
// Math     e_ij = scale * score(q_i, k_j); w_ij = exp(e_ij) / sum_j exp(e_ij); c_i = sum_j w_ij v_j
// Values   a sentence of length 0: context 0, weights 0, log_sum_exp -inf; of length 1: weight 1.
//          NaN and Inf in live rows propagate; rows beyond a length are never read
// Writes   overwrites; outputs may alias neither inputs nor each other
// Keeps    for backward: the weights
// Errors   ShapeError, naming the argument, what was wanted and what was got
// Threads  safe at once on different outputs and workspaces
// Cost     additive about 6.5 R S A multiply-adds, dot R S D; + R S Dv; workspace 32 (A + S) floats
void attend_forward(const PreparedKeys& keys, ConstMatrix values, const QueryRows& queries,
                    const AttentionOutputs& outputs, Arena& workspace);

// Gradients with respect to keys and values, summed over any number of calls. Made by
// begin_key_gradients; memory of its arena.
struct KeyGradients {
  Matrix d_keys;    // by live row, unit 1 / (4 v) for additive, 1 / scale for dot
  Matrix d_values;  // by live row
  Index value_width = 0;
};

// Zeros. `value_width` 0: no gradient with respect to the values is wanted.
KeyGradients begin_key_gradients(const PreparedKeys& keys, Index value_width, Arena& arena);

// What backward takes: the queries and weights of the forward call, and the gradients that came
// back. d_weights may be null.
struct BackwardInputs {
  QueryRows queries;
  ConstMatrix weights;    // [R, at least keys.longest]
  ConstMatrix d_context;  // [R, Dv]
  ConstMatrix d_weights;  // as weights
};

// Where backward adds; null data: not wanted. d_v [A] for additive, d_w as w for general.
struct ScoreGradients {
  Matrix d_query;
  Vector d_v;
  Matrix d_w;
};

// Adds this call's part of every gradient.
//
// Math     g_ij = d_c_i . v_j + d_w_ij; d_e_ij = w_ij (g_ij - sum_j w_ij g_ij); additive: d_q_i =
//          sum_j d_e_ij v * (1 - tanh^2), d_k_j = sum_i likewise, d_v = sum_ij d_e_ij tanh; dot:
//          d_q_i = sum_j d_e_ij k_j, d_k_j = sum_i d_e_ij q_i
// Values   sentences of length 0 and 1: d_e exactly 0
// Writes   accumulates; d_query row i depends on row i and its sentence alone; sums over rows go in
//          the order of the sentences, then of the rows
// Errors   ShapeError
// Cost     additive about 12 R S A multiply-adds, dot 2 R S D; + 2 R S Dv
void attend_backward(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& inputs,
                     KeyGradients& sums, const ScoreGradients& gradients, Arena& workspace);

// Adds the sums to the caller's gradients, laid out as the keys and values of the forward calls.
// Null data: not wanted. d_keys and d_values may be one matrix (keys = values = memory).
void finish_key_gradients(const PreparedKeys& keys, const KeyGradients& sums, Matrix d_keys,
                          Matrix d_values);

// The query side of the general score, for callers that keep the projected rows: projected = query
// w, and its gradients, which accumulate (null data: not wanted).
//
// Shapes   query [R, w.rows], w [Dq, Dk], projected [R, Dk]
void general_project_forward(ConstMatrix query, ConstMatrix w, Matrix projected, Arena& workspace);
struct GeneralGradients {
  Matrix d_query;
  Matrix d_w;
};
void general_project_backward(ConstMatrix query, ConstMatrix w, ConstMatrix d_projected,
                              const GeneralGradients& gradients, Arena& workspace);

}  // namespace regard::attention
