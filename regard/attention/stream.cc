#include "regard/attention/stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "regard/attention/call.h"
#include "regard/kernels/dropout.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {
namespace {

// A block of rows against one sentence.
struct Block {
  const HeadCall& call;
  ConstMatrix values;
  const RowBlock& rows;
  HeadColumns columns;

  const Attention& attention() const noexcept { return call.keys.attention; }
  Index head_row(Index i) const noexcept { return call.head_row(rows.rows[i]); }
  RowPlace place(Index i) const noexcept {
    return place_of(call.keys, call.queries, rows, i, call.head);
  }
  Rows value_rows(KeyRange tile) const noexcept {
    Rows out = live_rows(values, call.keys.rows, rows.sentence, columns.first, columns.width);
    out.data += tile.first * out.stride;
    out.count = tile.count;
    return out;
  }
};

// fn(tile) for each tile in which anything is live.
template <class Fn>
void for_tiles(const BlockLive& live, Fn fn) noexcept {
  const Index end = live.range.first + live.range.count;
  // Tiles lie where they lie whatever the block sees: at multiples of their size.
  for (Index j = live.range.first / kStreamTile * kStreamTile; j < end; j += kStreamTile) {
    const KeyRange tile{j, std::min(kStreamTile, live.live.keys - j)};
    if (live.live.tile(tile.first, tile.count) != TileClass::kEmpty) fn(tile);
  }
}

// A bias and a place as seen from the first key of a tile.
Bias bias_from(Bias bias, Index first, Index count) noexcept {
  if (bias.kind == BiasKind::kDense) bias.dense = bias.dense.col_slice(first, count);
  return bias;
}
BiasGradients bias_from(BiasGradients d, Index first, Index count) noexcept {
  if (d.d_dense.data != nullptr) d.d_dense = d.d_dense.col_slice(first, count);
  return d;
}
RowPlace place_from(RowPlace place, BiasKind kind, KeyRange tile) noexcept {
  if (kind != BiasKind::kDense) place.position -= tile.first;
  place.keys = tile.count;
  return place;
}

void write_raw(const Block& b, KeyRange tile, const StreamScratch& s, Matrix raw) noexcept {
  for (Index i = 0; raw.data != nullptr && i < b.rows.count; ++i) {
    float* to = raw.row(b.head_row(i)) + tile.first;
    const float* from = s.scores + i * kStreamTile;
    for (Index j = 0; j < tile.count; ++j) {
      to[j] = s.live.live.live(i, tile.first + j) ? from[j] : 0.0f;
    }
  }
}

// s.scores: score, cap, bias, temperature.
void tile_scores(const Block& b, KeyRange tile, StreamScratch& s, Matrix raw) noexcept {
  const Attention& a = b.attention();
  product_tile(b.call, b.rows, tile, s.query, s.scores, kStreamTile);
  if (a.score.soft_cap > 0.0f) {
    cap_scores(a.score.soft_cap, {s.scores, kStreamTile, b.rows.count, tile.count});
    if (s.capped != nullptr) std::copy_n(s.scores, b.rows.count * kStreamTile, s.capped);
  }
  write_raw(b, tile, s, raw);
  const Bias bias = bias_from(a.bias, tile.first, tile.count);
  for (Index i = 0; bias.kind != BiasKind::kNone && i < b.rows.count; ++i) {
    add_bias(bias, place_from(b.place(i), bias.kind, tile), s.scores + i * kStreamTile);
  }
  if (a.normalizer.temperature != 1.0f) {
    scale_scores({s.scores, kStreamTile, b.rows.count, tile.count},
                 1.0f / a.normalizer.temperature);
  }
}

// from -> to, where dropped 0.
void drop_tile(const Block& b, KeyRange tile, const float* from, float* to) noexcept {
  const float rate = b.attention().dropout;
  if (rate == 0.0f) return;
  for (Index i = 0; i < b.rows.count; ++i) {
    const DropPlace place = drop_place(b.call, b.rows, i);
    dropout_forward(ConstMatrix(from + i * kStreamTile, 1, tile.count),
                    {&place.key, &place.position, tile.first}, rate,
                    Matrix(to + i * kStreamTile, 1, tile.count));
  }
}

// Largest scores, sums of exponentials and, if `contexts`, their weighted sums of values.
// Returns the number of tiles.
int sum_tiles(const Block& b, bool contexts, StreamScratch& s, Matrix raw) noexcept {
  int tiles = 0;
  begin_softmax(s.softmax);
  std::fill_n(s.context, b.rows.count * s.value_stride, 0.0f);
  for_tiles(s.live, [&](KeyRange tile) {
    tile_scores(b, tile, s, raw);
    softmax_tile(s.live.live, tile.first, tile.count, s.scores, kStreamTile, s.softmax);
    if (contexts) {
      for (Index i = 0; tiles > 0 && i < b.rows.count; ++i) {
        if (s.softmax.rescale[i] == 1.0f) continue;
        scale_row(s.context + i * s.value_stride, b.columns.width, s.softmax.rescale[i]);
      }
      drop_tile(b, tile, s.scores, s.dropped);
      combine_tile(s.live, tile, s.dropped, kStreamTile, b.value_rows(tile),
                   {s.context, s.value_stride, b.rows.count});
    }
    ++tiles;
  });
  finish_softmax(b.rows.count, s.softmax);
  return tiles;
}

// Divides the context of row i; without a live key it is 0 already.
void finish_context(const Block& b, const StreamScratch& s, Index i, float* to) noexcept {
  const bool any = s.live.live.words == nullptr || s.live.live.count(i) > 0;
  divide_row(s.context + i * s.value_stride, b.columns.width, any ? s.softmax.sum[i] : 1.0f, to);
}

void write_rows(const Block& b, const AttentionOutputs& out, const StreamScratch& s) noexcept {
  for (Index i = 0; i < b.rows.count; ++i) {
    const Index row = b.head_row(i);
    if (out.context.data != nullptr) {
      finish_context(b, s, i, out.context.row(b.rows.rows[i]) + b.columns.first);
    }
    if (out.softmax_stats.data != nullptr) {
      out.softmax_stats(row, 0) = s.softmax.largest[i];
      out.softmax_stats(row, 1) = s.softmax.sum[i];
    }
    if (!out.log_sum_exp) continue;
    out.log_sum_exp[row] = s.live.live.count(i) > 0
                               ? add_log(s.softmax.largest[i], s.softmax.sum[i])
                               : -std::numeric_limits<float>::infinity();
  }
}

// The weights, once all sums are known: of one tile they are still there.
void write_weights(const Block& b, int tiles, const AttentionOutputs& out,
                   StreamScratch& s) noexcept {
  const bool sums = out.key_sums.data != nullptr;
  if (out.weights.data == nullptr && !sums) return;
  for_tiles(s.live, [&](KeyRange tile) {
    if (tiles == 1) {
      divide_tile(s.live.live, tile.first, tile.count, s.scores, kStreamTile, s.softmax);
    } else {
      tile_scores(b, tile, s, {});
      weigh_tile(s.live.live, tile.first, tile.count, s.scores, kStreamTile, s.softmax);
    }
    for (Index i = 0; i < b.rows.count; ++i) {
      const float* from = s.scores + i * kStreamTile;
      if (out.weights.data != nullptr) {
        std::copy_n(from, tile.count, out.weights.row(b.head_row(i)) + tile.first);
      }
      if (!sums) continue;
      const Index start = b.call.keys.rows.start[b.rows.sentence];
      add_scaled(from, 1.0f, tile.count, out.key_sums.row(b.call.head) + start + tile.first);
    }
  });
}

Block make_block(const HeadCall& call, ConstMatrix values, const RowBlock& rows,
                 StreamScratch& s) noexcept {
  find_live(call.keys, call.queries, rows, call.head, s.live);
  s.query = block_query(call, rows, s.score.query);
  return {call, values, rows, value_columns(call.keys, call.head, values.cols)};
}

// What forward left, given or made again.
void forward_again(const Block& b, const BackwardInputs& in, StreamScratch& s) noexcept {
  if (in.context.data == nullptr || in.softmax_stats.data == nullptr) {
    sum_tiles(b, true, s, {});
    for (Index i = 0; i < b.rows.count; ++i) {
      finish_context(b, s, i, s.context + i * s.value_stride);
    }
    return;
  }
  for (Index i = 0; i < b.rows.count; ++i) {
    s.softmax.largest[i] = in.softmax_stats(b.head_row(i), 0);
    s.softmax.sum[i] = in.softmax_stats(b.head_row(i), 1);
    float* to = s.context + i * s.value_stride;
    std::copy_n(in.context.row(b.rows.rows[i]) + b.columns.first, b.columns.width, to);
    std::fill(to + b.columns.width, to + s.value_stride, 0.0f);
  }
}

void pack_values(const Block& b, StreamScratch& s) noexcept {
  if (s.panels_sentence == b.rows.sentence && s.panels_head == b.call.head) return;
  s.panels_sentence = b.rows.sentence;
  s.panels_head = b.call.head;
  const Rows rows = b.value_rows({0, s.live.live.keys});
  pack_transposed({rows.data, rows.count, rows.width, rows.stride}, s.value_panels);
}

// s.delta: sum_j w_ij g_ij = d_c . c, + sum_j w_ij d_w_ij.
void make_delta(const Block& b, const BackwardInputs& in, StreamScratch& s) noexcept {
  for (Index i = 0; i < b.rows.count; ++i) {
    float* d = s.d_context + i * s.value_stride;
    std::copy_n(in.d_context.row(b.rows.rows[i]) + b.columns.first, b.columns.width, d);
    std::fill(d + b.columns.width, d + s.value_stride, 0.0f);
    float sum = 0.0f;  // one chain, as of the products below: with one key they are equal
    for (Index n = 0; n < b.columns.width; ++n) {
      sum = std::fma(d[n], s.context[i * s.value_stride + n], sum);
    }
    s.delta[i] = s.live.live.count(i) > 0 ? sum : 0.0f;
  }
  if (in.d_weights.data == nullptr) return;
  for_tiles(s.live, [&](KeyRange tile) {
    tile_scores(b, tile, s, {});
    weigh_tile(s.live.live, tile.first, tile.count, s.scores, kStreamTile, s.softmax);
    for (Index i = 0; i < b.rows.count; ++i) {
      s.delta[i] += dot_row(s.scores + i * kStreamTile,
                            in.d_weights.row(b.head_row(i)) + tile.first, tile.count);
    }
  });
}

// s.d_scores: the gradient of what softmax read, from that of the context.
void tile_gradients(const Block& b, KeyRange tile, const BackwardInputs& in,
                    StreamScratch& s) noexcept {
  const Index width = b.columns.width;
  const float* panels = s.value_panels + tile.first / 16 * panel_stride(width);
  gemm({s.d_context, b.rows.count, width, s.value_stride}, {panels, width, tile.count},
       ChainStart::kZero, {}, {s.d_scores, b.rows.count, tile.count, kStreamTile});
  drop_tile(b, tile, s.d_scores, s.d_scores);
  for (Index i = 0; in.d_weights.data != nullptr && i < b.rows.count; ++i) {
    add_scaled(in.d_weights.row(b.head_row(i)) + tile.first, 1.0f, tile.count,
               s.d_scores + i * kStreamTile);
  }
  softmax_tile_backward(s.live.live, tile.first, tile.count, s.scores, s.delta, s.d_scores,
                        kStreamTile);
  for (Index i = 0; in.d_log_sum_exp && i < b.rows.count; ++i) {
    const float d = in.d_log_sum_exp[b.head_row(i)];
    if (d != 0.0f) {
      add_scaled(s.scores + i * kStreamTile, d, tile.count, s.d_scores + i * kStreamTile);
    }
  }
  const float temperature = b.attention().normalizer.temperature;
  if (temperature != 1.0f) {
    scale_scores({s.d_scores, kStreamTile, b.rows.count, tile.count}, 1.0f / temperature);
  }
}

// Through bias and cap.
void tile_bias_and_cap(const Block& b, KeyRange tile, const BiasGradients& d_bias,
                       StreamScratch& s) noexcept {
  const Attention& a = b.attention();
  if (d_bias.wanted()) {
    const Bias bias = bias_from(a.bias, tile.first, tile.count);
    const BiasGradients to = bias_from(d_bias, tile.first, tile.count);
    for (Index i = 0; i < b.rows.count; ++i) {
      bias_backward(bias, place_from(b.place(i), bias.kind, tile), s.d_scores + i * kStreamTile,
                    to);
    }
  }
  if (!(a.score.soft_cap > 0.0f)) return;
  uncap_gradients(a.score.soft_cap, s.capped, {s.d_scores, kStreamTile, b.rows.count, tile.count});
}

}  // namespace

