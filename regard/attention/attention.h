// Attention: score each key against a query, normalise over the keys, combine the values. Forward
// and backward, over sentences of any length, with keys prepared once and queried many times.
//
//   PreparedKeys keys = prepare_keys(attention, projected_memory, sentences, arena);
//   attend_forward(keys, memory, {query, key_row}, {context, weights}, workspace);    many times
//   KeyGradients sums = begin_key_gradients(keys, memory.cols, arena);
//   attend_backward(keys, memory, inputs, sums, gradients, workspace);                many times
//   finish_key_gradients(keys, sums, {d_projected_memory, d_memory, ...}, workspace);
//
// Letters: R query rows, S keys of a sentence, A width of the additive layer, D width of a dot
// product, Dv width of a value, N heads. Row r of the queries reads sentence b = key_row[r].
#pragma once

#include "regard/attention/bias.h"
#include "regard/attention/mask.h"
#include "regard/attention/normalizer.h"
#include "regard/attention/score.h"
#include "regard/base/threads.h"
#include "regard/tensor/arena.h"
#include "regard/tensor/view.h"

namespace regard::attention {

// What is computed, axis by axis, in the order in which it happens: score (with its scale and cap),
// bias, mask, normaliser, dropout, combine. Every member of an axis goes with every member of the
// others, or is a ConfigError that says why. Plain data; views are borrowed.
struct Attention {
  Score score = {};
  Bias bias = {};
  Mask mask = {};
  Normalizer normalizer = {};
  float dropout = 0.0f;  // of the weights, 0 to 1
  Index heads = 1;       // N: queries, keys, values and contexts are N parts side by side

