// The decoders of docs/models.md: fixed (the bottleneck), bahdanau, conditional, luong.
//
// Training and search run the same step: training over packed rows of all target positions, search
// over one row per hypothesis. Products that need no recurrent state are hoisted out of the loop;
// their chains are the same.
#pragma once

#include <optional>
#include <vector>

#include "regard/model/encoder.h"
#include "regard/nn/attention_layer.h"

namespace regard {

// What a decoder carries from step to step; rows are hypotheses (or the live lanes of a batch).
struct DecoderState {
  std::vector<CellState> layers;
  Var feed;       // luong with input feeding: a_{i-1}
  Var attention;  // [rows N, longest source], row r, head h at r N + h: where the model has looked,
                  // for scores and normalisers that read it; empty at the beginning
  Index step = 0;  // steps made: the next row's position i
};

// A batch's memory as the decoder reads it.
struct DecoderMemory {
  Memory encoder;
  AttentionMemory attention;  // none for `fixed`
};

class Decoder {
 public:
  // Adds its parameters; `embedding` is the target table.
  static Decoder make(const ModelConfig& config, ParameterId embedding, Parameters& parameters);

  // Whether the encoder has to make Memory::summary.
  bool needs_summary() const;
  // Keys are projected and prepared here, once per sentence.
  DecoderMemory prepare(Tape& tape, const Memory& memory, const DropoutPlan& dropout = {}) const;

  // s_0 for rows that read sentences key_row[0..n).
  DecoderState start(Tape& tape, const DecoderMemory& memory, const Index* key_row, Index n) const;

  // What run() writes beside t_i, by row; null data: not asked for.
  struct Looks {
    Matrix weights = {};  // [rows, longest source], the mean over heads
    // See's coverage loss at this weight (autograd/ops_attention.h), which has a gradient; 0: none.
    float coverage_weight = 0.0f;
    Vector coverage_loss = {};  // [rows]
  };
  // Training and forced decoding: every target position at once. `target` holds y_0 .. y_{T-1}
  // packed; key_row [rows] names each row's sentence. Returns t_i [rows, readout].
  Var run(Tape& tape, const DecoderMemory& memory, const PackedIds& target, const Index* key_row,
          const DropoutPlan& dropout, const Looks& looks) const;

  struct Step {
    DecoderState state;
    Var readout;  // t_i [n, readout]
    Var context;  // c_i [n, M]; empty for `fixed` without --feed-context
    // [n, longest source], the mean over heads, zero beyond each length; null for `fixed`; scores
    // only when asked for.
    AttentionRows attention;
  };
  // One step of search for n hypotheses that just produced `ids`.
  Step step(Tape& tape, const DecoderMemory& memory, const DecoderState& state,
            const std::int32_t* ids, const Index* key_row, Index n, bool with_scores = false) const;

 private:
  // What reads no state: made for all steps at once in training.
  struct Inputs {
    Var embedded;  // E y_{i-1}
    Var gi;        // W_e E y_{i-1} + b of layer 1 (+ W_c c), which a step completes in place
  };
  // The rows of one step, or of all steps: whose they are.
  struct Rows {
    const Index* key_row = nullptr;
    const Index* position = nullptr;             // i
    const std::uint64_t* dropout_key = nullptr;  // of the attention weights
    const DropoutPlan* dropout = nullptr;        // null in search
    RowOrigin origin = {};

    Rows at(Index first, Index n) const;
  };
  // What recurrence, attention and read-out read and write for them.
  struct Cell {
    Inputs in;
    DecoderState out;
    AttentionLayer::Output look;  // c_i, and where the model looked
    Var looked;                   // where it had looked before
  };
  // `heads`: rows of attention state for each row.
  static Cell cell_rows(const Cell& cell, Index heads, Index first, Index n);
  Inputs inputs(Tape& tape, const DecoderMemory& memory, const std::int32_t* ids, Index n,
                const Rows& rows) const;
  void advance(Tape& tape, const DecoderMemory& memory, const DecoderState& previous,
               const Rows& rows, const Cell& cell) const;
  void look(Tape& tape, const DecoderMemory& memory, Var query, const Rows& rows,
            const Cell& cell) const;
  bool looks_in_recurrence() const;
  Var read_out(Tape& tape, const DecoderMemory& memory, const Rows& rows, Cell& cell) const;
  void read_out_luong(Tape& tape, Var state, Var context, Var out) const;
  DecoderState make_states(Tape& tape, const DecoderMemory& memory, Index rows) const;

  ModelConfig config_;
  ParameterId embedding_;
  std::vector<Recurrent> layers_;    // layer 1 first
  std::optional<Recurrent> second_;  // conditional: RNN2 of layer 1
  std::vector<Linear> start_;        // per layer
  std::optional<AttentionLayer> attention_;
  // t_i = tanh(b + W_1 s + W_2 E y + W_3 c); luong: a_i = tanh(b + W_c c + W_s s).
  ParameterId read_state_, read_embedding_, read_context_, read_bias_;
  int context_block_ = -1, feed_block_ = -1;  // input blocks of layer 1
};

}  // namespace regard