StreamScratch make_stream_scratch(const PreparedKeys& keys, ConstMatrix values, Index rows,
                                  bool backward, Arena& arena) {
  const Attention& a = keys.attention;
  StreamScratch s;
  const Index tile = rows * kStreamTile, padded = padded_lanes(keys.width);
  s.score = make_score_scratch(keys, rows, false, arena);
  s.scores = arena.array<float>(tile);
  s.dropped = a.dropout > 0.0f ? arena.array<float>(tile) : s.scores;
  s.value_stride = padded_lanes(values.cols / a.heads);
  s.context = arena.array<float>(rows * s.value_stride);
  if (!a.mask.trivial()) s.live.memory = arena.array<KeyBits>(rows * key_words(keys.longest));
  if (!backward) return s;
  if (a.score.soft_cap > 0.0f) s.capped = arena.array<float>(tile);
  s.d_scores = arena.array<float>(tile);
  s.d_context = arena.array<float>(rows * s.value_stride);
  s.d_query = arena.array<float>(rows * padded);
  s.value_panels = arena.array<float>(packed_size(values.cols / a.heads, keys.longest));
  s.score.d_query = arena.array<float>(rows * padded);  // the queries, padded
  return s;
}

void stream_forward(const HeadCall& call, ConstMatrix values, const RowBlock& block,
                    const AttentionOutputs& out, StreamScratch& s) noexcept {
  const Block b = make_block(call, values, block, s);
  for (Index i = 0; i < block.count; ++i) {
    const Index row = b.head_row(i);
    if (out.weights.data != nullptr) std::fill_n(out.weights.row(row), out.weights.cols, 0.0f);
    if (out.raw_scores.data != nullptr) {
      std::fill_n(out.raw_scores.row(row), out.raw_scores.cols, 0.0f);
    }
  }
  const int tiles = sum_tiles(b, out.context.data != nullptr, s, out.raw_scores);
  write_rows(b, out, s);
  write_weights(b, tiles, out, s);
}

