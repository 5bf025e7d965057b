// The backward driver: the blocks of forward once more, from the gradient of the context to those
// of values, scores, queries and keys. Sums over rows go by groups of sentences whose number
// depends on the call alone, and then group by group: the same bits for any number of threads.
#include <algorithm>
#include <cstring>
#include <string>

#include "regard/attention/axes.h"
#include "regard/attention/call.h"
#include "regard/attention/checks.h"
#include "regard/attention/stream.h"
#include "regard/base/float_environment.h"

namespace regard::attention {
namespace {

constexpr char kBackward[] = "attend_backward";

struct Call {
  const PreparedKeys& keys;
  ConstMatrix values;
  const BackwardInputs& in;
  ScoredQuery scored;
  Matrix d_scored;  // as scored
  KeyGradients& sums;
  const ScoreGradients& out;

  HeadCall head(Index h) const {
    return {keys, in.queries, scored.rows, h, scored.rows.cols / keys.attention.heads};
  }
};

// Temporary memory of one worker.
struct Scratch {
  StreamScratch stream;  // streams() alone; else all the others
  BlockScratch block;
  float* d_scores = nullptr;   // [kRowBlock, stride]
  float* d_context = nullptr;  // [kRowBlock, padded Dv]
  Index value_stride = 0;
  float d_alpha[kRowBlock] = {};
  float d_center[kRowBlock] = {};
  const float* d_next_state[kRowBlock] = {};
  float* d_state[kRowBlock] = {};
  float* d_chunk_scores[kRowBlock] = {};
};

// Sums of one group of sentences and one head.
struct GroupSums {
  ScoreSums score;
  float d_alpha = 0.0f;
};

void check_given(const PreparedKeys& keys, Index rows, const NamedMatrix& m) {
  if (m.view.data == nullptr) return;
  const std::string name = m.name;
  check_extent(kBackward, ("rows of " + name).c_str(), rows * keys.attention.heads, m.view.rows);
  check_at_least(kBackward, ("columns of " + name).c_str(), keys.longest, m.view.cols);
  check_stride(kBackward, m);
}

void check_same(const char* name, ConstMatrix wanted, Matrix got) {
  if (got.data == nullptr) return;
  check_extent(kBackward, (std::string("rows of d_") + name).c_str(), wanted.rows, got.rows);
  check_extent(kBackward, (std::string("columns of d_") + name).c_str(), wanted.cols, got.cols);
  check_stride(kBackward, {name, got});
}

void check_same(const char* name, ConstVector wanted, Vector got) {
  if (got)
    check_extent(kBackward, (std::string("size of d_") + name).c_str(), wanted.size, got.size);
}

void check_inputs(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& in,
                  const KeyGradients& sums) {
  check_call(kBackward, keys, values, in.queries);
  const Index rows = in.queries.query.rows, heads = keys.attention.heads;
  check_given(keys, rows, {"weights", in.weights});
  check_given(keys, rows, {"d_weights", in.d_weights});
  check_given(keys, rows, {"d_next_state", in.d_next_state});
  check_extent(kBackward, "rows of d_context", rows, in.d_context.rows);
  check_extent(kBackward, "columns of d_context", values.cols, in.d_context.cols);
  check_stride(kBackward, {"d_context", in.d_context});
  if (in.d_log_sum_exp) {
    check_extent(kBackward, "size of d_log_sum_exp", rows * heads, in.d_log_sum_exp.size);
  }
  if (in.context.data != nullptr) {
    check_extent(kBackward, "rows of context", rows, in.context.rows);
    check_extent(kBackward, "columns of context", values.cols, in.context.cols);
  }
  if (in.softmax_stats.data != nullptr) {
    check_extent(kBackward, "rows of softmax_stats", rows * heads, in.softmax_stats.rows);
    check_extent(kBackward, "columns of softmax_stats", 2, in.softmax_stats.cols);
  }
  check_extent(kBackward, "rows of the key sums", heads * keys.live_rows, sums.d_keys.rows);
  check_extent(kBackward, "width of the key sums", keys.padded_width, sums.d_keys.cols);
  if (sums.value_width != 0) {
    check_extent(kBackward, "width of the value sums", values.cols, sums.value_width);
  }
  check_request(kBackward, keys.attention, in.queries,
                {static_cast<bool>(in.d_log_sum_exp), in.d_next_state.data != nullptr});
}

void check_gradients(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& in,
                     const ScoreGradients& out) {
  const Index rows = in.queries.query.rows;
  const Score& score = keys.attention.score;
  const Bias& bias = keys.attention.bias;
  check_same("query", in.queries.query, out.d_query);
  check_same("v", score.v, out.d_v);
  check_same("w", score.w, out.d_w);
  check_same("b", score.b, out.d_b);
  check_same("g", score.g, out.d_g);
  check_same("filters", score.filters, out.d_filters);
  check_same("u", score.u, out.d_u);
  check_bias_gradients(kBackward, keys.attention.bias, out.bias);
  check_same("center", in.queries.center, out.d_center);
  check_given(keys, rows, {"d_state", out.d_state});
  check_given(keys, rows, {"d_chunk_scores", out.d_chunk_scores});
  if (out.d_alpha) check_extent(kBackward, "size of d_alpha", 1, out.d_alpha.size);
  check_apart(kBackward,
              {{"d_query", out.d_query},
               {"d_v", as_matrix(out.d_v)},
               {"d_w", out.d_w},
               {"d_b", as_matrix(out.d_b)},
               {"d_g", as_matrix(out.d_g)},
               {"d_filters", out.d_filters},
               {"d_u", out.d_u},
               {"d_bias", out.bias.d_dense},
               {"d_slopes", as_matrix(out.bias.d_slopes)},
               {"d_table", out.bias.d_table},
               {"d_state", out.d_state},
               {"d_chunk_scores", out.d_chunk_scores},
               {"d_center", as_matrix(out.d_center)},
               {"d_alpha", as_matrix(out.d_alpha)}},
              {{"query", in.queries.query},
               {"values", values},
               {"keys", keys.keys},
               {"v", as_matrix(score.v)},
               {"w", score.w},
               {"b", as_matrix(score.b)},
               {"g", as_matrix(score.g)},
               {"filters", score.filters},
               {"u", score.u},
               {"bias", bias.dense},
               {"slopes", as_matrix(bias.slopes)},
               {"table", bias.table},
               {"state", in.queries.state},
               {"chunk_scores", in.queries.chunk_scores},
               {"center", as_matrix(in.queries.center)},
               {"context", in.context},
               {"softmax_stats", in.softmax_stats},
               {"d_log_sum_exp", as_matrix(in.d_log_sum_exp)},
               {"weights", in.weights},
               {"d_context", in.d_context},
               {"d_weights", in.d_weights},
               {"d_next_state", in.d_next_state}});
}

Scratch make_scratch(const PreparedKeys& keys, ConstMatrix values, Index all, Arena& arena) {
  Scratch s;
  if (keys.attention.streams()) {
    s.stream = make_stream_scratch(keys, values, all, true, arena);
    return s;
  }
  const Index rows = std::min(kRowBlock, all);
  s.block = make_block_scratch(keys, rows, true, arena);
  s.d_scores = arena.array<float>(rows * s.block.stride);
  s.value_stride = padded_lanes(values.cols / keys.attention.heads);
  s.d_context = arena.array<float>(rows * s.value_stride);
  return s;
}

ScoreSums make_sums(const PreparedKeys& keys, Arena& arena) {
  const Score& score = keys.attention.score;
  ScoreSums sums;
  if (score.factored()) {
    sums.v.reciprocals = arena.zero_matrix(1, keys.padded_width).data;
    sums.v.direct = arena.zero_matrix(1, keys.padded_width).data;
  } else if (score.stateful()) {
    sums.d_v = arena.zero_matrix(1, keys.padded_width).data;
    sums.d_u = arena.zero_matrix(keys.width, score.u.cols);
    if (score.kind == ScoreKind::kLocationSensitive) {
      sums.d_filters = arena.zero_matrix(score.filters.rows, score.filters.cols);
    }
  }
  return sums;
}

void gather(ConstMatrix from, const RowBlock& block, HeadColumns columns, float* to,
            Index stride) noexcept {
  for (Index i = 0; i < block.count; ++i, to += stride) {
    std::copy_n(from.row(block.rows[i]) + columns.first, columns.width, to);
    std::fill(to + columns.width, to + stride, 0.0f);
  }
}

// Weights of the block before and after dropout; and the scores, where something needs them.
void weights_again(const Call& call, const HeadCall& head, const RowBlock& block,
                   BlockScratch& s) noexcept {
  const Attention& a = call.keys.attention;
  const bool given = call.in.weights.data != nullptr;
  const bool scores = !given || a.score.soft_cap > 0.0f || a.normalizer.backward_needs_scores();
  if (scores) block_scores(head, block, s, {});
  const Index count = s.live.live.keys;
  if (given) {
    for (Index i = 0; i < block.count; ++i) {
      float* to = s.weights + i * s.stride;
      std::copy_n(call.in.weights.row(head.head_row(block.rows[i])), count, to);
      std::fill(to + count, to + s.stride, 0.0f);
    }
  } else {
    std::memcpy(s.weights, s.scores,
                sizeof(float) * static_cast<std::size_t>(block.count * s.stride));
    normalize_forward(a.normalizer, normalizer_rows(head, block, s), s.weights, nullptr, nullptr,
                      s.normalizer);
  }
  drop_weights(head, block, s);
}

// Pointers to the rows of an [R N, S] matrix, or null.
template <class T, class M>
T** rows_of(const HeadCall& head, const RowBlock& block, const M& matrix, T** pointers) noexcept {
  if (matrix.data == nullptr) return nullptr;
  for (Index i = 0; i < block.count; ++i) pointers[i] = matrix.row(head.head_row(block.rows[i]));
  return pointers;
}

// s.d_scores: g_ij, the gradient of the weights before dropout.
void weight_gradients(const Call& call, const HeadCall& head, const RowBlock& block,
                      Scratch& s) noexcept {
  const HeadColumns columns = value_columns(call.keys, head.head, call.values.cols);
  const KeyRange range = s.block.live.range;
  const Index stride = s.block.stride, count = s.block.live.live.keys;
  if (range.count > 0) {
    Rows values =
        live_rows(call.values, call.keys.rows, block.sentence, columns.first, columns.width);
    values.data += range.first * values.stride;
    values.count = range.count;
    row_dots(s.d_context, s.value_stride, block.count, values, s.d_scores + range.first, stride);
  }
  drop_gradients(head, block, s.d_scores, stride);
  // What else comes back to the weights themselves: the state keeps them or their sum.
  const bool kept =
      call.in.d_next_state.data != nullptr && !call.keys.attention.normalizer.stateful();
  for (Index i = 0; i < block.count; ++i) {
    const Index row = head.head_row(block.rows[i]);
    float* g = s.d_scores + i * stride;
    if (call.in.d_weights.data != nullptr) {
      add_scaled(call.in.d_weights.row(row), 1.0f, count, g);
    }
    if (!kept) continue;
    add_scaled(call.in.d_next_state.row(row), 1.0f, count, g);
    if (call.keys.attention.score.kind == ScoreKind::kCoverage &&
        call.out.d_state.data != nullptr) {
      add_scaled(call.in.d_next_state.row(row), 1.0f, count, call.out.d_state.row(row));
    }
  }
}

void add_log_sum_exp(const Call& call, const HeadCall& head, const RowBlock& block,
                     Scratch& s) noexcept {
  const Normalizer& normalizer = call.keys.attention.normalizer;
  for (Index i = 0; call.in.d_log_sum_exp && i < block.count; ++i) {
    const float d = call.in.d_log_sum_exp[head.head_row(block.rows[i])];
    if (d == 0.0f) continue;
    add_live(s.block.live, i, {0, s.block.live.live.keys}, d / normalizer.temperature,
             s.block.weights + i * s.block.stride, s.d_scores + i * s.block.stride);
  }
}

// s.d_scores: from g to the gradient of what the normaliser read.
void normalizer_gradients(const Call& call, const HeadCall& head, const RowBlock& block, Scratch& s,
                          GroupSums& sums) noexcept {
  const Normalizer& normalizer = call.keys.attention.normalizer;
  NormalizerGradients g;
  g.d_scores = s.d_scores;
  g.weights = s.block.weights;
  g.scores = s.block.scores;
  if (normalizer.stateful()) {
    g.d_next_state = rows_of<const float>(head, block, call.in.d_next_state, s.d_next_state);
    g.d_state = rows_of<float>(head, block, call.out.d_state, s.d_state);
  }
  g.d_chunk_scores = rows_of<float>(head, block, call.out.d_chunk_scores, s.d_chunk_scores);
  if (call.out.d_center) {
    std::fill_n(s.d_center, block.count, 0.0f);
    g.d_center = s.d_center;
  }
  if (call.out.d_alpha) g.d_alpha = s.d_alpha;
  normalize_backward(normalizer, normalizer_rows(head, block, s.block), g, s.block.normalizer);
  for (Index i = 0; i < block.count; ++i) {
    if (call.out.d_center) call.out.d_center[head.head_row(block.rows[i])] += s.d_center[i];
    if (call.out.d_alpha && normalizer.kind == NormalizerKind::kEntmax)
      sums.d_alpha += s.d_alpha[i];
  }
  add_log_sum_exp(call, head, block, s);
}

// Through bias and cap.
void bias_and_cap_gradients(const Call& call, const HeadCall& head, const RowBlock& block,
                            Scratch& s) noexcept {
  const Attention& a = call.keys.attention;
  const Index stride = s.block.stride, count = s.block.live.live.keys;
  for (Index i = 0; call.out.bias.wanted() && i < block.count; ++i) {
    bias_backward(a.bias, place_of(call.keys, call.in.queries, block, i, head.head),
                  s.d_scores + i * stride, call.out.bias);
  }
  if (!(a.score.soft_cap > 0.0f)) return;
  uncap_gradients(a.score.soft_cap, s.block.capped, {s.d_scores, stride, block.count, count});
}

void backward_block(const Call& call, Index h, const RowBlock& block, Scratch& s,
                    GroupSums& sums) noexcept {
  const PreparedKeys& keys = call.keys;
  if (keys.rows.length[block.sentence] == 0) return;
  const HeadCall head = call.head(h);
  find_live(keys, call.in.queries, block, h, s.block.live);
  weights_again(call, head, block, s.block);
  gather(call.in.d_context, block, value_columns(keys, h, call.values.cols), s.d_context,
         s.value_stride);
  if (call.sums.value_width != 0) {
    float* d_values = call.sums.d_values.row(sum_row(keys, h, block.sentence));
    spread_live(s.block.live, s.block.dropped, s.block.stride,
                {s.d_context, s.value_stride, block.count, s.value_stride},
                {d_values, call.sums.d_values.stride, s.block.live.live.keys});
  }
  weight_gradients(call, head, block, s);
  normalizer_gradients(call, head, block, s, sums);
  bias_and_cap_gradients(call, head, block, s);
  score_block_backward(
      head, block, s.block.live, s.block.score,
      {s.d_scores, s.block.stride, call.d_scored, &call.sums, &sums.score, call.out.d_state});
}

struct Work {
  Scratch& scratch;
  GroupSums& sums;
};

// This block, or all that stream with it.
void backward_from(const Call& call, Index h, const RowBlock* block, const RowBlock* end,
                   const Work& work) noexcept {
  if (!call.keys.attention.streams()) {
    backward_block(call, h, *block, work.scratch, work.sums);
    return;
  }
  const Index count = stream_blocks(block, end);
  if (count == 0 || call.keys.rows.length[block->sentence] == 0) return;
  stream_backward(call.head(h), call.values, {block, count}, call.in,
                  {call.d_scored, &call.sums, call.out.bias}, work.scratch.stream);
}

// How many groups of sentences sum apart: few enough to cost little, one where a gradient is shared
// by all sentences and heads.
Index groups_of(const Call& call, const RowBlocks& blocks) {
  if (call.out.bias.wanted()) return 1;
  const Index work = call.in.queries.query.rows * call.keys.longest * call.keys.padded_width;
  return std::clamp<Index>(work >> 19, 1, std::min<Index>(8, blocks.count));
}

struct Groups {
  Index count = 0;
  const Index* first_block = nullptr;  // [count + 1]
  GroupSums* sums = nullptr;           // [heads, count]
};

// Whole sentences, as even in blocks as that allows.
Groups make_groups(const Call& call, const RowBlocks& blocks, Arena& arena) {
  Groups groups;
  groups.count = groups_of(call, blocks);
  Index* first = arena.array<Index>(groups.count + 1);
  for (Index g = 0; g <= groups.count; ++g) {
    Index at = blocks.count * g / groups.count;
    while (at < blocks.count && blocks.data[at].first_ordinal > 0) ++at;
    first[g] = at;
  }
  groups.first_block = first;
  const Index n = groups.count * call.keys.attention.heads;
  groups.sums = arena.array<GroupSums>(n);
  for (Index i = 0; i < n; ++i) groups.sums[i] = {make_sums(call.keys, arena), 0.0f};
  return groups;
}

void run_groups(const Call& call, const RowBlocks& blocks, const Groups& groups, Scratch* scratch,
                Threads* threads) {
  const auto run = [&](Index task, int worker) {
    const FloatEnvironment environment;
    const Index h = task / groups.count, g = task % groups.count;
    for (Index i = groups.first_block[g]; i < groups.first_block[g + 1]; ++i) {
      backward_from(call, h, blocks.data + i, blocks.data + groups.first_block[g + 1],
                    {scratch[worker], groups.sums[task]});
    }
  };
  const Index tasks = groups.count * call.keys.attention.heads;
  if (threads == nullptr || threads->count() == 1 || call.out.bias.wanted()) {
    for (Index task = 0; task < tasks; ++task) run(task, 0);
  } else {
    threads->run(tasks, run);
  }
}

void add_to(Matrix to, Index first_row, const Matrix& from) noexcept {
  for (Index i = 0; to.data != nullptr && i < from.rows; ++i) {
    add_scaled(from.row(i), 1.0f, from.cols, to.row(first_row + i));
  }
}

// Heads in order, groups in order.
void add_sums(const Call& call, const Groups& groups, Arena& arena) {
  const Score& score = call.keys.attention.score;
  const Index heads = call.keys.attention.heads;
  float* d_effective = arena.zero_matrix(1, heads * call.keys.width).data;
  for (Index task = 0; task < heads * groups.count; ++task) {
    const GroupSums& sums = groups.sums[task];
    const Index h = task / groups.count;
    if (score.has_v()) add_v_sums(call.head(h), sums.score, d_effective);
    add_to(call.out.d_filters, 0, sums.score.d_filters);
    add_to(call.out.d_u, h * call.keys.width, sums.score.d_u);
    if (call.out.d_alpha) call.out.d_alpha[0] += sums.d_alpha;
  }
  if (score.has_v() && (call.out.d_v || call.out.d_g)) {
    effective_v_backward(score, d_effective, call.out);
  }
}

}  // namespace

void attend_backward(const PreparedKeys& keys, ConstMatrix values, const BackwardInputs& inputs,
                     KeyGradients& sums, const ScoreGradients& gradients, Workspace workspace) {
  const FloatEnvironment environment;
  Arena& arena = workspace.arena;
  const ArenaScope scope(arena);
  check_inputs(keys, values, inputs, sums);
  check_gradients(keys, values, inputs, gradients);
  const ConstMatrix query = inputs.queries.query;
  const RowBlocks blocks =
      make_row_blocks(kBackward, inputs.queries.key_row, query.rows, keys.rows.count, arena);
  check_places(kBackward, keys, inputs.queries, blocks);
  const ScoredQuery scored = score_query(keys, query, arena);
  const bool apart = scored.changed || (keys.attention.score.kind == ScoreKind::kCustom &&
                                        gradients.d_query.data == nullptr);
  const Matrix d_scored =
      apart ? arena.zero_matrix(query.rows, scored.rows.cols) : gradients.d_query;
  const Call call{keys, values, inputs, scored, d_scored, sums, gradients};
  const int workers = workspace.threads == nullptr ? 1 : workspace.threads->count();
  Scratch* scratch = arena.array<Scratch>(workers);
  for (int i = 0; i < workers; ++i) {
    scratch[i] = make_scratch(keys, values, query.rows, arena);
  }
  if (blocks.count == 0) return;
  const Groups groups = make_groups(call, blocks, arena);
  run_groups(call, blocks, groups, scratch, workspace.threads);
  add_sums(call, groups, arena);
  if (scored.changed) score_query_backward(keys, query, scored, d_scored, gradients, arena);
}

}  // namespace regard::attention
