// The forward driver: blocks of rows of one sentence go through score, normalise, combine while
// they stay in cache. Blocks are independent, so any thread may take any of them.
#include <algorithm>
#include <limits>

#include "regard/attention/axes.h"
#include "regard/attention/call.h"
#include "regard/attention/checks.h"
#include "regard/attention/stream.h"
#include "regard/base/float_environment.h"

namespace regard::attention {
namespace {

constexpr char kForward[] = "attend_forward";

struct Call {
  const PreparedKeys& keys;
  ConstMatrix values;
  const QueryRows& queries;
  ScoredQuery scored;
  const AttentionOutputs& out;

  HeadCall head(Index h) const {
    return {keys, queries, scored.rows, h, scored.rows.cols / keys.attention.heads};
  }
};

void check_head_output(const PreparedKeys& keys, Index rows, const NamedMatrix& m) {
  if (m.view.data == nullptr) return;
  const std::string name = m.name;
  check_extent(kForward, ("rows of " + name).c_str(), rows * keys.attention.heads, m.view.rows);
  check_at_least(kForward, ("columns of " + name).c_str(), keys.longest, m.view.cols);
  check_stride(kForward, m);
}

void check_outputs(const PreparedKeys& keys, ConstMatrix values, const QueryRows& queries,
                   const AttentionOutputs& out) {
  const Index rows = queries.query.rows, heads = keys.attention.heads;
  if (out.context.data != nullptr) {
    check_extent(kForward, "rows of context", rows, out.context.rows);
    check_extent(kForward, "columns of context", values.cols, out.context.cols);
  }
  check_stride(kForward, {"context", out.context});
  for (const NamedMatrix& m : {NamedMatrix{"weights", out.weights},
                               {"raw_scores", out.raw_scores},
                               {"next_state", out.next_state}}) {
    check_head_output(keys, rows, m);
  }
  if (out.log_sum_exp) {
    check_extent(kForward, "size of log_sum_exp", rows * heads, out.log_sum_exp.size);
  }
  if (out.key_sums.data != nullptr) {
    check_extent(kForward, "rows of key_sums", heads, out.key_sums.rows);
    check_extent(kForward, "columns of key_sums", keys.keys.rows, out.key_sums.cols);
    check_stride(kForward, {"key_sums", out.key_sums});
  }
  if (out.softmax_stats.data != nullptr) {
    check_extent(kForward, "rows of softmax_stats", rows * heads, out.softmax_stats.rows);
    check_extent(kForward, "columns of softmax_stats", 2, out.softmax_stats.cols);
    check_stride(kForward, {"softmax_stats", out.softmax_stats});
  }
  check_request(kForward, keys.attention, queries,
                {static_cast<bool>(out.log_sum_exp), out.next_state.data != nullptr,
                 out.softmax_stats.data != nullptr});
  const Score& score = keys.attention.score;
  const Bias& bias = keys.attention.bias;
  check_apart(kForward,
              {{"context", out.context},
               {"weights", out.weights},
               {"raw_scores", out.raw_scores},
               {"log_sum_exp", as_matrix(out.log_sum_exp)},
               {"next_state", out.next_state},
               {"key_sums", out.key_sums},
               {"softmax_stats", out.softmax_stats}},
              {{"query", queries.query},
               {"values", values},
               {"keys", keys.keys},
               {"v", as_matrix(score.v)},
               {"w", score.w},
               {"b", as_matrix(score.b)},
               {"filters", score.filters},
               {"u", score.u},
               {"bias", bias.dense},
               {"slopes", as_matrix(bias.slopes)},
               {"table", bias.table},
               {"state", queries.state},
               {"chunk_scores", queries.chunk_scores},
               {"center", as_matrix(queries.center)}});
}

void zero_row(Matrix m, Index row) noexcept {
  if (m.data != nullptr) std::fill_n(m.row(row), m.cols, 0.0f);
}

// Copies `count` weights and fills the rest of the row with zeros.
void write_row(const float* from, Index count, Matrix to, Index row) noexcept {
  if (to.data == nullptr) return;
  float* out = to.row(row);
  std::copy_n(from, count, out);
  std::fill(out + count, out + to.cols, 0.0f);
}

// A state moves on although its row saw nothing: coverage keeps its sum, the others become 0 or
// what the normaliser wrote.
void write_next_state(const Call& call, const HeadCall& head, const RowBlock& block,
                      const BlockScratch& s) noexcept {
  const Matrix& next = call.out.next_state;
  if (next.data == nullptr || call.keys.attention.normalizer.stateful()) return;
  const Index count = s.live.live.keys;
  const bool coverage = call.keys.attention.score.kind == ScoreKind::kCoverage;
  for (Index i = 0; i < block.count; ++i) {
    const Index row = head.head_row(block.rows[i]);
    write_row(s.weights + i * s.stride, count, next, row);
    if (coverage && call.queries.state.data != nullptr) {
      add_scaled(call.queries.state.row(row), 1.0f, count, next.row(row));
    }
  }
}

void no_keys(const Call& call, const HeadCall& head, const RowBlock& block) noexcept {
  const AttentionOutputs& out = call.out;
  const HeadColumns columns = value_columns(call.keys, head.head, call.values.cols);
  for (Index i = 0; i < block.count; ++i) {
    const Index row = head.head_row(block.rows[i]);
    if (out.context.data != nullptr) {
      std::fill_n(out.context.row(block.rows[i]) + columns.first, columns.width, 0.0f);
    }
    zero_row(out.weights, row);
    zero_row(out.raw_scores, row);
    zero_row(out.next_state, row);
    zero_row(out.softmax_stats, row);
    if (out.log_sum_exp) out.log_sum_exp[row] = -std::numeric_limits<float>::infinity();
  }
}

void add_key_sums(const Call& call, const HeadCall& head, const RowBlock& block,
                  const BlockScratch& s) noexcept {
  if (call.out.key_sums.data == nullptr) return;
  const Index count = s.live.live.keys;
  float* sums = call.out.key_sums.row(head.head) + call.keys.rows.start[block.sentence];
  for (Index i = 0; i < block.count; ++i) {
    add_scaled(s.weights + i * s.stride, 1.0f, count, sums);
  }
}

// Scores to weights in place, and what goes out of them.
void normalize_block(const Call& call, const HeadCall& head, const RowBlock& block,
                     BlockScratch& s) noexcept {
  const AttentionOutputs& out = call.out;
  const Index count = s.live.live.keys;
  float* next_state[kRowBlock];
  const bool moves = out.next_state.data != nullptr && call.keys.attention.normalizer.stateful();
  for (Index i = 0; moves && i < block.count; ++i) {
    const Index row = head.head_row(block.rows[i]);
    next_state[i] = out.next_state.row(row);
    std::fill(next_state[i] + count, next_state[i] + out.next_state.cols, 0.0f);
  }
  normalize_forward(call.keys.attention.normalizer, normalizer_rows(head, block, s), s.scores,
                    out.log_sum_exp ? s.log_sum_exp : nullptr, moves ? next_state : nullptr,
                    s.normalizer);
  const float temperature = call.keys.attention.normalizer.temperature;
  for (Index i = 0; i < block.count; ++i) {
    const Index row = head.head_row(block.rows[i]);
    if (out.log_sum_exp) out.log_sum_exp[row] = s.log_sum_exp[i] + s.shift[i] / temperature;
    write_row(s.weights + i * s.stride, count, out.weights, row);
  }
}

// Temporary memory of one worker: one of the two.
struct Scratch {
  BlockScratch block;
  StreamScratch stream;
};

void forward_block(const Call& call, Index h, const RowBlock& block, Scratch& scratch) noexcept {
  const FloatEnvironment environment;
  const HeadCall head = call.head(h);
  if (call.keys.rows.length[block.sentence] == 0) {
    no_keys(call, head, block);
    return;
  }
  BlockScratch& s = scratch.block;
  find_live(call.keys, call.queries, block, h, s.live);
  block_scores(head, block, s, call.out.raw_scores);
  normalize_block(call, head, block, s);
  write_next_state(call, head, block, s);
  add_key_sums(call, head, block, s);
  if (call.out.context.data == nullptr) return;
  drop_weights(head, block, s);
  const HeadColumns columns = value_columns(call.keys, h, call.values.cols);
  combine_live(
      s.live, s.dropped, s.stride,
      live_rows(call.values, call.keys.rows, block.sentence, columns.first, columns.width),
      {call.out.context.data + columns.first, call.out.context.stride, block.count, block.rows});
}

// Zeros where the sums will go. They are added by blocks of a sentence in order, so its blocks go
// to one thread then.
void begin_key_sums(const PreparedKeys& keys, Matrix sums) noexcept {
  for (Index h = 0; sums.data != nullptr && h < sums.rows; ++h) {
    for (Index b = 0; b < keys.rows.count; ++b) {
      std::fill_n(sums.row(h) + keys.rows.start[b], keys.rows.length[b], 0.0f);
    }
  }
}

// This block, or all that stream with it.
void forward_from(const Call& call, Index h, const RowBlock* block, const RowBlock* end,
                  Scratch& scratch) noexcept {
  if (!call.keys.attention.streams() || call.keys.rows.length[block->sentence] == 0) {
    forward_block(call, h, *block, scratch);
    return;
  }
  const FloatEnvironment environment;
  const Index count = stream_blocks(block, end);
  if (count == 0) return;
  stream_forward(call.head(h), call.values, {block, count}, call.out, scratch.stream);
}

void run_blocks(const Call& call, const RowBlocks& blocks, Scratch* scratch, Threads* threads) {
  const Index heads = call.keys.attention.heads;
  const bool ordered = call.out.key_sums.data != nullptr;
  if (threads == nullptr || threads->count() == 1) {
    for (Index h = 0; h < heads; ++h) {
      for (const RowBlock& block : blocks) {
        forward_from(call, h, &block, blocks.end(), scratch[0]);
      }
    }
    return;
  }
  threads->run(heads * blocks.count, [&](Index task, int worker) {
    const Index h = task / blocks.count;
    const RowBlock* block = blocks.data + task % blocks.count;
    if (!ordered) {
      forward_from(call, h, block, blocks.end(), scratch[worker]);
      return;
    }
    if (block->first_ordinal > 0) return;  // whoever has the sentence's first block does this one
    const Index sentence = block->sentence;
    for (; block != blocks.end() && block->sentence == sentence; ++block) {
      forward_from(call, h, block, blocks.end(), scratch[worker]);
    }
  });
}

}  // namespace

void attend_forward(const PreparedKeys& keys, ConstMatrix values, const QueryRows& queries,
                    const AttentionOutputs& outputs, Workspace workspace) {
  const FloatEnvironment environment;
  Arena& arena = workspace.arena;
  const ArenaScope scope(arena);
  check_call(kForward, keys, values, queries);
  check_outputs(keys, values, queries, outputs);
  const RowBlocks blocks =
      make_row_blocks(kForward, queries.key_row, queries.query.rows, keys.rows.count, arena);
  check_places(kForward, keys, queries, blocks);
  const Call call{keys, values, queries, score_query(keys, queries.query, arena), outputs};
  const int workers = workspace.threads == nullptr ? 1 : workspace.threads->count();
  const Index rows = std::min(kRowBlock, queries.query.rows);
  Scratch* scratch = arena.array<Scratch>(workers);
  for (int i = 0; i < workers; ++i) {
    scratch[i] = {};
    if (keys.attention.streams()) {
      scratch[i].stream = make_stream_scratch(keys, values, queries.query.rows, false, arena);
    } else {
      scratch[i].block = make_block_scratch(keys, rows, false, arena);
    }
  }
  begin_key_sums(keys, outputs.key_sums);
  run_blocks(call, blocks, scratch, workspace.threads);
}

}  // namespace regard::attention