void stream_backward(const HeadCall& call, ConstMatrix values, const RowBlock& block,
                     const BackwardInputs& in, const StreamGradients& g,
                     StreamScratch& s) noexcept {
  const Block b = make_block(call, values, block, s);
  const PreparedKeys& keys = call.keys;
  const Index padded = keys.padded_width, first = keys.first[block.sentence];
  gather_query(call, block, s.score.d_query, padded);
  forward_again(b, in, s);
  make_delta(b, in, s);
  pack_values(b, s);
  std::fill_n(s.d_query, block.count * padded, 0.0f);
  for_tiles(s.live, [&](KeyRange tile) {
    tile_scores(b, tile, s, {});
    weigh_tile(s.live.live, tile.first, tile.count, s.scores, kStreamTile, s.softmax);
    drop_tile(b, tile, s.scores, s.dropped);
    if (g.sums->value_width != 0) {
      const Matrix& d = g.sums->d_values;
      spread_tile(s.live, tile, s.dropped, kStreamTile,
                  {s.d_context, s.value_stride, block.count, s.value_stride},
                  {d.row(first + tile.first) + call.head * s.value_stride, d.stride, tile.count});
    }
    tile_gradients(b, tile, in, s);
    tile_bias_and_cap(b, tile, g.bias, s);
    const Matrix& d = g.sums->d_keys;
    spread_tile(s.live, tile, s.d_scores, kStreamTile,
                {s.score.d_query, padded, block.count, padded},
                {d.row(first + tile.first) + call.head * padded, d.stride, tile.count});
    if (g.d_query.data == nullptr) return;
    Rows right = live_rows(call.head_keys().keys, keys.rows, block.sentence, 0, keys.width);
    right.data += tile.first * right.stride;
    right.count = tile.count;
    combine_tile(s.live, tile, s.d_scores, kStreamTile, right, {s.d_query, padded, block.count});
  });
  if (g.d_query.data == nullptr) return;
  const float factor = product_factor(keys);
  for (Index i = 0; i < block.count; ++i) {
    add_scaled(s.d_query + i * padded, factor, keys.width,
               g.d_query.row(block.rows[i]) + call.head * keys.width);
  }
}

}  // namespace regard::attention
