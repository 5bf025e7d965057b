#include "regard/attention/stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "regard/attention/call.h"
#include "regard/kernels/dropout.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {
namespace {

// One head against one sentence, and the memory to work in.
struct Stream {
  const HeadCall& call;
  ConstMatrix values;
  Index sentence;
  HeadColumns columns;
  StreamScratch& s;
  Index blocks;

  const Attention& attention() const noexcept { return call.keys.attention; }
  Index head_row(const StreamRows& r, Index i) const noexcept {
    return call.head_row(r.block->rows[i]);
  }
  RowPlace place(const StreamRows& r, Index i) const noexcept {
    return place_of(call.keys, call.queries, *r.block, i, call.head);
  }
  Rows value_rows(KeyRange tile) const noexcept {
    return rows_of(live_rows(values, call.keys.rows, sentence, columns.first, columns.width), tile);
  }
  Rows key_rows(KeyRange tile) const noexcept {
    return rows_of(live_rows(call.head_keys().keys, call.keys.rows, sentence, 0, call.keys.width),
                   tile);
  }
  static Rows rows_of(Rows all, KeyRange tile) noexcept {
    return {all.data + tile.first * all.stride, all.stride, tile.count, all.width};
  }
};

// fn(rows, tile): tile by tile, and for each the blocks of rows to which anything in it is live.
// Tiles lie where they lie whatever a row may see: at multiples of their size.
template <class Fn>
void for_tiles(const Stream& st, Fn fn) noexcept {
  const Index keys = st.call.keys.rows.length[st.sentence];
  for (Index j = 0; j < keys; j += kStreamTile) {
    const KeyRange tile{j, std::min(kStreamTile, keys - j)};
    for (Index b = 0; b < st.blocks; ++b) {
      StreamRows& r = st.s.rows[b];
      if (r.live.live.tile(tile.first, tile.count) != TileClass::kEmpty) fn(r, tile);
    }
  }
}

// Rows far apart share few places of the first cache: those that many queries will pass over are
// copied side by side first. `copy` remembers which tile it holds.
Rows near_rows(const Stream& st, const Rows& rows, KeyRange tile, TileCopy& copy) noexcept {
  constexpr Index kManyQueries = 16;
  if (rows.stride == rows.width || st.s.rows[0].block->count < kManyQueries) return rows;
  const Index stride = padded_lanes(rows.width);
  if (copy.first != tile.first) {
    copy.first = tile.first;
    for (Index j = 0; j < rows.count; ++j) {
      std::copy_n(rows.data + j * rows.stride, rows.width, copy.data + j * stride);
    }
  }
  return {copy.data, stride, rows.count, rows.width};
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

void write_raw(const Stream& st, const StreamRows& r, KeyRange tile, Matrix raw) noexcept {
  for (Index i = 0; raw.data != nullptr && i < r.block->count; ++i) {
    float* to = raw.row(st.head_row(r, i)) + tile.first;
    const float* from = st.s.scores + i * kStreamTile;
    for (Index j = 0; j < tile.count; ++j) {
      to[j] = r.live.live.live(i, tile.first + j) ? from[j] : 0.0f;
    }
  }
}

// scores of the tile: score, cap, bias, temperature.
void tile_scores(const Stream& st, const StreamRows& r, KeyRange tile, Matrix raw) noexcept {
  const Attention& a = st.attention();
  const Index rows = r.block->count;
  float* scores = st.s.scores;
  product_tile(st.call, *r.block, tile, r.query, scores, kStreamTile);
  if (a.score.soft_cap > 0.0f) {
    cap_scores(a.score.soft_cap, {scores, kStreamTile, rows, tile.count});
    if (st.s.capped != nullptr) std::copy_n(scores, rows * kStreamTile, st.s.capped);
  }
  write_raw(st, r, tile, raw);
  const Bias bias = bias_from(a.bias, tile.first, tile.count);
  for (Index i = 0; bias.kind != BiasKind::kNone && i < rows; ++i) {
    add_bias(bias, place_from(st.place(r, i), bias.kind, tile), scores + i * kStreamTile);
  }
  if (a.normalizer.temperature != 1.0f) {
    scale_scores({scores, kStreamTile, rows, tile.count}, 1.0f / a.normalizer.temperature);
  }
}

void tile_weights(const Stream& st, const StreamRows& r, KeyRange tile) noexcept {
  tile_scores(st, r, tile, {});
  weigh_tile(r.live.live, tile.first, tile.count, st.s.scores, kStreamTile, r.softmax);
}

// from -> to, where dropped 0.
void drop_tile(const Stream& st, const StreamRows& r, KeyRange tile, const float* from,
               float* to) noexcept {
  const float rate = st.attention().dropout;
  if (rate == 0.0f) return;
  for (Index i = 0; i < r.block->count; ++i) {
    const DropPlace place = drop_place(st.call, *r.block, i);
    dropout_forward(ConstMatrix(from + i * kStreamTile, 1, tile.count),
                    {&place.key, &place.position, tile.first}, rate,
                    Matrix(to + i * kStreamTile, 1, tile.count));
  }
}

// Largest scores, sums of exponentials and, if `contexts`, their weighted sums of values.
void sum_tiles(const Stream& st, bool contexts, Matrix raw) noexcept {
  StreamScratch& s = st.s;
  for (Index b = 0; b < st.blocks; ++b) {
    StreamRows& r = s.rows[b];
    r.tiles = 0;
    begin_softmax(r.softmax);
    std::fill_n(r.context, r.block->count * s.value_stride, 0.0f);
  }
  for_tiles(st, [&](StreamRows& r, KeyRange tile) {
    tile_scores(st, r, tile, raw);
    softmax_tile(r.live.live, tile.first, tile.count, s.scores, kStreamTile, r.softmax);
    if (contexts) {
      for (Index i = 0; r.tiles > 0 && i < r.block->count; ++i) {
        if (r.softmax.rescale[i] == 1.0f) continue;
        scale_row(r.context + i * s.value_stride, st.columns.width, r.softmax.rescale[i]);
      }
      drop_tile(st, r, tile, s.scores, s.dropped);
      const Rows values = near_rows(st, st.value_rows(tile), tile, s.near_values);
      combine_tile(r.live, tile, s.dropped, kStreamTile, values,
                   {r.context, s.value_stride, r.block->count});
    }
    ++r.tiles;
  });
  for (Index b = 0; b < st.blocks; ++b) {
    finish_softmax(s.rows[b].block->count, s.rows[b].softmax);
  }
}

bool sees_any(const StreamRows& r, Index i) noexcept {
  return r.live.live.words == nullptr || r.live.live.count(i) > 0;
}

// Row i of `from`, the keys of the tile, in `memory`, with zeros where they are not live.
const float* live_part(const StreamRows& r, Index i, KeyRange tile, const float* from,
                       float* memory) noexcept {
  for (Index j = 0; j < tile.count; ++j) {
    memory[j] = r.live.live.live(i, tile.first + j) ? from[j] : 0.0f;
  }
  return memory;
}

// Divides the context of row i; without a live key it is 0 already.
void finish_context(const Stream& st, const StreamRows& r, Index i, float* to) noexcept {
  const float* from = r.context + i * st.s.value_stride;
  if (to != from) std::copy_n(from, st.columns.width, to);
  if (sees_any(r, i)) scale_row(to, st.columns.width, 1.0f / r.softmax.sum[i]);
}

void write_rows(const Stream& st, const StreamRows& r, const AttentionOutputs& out) noexcept {
  for (Index i = 0; i < r.block->count; ++i) {
    const Index row = st.head_row(r, i);
    if (out.context.data != nullptr) {
      finish_context(st, r, i, out.context.row(r.block->rows[i]) + st.columns.first);
    }
    if (out.softmax_stats.data != nullptr) {
      out.softmax_stats(row, 0) = r.softmax.largest[i];
      out.softmax_stats(row, 1) = r.softmax.sum[i];
    }
    if (!out.log_sum_exp) continue;
    out.log_sum_exp[row] = sees_any(r, i) ? add_log(r.softmax.largest[i], r.softmax.sum[i])
                                          : -std::numeric_limits<float>::infinity();
  }
}

// The weights, once all sums are known: of a single tile they are still there.
void write_weights(const Stream& st, const AttentionOutputs& out) noexcept {
  const bool sums = out.key_sums.data != nullptr;
  if (out.weights.data == nullptr && !sums) return;
  float* scores = st.s.scores;
  for_tiles(st, [&](StreamRows& r, KeyRange tile) {
    if (r.tiles == 1 && st.blocks == 1) {
      divide_tile(r.live.live, tile.first, tile.count, scores, kStreamTile, r.softmax);
    } else {
      tile_weights(st, r, tile);
    }
    for (Index i = 0; i < r.block->count; ++i) {
      const float* from = scores + i * kStreamTile;
      if (out.weights.data != nullptr) {
        std::copy_n(from, tile.count, out.weights.row(st.head_row(r, i)) + tile.first);
      }
      if (!sums) continue;
      const Index start = st.call.keys.rows.start[st.sentence];
      add_scaled(from, 1.0f, tile.count, out.key_sums.row(st.call.head) + start + tile.first);
    }
  });
}

Stream make_stream(const HeadCall& call, ConstMatrix values, const StreamBlocks& blocks,
                   StreamScratch& s) noexcept {
  for (Index b = 0; b < blocks.count; ++b) {
    StreamRows& r = s.rows[b];
    r.block = blocks.data + b;
    find_live(call.keys, call.queries, *r.block, call.head, r.live);
    r.query = block_query(call, *r.block, r.query_memory);
  }
  s.near_values.first = s.near_keys.first = -1;
  return {
      call, values,      blocks.data->sentence, value_columns(call.keys, call.head, values.cols),
      s,    blocks.count};
}

// What forward left, given or made again.
void forward_again(const Stream& st, const BackwardInputs& in) noexcept {
  const bool given = in.context.data != nullptr && in.softmax_stats.data != nullptr;
  if (!given) sum_tiles(st, true, {});
  for (Index b = 0; b < st.blocks; ++b) {
    StreamRows& r = st.s.rows[b];
    for (Index i = 0; i < r.block->count; ++i) {
      float* to = r.context + i * st.s.value_stride;
      if (!given) {
        finish_context(st, r, i, to);
        continue;
      }
      r.softmax.largest[i] = in.softmax_stats(st.head_row(r, i), 0);
      r.softmax.sum[i] = in.softmax_stats(st.head_row(r, i), 1);
      std::copy_n(in.context.row(r.block->rows[i]) + st.columns.first, st.columns.width, to);
    }
  }
}

void pack_values(const Stream& st) noexcept {
  StreamScratch& s = st.s;
  if (s.panels_sentence == st.sentence && s.panels_head == st.call.head) return;
  s.panels_sentence = st.sentence;
  s.panels_head = st.call.head;
  const Rows rows = st.value_rows({0, st.call.keys.rows.length[st.sentence]});
  pack_transposed({rows.data, rows.count, rows.width, rows.stride}, s.value_panels);
}

// delta: sum_j w_ij g_ij = d_c . c, + sum_j w_ij d_w_ij.
void make_delta(const Stream& st, const BackwardInputs& in) noexcept {
  const Index width = st.columns.width, stride = st.s.value_stride;
  for (Index b = 0; b < st.blocks; ++b) {
    StreamRows& r = st.s.rows[b];
    for (Index i = 0; i < r.block->count; ++i) {
      float* d = r.d_context + i * stride;
      std::copy_n(in.d_context.row(r.block->rows[i]) + st.columns.first, width, d);
      std::fill(d + width, d + stride, 0.0f);
      r.one_key[i] = r.live.live.count(i) == 1;
      r.delta[i] = sees_any(r, i) ? dot_chain(d, r.context + i * stride, width) : 0.0f;
    }
  }
  if (in.d_weights.data == nullptr) return;
  for_tiles(st, [&](StreamRows& r, KeyRange tile) {
    tile_weights(st, r, tile);
    const bool full = r.live.live.tile(tile.first, tile.count) == TileClass::kFull;
    for (Index i = 0; i < r.block->count; ++i) {
      const float* d = in.d_weights.row(st.head_row(r, i)) + tile.first;
      if (!full) d = live_part(r, i, tile, d, st.s.d_scores);
      r.delta[i] += dot_row(st.s.scores + i * kStreamTile, d, tile.count);
    }
  });
}

// d_scores: the gradient of what softmax read, from that of the context.
void tile_gradients(const Stream& st, const StreamRows& r, KeyRange tile,
                    const BackwardInputs& in) noexcept {
  StreamScratch& s = st.s;
  const Index width = st.columns.width, rows = r.block->count;
  const float* panels = s.value_panels + tile.first / 16 * panel_stride(width);
  gemm({r.d_context, rows, width, s.value_stride}, {panels, width, tile.count}, ChainStart::kZero,
       {}, {s.d_scores, rows, tile.count, kStreamTile});
  drop_tile(st, r, tile, s.d_scores, s.d_scores);
  for (Index i = 0; in.d_weights.data != nullptr && i < rows; ++i) {
    add_scaled(in.d_weights.row(st.head_row(r, i)) + tile.first, 1.0f, tile.count,
               s.d_scores + i * kStreamTile);
  }
  softmax_tile_backward(r.live.live, tile.first, tile.count, s.scores, r.delta, s.d_scores,
                        kStreamTile);
  for (Index i = 0; i < rows; ++i) {  // delta is then g but for rounding
    if (r.one_key[i]) scale_row(s.d_scores + i * kStreamTile, tile.count, 0.0f);
  }
  for (Index i = 0; in.d_log_sum_exp && i < rows; ++i) {
    const float d = in.d_log_sum_exp[st.head_row(r, i)];
    if (d != 0.0f) {
      add_live(r.live, i, tile, d, s.scores + i * kStreamTile, s.d_scores + i * kStreamTile);
    }
  }
  const float temperature = st.attention().normalizer.temperature;
  if (temperature != 1.0f) {
    scale_scores({s.d_scores, kStreamTile, rows, tile.count}, 1.0f / temperature);
  }
}

// Through bias and cap.
void tile_bias_and_cap(const Stream& st, const StreamRows& r, KeyRange tile,
                       const BiasGradients& d_bias) noexcept {
  const Attention& a = st.attention();
  const Index rows = r.block->count;
  if (d_bias.wanted()) {
    const Bias bias = bias_from(a.bias, tile.first, tile.count);
    const BiasGradients to = bias_from(d_bias, tile.first, tile.count);
    for (Index i = 0; i < rows; ++i) {
      bias_backward(bias, place_from(st.place(r, i), bias.kind, tile),
                    st.s.d_scores + i * kStreamTile, to);
    }
  }
  if (!(a.score.soft_cap > 0.0f)) return;
  uncap_gradients(a.score.soft_cap, st.s.capped, {st.s.d_scores, kStreamTile, rows, tile.count});
}

// The products of a tile: with the values, the keys and the queries.
void spread_gradients(const Stream& st, StreamRows& r, KeyRange tile,
                      const StreamGradients& g) noexcept {
  StreamScratch& s = st.s;
  const PreparedKeys& keys = st.call.keys;
  const Index padded = keys.padded_width, rows = r.block->count;
  const Matrix& d = g.sums->d_keys;
  float* d_keys = d.row(sum_row(keys, st.call.head, st.sentence, tile.first));
  spread_tile(r.live, tile, s.d_scores, kStreamTile, {r.padded_query, padded, rows, padded},
              {d_keys, d.stride, tile.count});
  if (g.d_query.data == nullptr) return;
  const Rows right = near_rows(st, st.key_rows(tile), tile, s.near_keys);
  combine_tile(r.live, tile, s.d_scores, kStreamTile, right, {r.d_query, padded, rows});
}

}  // namespace

StreamScratch make_stream_scratch(const PreparedKeys& keys, ConstMatrix values, Index rows,
                                  bool backward, Arena& arena) {
  const Attention& a = keys.attention;
  StreamScratch s;
  const Index most = std::min(rows, kRowBlock);
  const Index tile = most * kStreamTile, padded = padded_lanes(keys.width);
  const Index blocks = std::min(kStreamBlocks, (rows + kRowBlock - 1) / kRowBlock);
  s.scores = arena.array<float>(tile);
  s.near_values.data = arena.array<float>(kStreamTile * padded_lanes(values.cols / a.heads));
  s.dropped = a.dropout > 0.0f ? arena.array<float>(tile) : s.scores;
  s.value_stride = padded_lanes(values.cols / a.heads);
  for (Index b = 0; b < blocks; ++b) {
    StreamRows& r = s.rows[b];
    r.query_memory = arena.array<float>(most * keys.width);
    r.context = arena.array<float>(most * s.value_stride);
    if (!a.mask.trivial()) r.live.memory = arena.array<KeyBits>(most * key_words(keys.longest));
    if (!backward) continue;
    r.d_context = arena.array<float>(most * s.value_stride);
    r.padded_query = arena.array<float>(most * padded);
    r.d_query = arena.array<float>(most * padded);
  }
  if (!backward) return s;
  if (a.score.soft_cap > 0.0f) s.capped = arena.array<float>(tile);
  s.d_scores = arena.array<float>(tile);
  s.near_keys.data = arena.array<float>(kStreamTile * padded);
  s.value_panels = arena.array<float>(packed_size(values.cols / a.heads, keys.longest));
  return s;
}

Index stream_blocks(const RowBlock* block, const RowBlock* end) noexcept {
  if (block->first_ordinal / kRowBlock % kStreamBlocks != 0) return 0;
  Index n = 1;
  while (n < kStreamBlocks && block + n < end && block[n].sentence == block->sentence) ++n;
  return n;
}

void stream_forward(const HeadCall& call, ConstMatrix values, const StreamBlocks& blocks,
                    const AttentionOutputs& out, StreamScratch& s) noexcept {
  const Stream st = make_stream(call, values, blocks, s);
  for (Index b = 0; b < st.blocks; ++b) {
    for (Index i = 0; i < s.rows[b].block->count; ++i) {
      const Index row = st.head_row(s.rows[b], i);
      if (out.weights.data != nullptr) std::fill_n(out.weights.row(row), out.weights.cols, 0.0f);
      if (out.raw_scores.data != nullptr) {
        std::fill_n(out.raw_scores.row(row), out.raw_scores.cols, 0.0f);
      }
    }
  }
  sum_tiles(st, out.context.data != nullptr, out.raw_scores);
  for (Index b = 0; b < st.blocks; ++b) write_rows(st, s.rows[b], out);
  write_weights(st, out);
}

void stream_backward(const HeadCall& call, ConstMatrix values, const StreamBlocks& blocks,
                     const BackwardInputs& in, const StreamGradients& g,
                     StreamScratch& s) noexcept {
  const Stream st = make_stream(call, values, blocks, s);
  const PreparedKeys& keys = call.keys;
  const Index padded = keys.padded_width;
  for (Index b = 0; b < st.blocks; ++b) {
    StreamRows& r = s.rows[b];
    gather_query(call, *r.block, r.padded_query, padded);
    std::fill_n(r.d_query, r.block->count * padded, 0.0f);
  }
  forward_again(st, in);
  make_delta(st, in);
  pack_values(st);
  for_tiles(st, [&](StreamRows& r, KeyRange tile) {
    tile_weights(st, r, tile);
    drop_tile(st, r, tile, s.scores, s.dropped);
    if (g.sums->value_width != 0) {
      const Matrix& d = g.sums->d_values;
      float* d_values = d.row(sum_row(keys, call.head, st.sentence, tile.first));
      spread_tile(r.live, tile, s.dropped, kStreamTile,
                  {r.d_context, s.value_stride, r.block->count, s.value_stride},
                  {d_values, d.stride, tile.count});
    }
    tile_gradients(st, r, tile, in);
    tile_bias_and_cap(st, r, tile, g.bias);
    spread_gradients(st, r, tile, g);
  });
  if (g.d_query.data == nullptr) return;
  const float factor = product_factor(keys);
  for (Index b = 0; b < st.blocks; ++b) {
    const StreamRows& r = s.rows[b];
    for (Index i = 0; i < r.block->count; ++i) {
      add_scaled(r.d_query + i * padded, factor, keys.width,
                 g.d_query.row(r.block->rows[i]) + call.head * keys.width);
    }
  }
}

}  // namespace regard::attention
