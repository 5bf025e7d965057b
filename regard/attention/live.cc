#include "regard/attention/live.h"

#include <algorithm>
#include <cmath>

namespace regard::attention {
namespace {

bool all_finite(const Rows& rows) noexcept {
  for (Index j = 0; j < rows.count; ++j) {
    const float* row = rows.data + j * rows.stride;
    float sum = 0.0f;  // 0 times anything finite is 0
    for (Index n = 0; n < rows.width; ++n) sum += row[n] * 0.0f;
    if (sum != 0.0f) return false;
  }
  return true;
}

Rows part(const Rows& rows, Index first, Index count) noexcept {
  return {rows.data + first * rows.stride, rows.stride, count, rows.width};
}

}  // namespace

RowPlace place_of(const PreparedKeys& keys, const QueryRows& queries, const RowBlock& block,
                  Index i, Index head) noexcept {
  RowPlace place;
  place.row = block.rows[i];
  place.sentence = block.sentence;
  place.position =
      queries.position != nullptr ? queries.position[place.row] : block.first_ordinal + i;
  place.head = head;
  place.keys = keys.rows.length[block.sentence];
  place.queries = queries.query_length != nullptr ? queries.query_length[block.sentence]
                  : queries.position == nullptr   ? block.sentence_rows
                                                  : -1;
  place.first_key = keys.rows.start[block.sentence];
  return place;
}

void check_places(const char* function, const PreparedKeys& keys, const QueryRows& queries,
                  const RowBlocks& blocks) {
  const Attention& a = keys.attention;
  const bool mask = !a.mask.trivial(), bias = a.bias.kind != BiasKind::kNone;
  if (!mask && !bias) return;
  for (const RowBlock& block : blocks) {
    for (Index i = 0; i < block.count; ++i) {
      const RowPlace place = place_of(keys, queries, block, i, 0);
      if (mask) a.mask.check(function, place);
      if (bias) check_bias_place(function, a.bias, place);
    }
  }
}

void find_live(const PreparedKeys& keys, const QueryRows& queries, const RowBlock& block,
               Index head, BlockLive& out) noexcept {
  const Index length = keys.rows.length[block.sentence];
  out.live = {nullptr, key_words(length), block.count, length};
  out.range = {0, length};
  if (keys.attention.mask.trivial() || length == 0) return;
  for (Index i = 0; i < block.count; ++i) {
    keys.attention.mask.live_keys(place_of(keys, queries, block, i, head),
                                  out.memory + i * out.live.words_per_row);
  }
  out.live.words = out.memory;
  Index first = 0, end = key_words(length);
  const auto empty = [&](Index tile) {
    return out.live.tile(tile * kKeyTile, kKeyTile) == TileClass::kEmpty;
  };
  while (first < end && empty(first)) ++first;
  while (end > first && empty(end - 1)) --end;
  out.range = {};
  if (first < end)
    out.range = {first * kKeyTile, std::min(length, end * kKeyTile) - first * kKeyTile};
}

void add_live(const BlockLive& live, Index i, KeyRange tile, float factor, const float* from,
              float* to) noexcept {
  if (live.live.words == nullptr || factor - factor == 0.0f) {
    add_scaled(from, factor, tile.count, to);
    return;
  }
  for (Index j = 0; j < tile.count; ++j) {
    if (live.live.live(i, tile.first + j)) to[j] += factor * from[j];
  }
}

void combine_tile(const BlockLive& live, KeyRange tile, const float* weights, Index stride,
                  const Rows& rows, const OutputRows& out) noexcept {
  if (live.live.words == nullptr) {
    weighted_sums({weights, stride, 1}, rows, true, out);
    return;
  }
  for (Index j = 0; j < tile.count; j += kKeyTile) {
    const Index count = std::min(kKeyTile, tile.count - j);
    const TileClass kind = live.live.tile(tile.first + j, count);
    if (kind == TileClass::kEmpty) continue;
    if (kind == TileClass::kFull || all_finite(part(rows, j, count))) {
      weighted_sums({weights + j, stride, 1}, part(rows, j, count), true, out);
      continue;
    }
    // Row after row and key after key: 0 times what is masked would not be 0.
    for (Index i = 0; i < out.count; ++i) {
      for (Index key = j; key < j + count; ++key) {
        if (!live.live.live(i, tile.first + key)) continue;
        weighted_sums({weights + i * stride + key, 0, 0}, part(rows, key, 1), true,
                      {out.row(i), out.stride, 1, nullptr});
      }
    }
  }
}

void spread_tile(const BlockLive& live, KeyRange tile, const float* weights, Index stride,
                 const Rows& rows, const OutputRows& out) noexcept {
  if (live.live.words == nullptr) {
    weighted_sums({weights, 1, stride}, rows, true, out);
    return;
  }
  for (Index j = 0; j < tile.count; j += kKeyTile) {
    const Index count = std::min(kKeyTile, tile.count - j);
    const TileClass kind = live.live.tile(tile.first + j, count);
    if (kind == TileClass::kEmpty) continue;
    if (kind == TileClass::kFull || all_finite(rows)) {
      weighted_sums({weights + j, 1, stride}, rows, true,
                    {out.data + j * out.stride, out.stride, count});
      continue;
    }
    for (Index key = j; key < j + count; ++key) {
      for (Index i = 0; i < rows.count; ++i) {
        if (!live.live.live(i, tile.first + key)) continue;
        weighted_sums({weights + i * stride + key, 0, 0}, part(rows, i, 1), true,
                      {out.data + key * out.stride, out.stride, 1});
      }
    }
  }
}

void combine_live(const BlockLive& live, const float* weights, Index stride, const Rows& rows,
                  const OutputRows& out) noexcept {
  if (live.live.words == nullptr) {
    weighted_sums({weights, stride, 1}, rows, false, out);
    return;
  }
  for (Index i = 0; i < out.count; ++i) std::fill_n(out.row(i), rows.width, 0.0f);
  const KeyRange& range = live.range;
  combine_tile(live, range, weights + range.first, stride, part(rows, range.first, range.count),
               out);
}

void spread_live(const BlockLive& live, const float* weights, Index stride, const Rows& rows,
                 const OutputRows& out) noexcept {
  const KeyRange& range = live.range;
  spread_tile(live, range, weights + range.first, stride, rows,
              {out.data + range.first * out.stride, out.stride, range.count});
}

}  // namespace regard::attention