  // A product under softmax: keys are taken tile by tile, and no row of scores is ever whole.
  bool streams() const noexcept {
    return score.product() && normalizer.kind == NormalizerKind::kSoftmax;
  }
  // A state goes from step to step: what QueryRows::state holds.
  bool stateful() const noexcept { return score.stateful() || normalizer.stateful(); }
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

struct HeadKeys;  // the kernels' forms of one head's keys: prepared_keys.h

// The keys of some sentences, made ready for scoring. Made by prepare_keys; plain data in its
// arena, valid until that is rewound; it also borrows the key matrix. Read-only afterwards: any
// number of threads may attend to one at once.
struct PreparedKeys {
  Attention attention;
  ConstMatrix keys;              // as given
  RaggedRows rows;               // copied
  const Index* first = nullptr;  // [count] first row of each sentence when live rows are counted on
  Index live_rows = 0;           // sum of lengths
  Index longest = 0;             // largest length
  Index width = 0;               // A or D of one head
  Index padded_width = 0;        // rounded up as the kernels want it
  ConstMatrix scored;            // the keys as they are scored: projected (concat), of unit length
                                 // (cosine), else `keys`
  const float* norms = nullptr;  // cosine: 1 / |k| by live row and head
  const HeadKeys* head = nullptr;  // [N]
};

// Shapes   keys [rows, N A] (additive and its kin), [rows, N D] (dot, scaled dot, cosine),
//          [rows, w.cols] (general), [rows, Dk] (concat), [rows, 0] (location), any (custom)
// Errors   ConfigError: axes that have no meaning together, a number out of range; ShapeError: a
//          sentence outside the rows, widths that disagree
// Cost     additive: one exponential per live key element; dot: one copy
PreparedKeys prepare_keys(const Attention& attention, ConstMatrix keys, const RaggedRows& rows,
                          Arena& arena);
PreparedKeys prepare_keys(const Score& score, ConstMatrix keys, const RaggedRows& rows,
                          Arena& arena);

// The rows that look. Any order, any number per sentence; a result never depends on the other rows.
//
// Shapes   query [R, N A], [R, N D], [R, w.rows] (general), [R, w.cols - Dk] (concat), [R, N Smax]
//          (location: S beyond Smax is an error), [R, N x] (custom); key_row [R], null when there
//          is one sentence. Null unless used: position [R], place i among the queries of its
//          sentence, null: in order of the rows of this call; query_length [sentences] T, null: the
//          rows of this call if there are no positions; dropout_key [R]; state [R N, >= longest]
//          what the step before left in next_state, null: the beginning; chunk_scores
//          [R N, >= longest] for MoChA, null: the scores; center [R N] for local
// Values   row r, head h of an [R N, ...] matrix is its row r N + h
struct QueryRows {
  ConstMatrix query;
  const Index* key_row = nullptr;
  const Index* position = nullptr;
  const Index* query_length = nullptr;
  const std::uint64_t* dropout_key = nullptr;
  ConstMatrix state = {};
  ConstMatrix chunk_scores = {};
  ConstVector center = {};
};

// What a call writes. Null data: not asked for. What is asked for changes no bit of the others.
//
// Shapes   context [R, N Dv]; weights, raw_scores and next_state [R N, at least keys.longest], 0
//          beyond a length; log_sum_exp [R N]; key_sums [N, rows of keys]; softmax_stats [R N, 2],
//          streams() alone: what backward would else compute again
// Values   weights are before dropout; raw_scores after scale and cap, before bias, 0 where masked;
//          log_sum_exp of what softmax reads, and of no other normaliser; key_sums: the sum of
//          a key's weights over the call's rows, written for live keys alone; next_state: coverage
//          state + weights, others the weights (MoChA: its monotonic part)
struct AttentionOutputs {
  Matrix context = {};
  Matrix weights = {};
  Vector log_sum_exp = {};
  Matrix raw_scores = {};
  Matrix next_state = {};
  Matrix key_sums = {};
  Matrix softmax_stats = {};
};

// Where a call takes its temporary memory from, and the threads that it may use (null: the caller
// alone). An arena that has served a call of the same size once is not grown by the next.
struct Workspace {
  Workspace(Arena& memory, Threads* team = nullptr) : arena(memory), threads(team) {}
  Arena& arena;
  Threads* threads;
};

// Context vectors, and the weights where asked for.
//
// Math     e_ij = cap(scale * score(q_i, k_j)) + bias_ij; w_i = normalise(e_ij over live j);
//          c_i = sum_j drop(w_ij) v_j
// Values   no live key: context 0, weights 0, log_sum_exp -inf; one: weight 1 where rows sum to 1.
//          NaN and Inf in live rows propagate; rows beyond a length are never read, and what is
//          masked adds nothing
// Writes   overwrites; outputs may alias neither inputs nor each other
// Keeps    for backward: nothing but the inputs; it computes less with the weights, or with context
//          and softmax_stats where streams()
// Errors   ShapeError, naming the argument, what was wanted and what was got; ConfigError: an
//          output that this normaliser has not, dropout without keys, local without centers
// Threads  safe at once on different outputs and workspaces; the same bits for any number
// Cost     additive about 6.5 R S A multiply-adds, dot R S D; + R S Dv; workspace about
//          threads * 32 (A + 3 S) floats
void attend_forward(const PreparedKeys& keys, ConstMatrix values, const QueryRows& queries,
                    const AttentionOutputs& outputs, Workspace workspace);

// Gradients with respect to keys and values, summed over any number of calls. Made by
// begin_key_gradients; memory of its arena.
struct KeyGradients {
  Matrix d_keys;    // [N live rows, padded width], head after head, of the keys as scored; for the
                    // factored scores in units of 1 / (4 v), for products of 1 / factor
  Matrix d_values;  // [N live rows, padded Dv]
  Index value_width = 0;
};

// Zeros. `value_width` 0: no gradient with respect to the values is wanted.
KeyGradients begin_key_gradients(const PreparedKeys& keys, Index value_width, Arena& arena);

// What backward takes: the queries of the forward call and the gradients that came back; all but
// d_context may be null. Shapes as of AttentionOutputs.
struct BackwardInputs {
  QueryRows queries;
  ConstMatrix weights = {};  // of the forward call; null, or streams(): computed again
  ConstMatrix d_context = {};
  ConstMatrix d_weights = {};
  ConstVector d_log_sum_exp = {};
  ConstMatrix d_next_state = {};
  // Of the forward call, both or none; read where streams().
  ConstMatrix context = {};
  ConstMatrix softmax_stats = {};
};

// Where backward adds; null data: not wanted. Shapes of what they are gradients of.
struct ScoreGradients {
  Matrix d_query = {};
  Vector d_v = {};
  Matrix d_w = {};
  Vector d_b = {};
  Vector d_g = {};
  Matrix d_filters = {};
  Matrix d_u = {};
  BiasGradients bias = {};
  Matrix d_state = {};
  Matrix d_chunk_scores = {};
  Vector d_center = {};
  Vector d_alpha = {};  // [1]: entmax
};

// Adds this call's part of every gradient.
//
// Math     g_ij = drop(d_c_i . v_j) + d_w_ij; d_e = normalise_backward(g); then through cap, bias
//          and score; additive: d_q_i = sum_j d_e_ij v * (1 - tanh^2), d_k_j = sum_i likewise,
//          d_v = sum_ij d_e_ij tanh; dot: d_q_i = sum_j d_e_ij k_j, d_k_j = sum_i d_e_ij q_i
// Values   rows without a live key: every gradient 0; with one: d_e exactly 0 where rows sum to 1
// Writes   accumulates; d_query row i depends on row i and its sentence alone; sums over rows go in
//          the order of the sentences, then of the rows
// Errors   as attend_forward
// Threads  as attend_forward
// Cost     additive about 12 R S A multiply-adds, dot 2 R S D; + 2 R S Dv; without weights the
//          scores once more
void attend_backward(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& inputs,
                     KeyGradients& sums, const ScoreGradients& gradients, Workspace workspace);

// Adds the sums to the caller's gradients, laid out as the keys and values of the forward calls.
// Null data: not wanted. d_keys and d_values may be one matrix (keys = values = memory); d_w is
// concat's alone.
struct MemoryGradients {
  Matrix d_keys = {};
  Matrix d_values = {};
  Matrix d_w = {};
};
void finish_key_gradients(const PreparedKeys& keys, const KeyGradients& sums,
                          const MemoryGradients& gradients, Workspace workspace);

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
