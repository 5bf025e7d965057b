#include <algorithm>
#include <cmath>
#include <string>

#include "regard/attention/checks.h"
#include "regard/attention/driver.h"
#include "regard/base/error.h"
#include "regard/base/float_environment.h"
#include "regard/kernels/gemm.h"

namespace regard::attention {
namespace {

constexpr char kPrepare[] = "prepare_keys";

void check_sentences(ConstMatrix keys, const RaggedRows& rows) {
  for (Index b = 0; b < rows.count; ++b) {
    const Index start = rows.start[b];
    const Index length = rows.length[b];
    if (length == 0) continue;
    if (start < 0 || length < 0 || start > keys.rows || length > keys.rows - start) {
      throw ShapeError(std::string(kPrepare) + ": sentence " + std::to_string(b) +
                       ": wanted rows within the " + std::to_string(keys.rows) +
                       " of keys, got start " + std::to_string(start) + " and length " +
                       std::to_string(length));
    }
  }
}

void copy_rows(PreparedKeys& out, const RaggedRows& rows, Arena& arena) {
  Index* start = arena.array<Index>(rows.count);
  Index* length = arena.array<Index>(rows.count);
  Index* first = arena.array<Index>(rows.count);
  for (Index b = 0; b < rows.count; ++b) {
    start[b] = rows.start[b];
    length[b] = rows.length[b];
    first[b] = out.live_rows;
    out.live_rows += length[b];
    out.longest = std::max(out.longest, length[b]);
  }
  out.rows = {start, length, rows.count};
  out.first = first;
}

void merge(RowExtrema& all, const RowExtrema& row) {
  all.largest = std::max(all.largest, row.largest);
  all.magnitude = std::max(all.magnitude, row.magnitude);
  all.in_range = all.in_range && row.in_range;
}

void prepare_v(PreparedKeys& out, Arena& arena) {
  float* v = arena.array<float>(out.padded_width);
  float* minus_two_v = arena.array<float>(out.padded_width);
  out.v_in_range = true;
  double sum = 0.0;  // in float its error would be the largest of a score's
  for (Index a = 0; a < out.padded_width; ++a) {
    v[a] = a < out.width ? out.score.scale * out.score.v[a] : 0.0f;
    minus_two_v[a] = -2.0f * v[a];
    sum += static_cast<double>(v[a]);
    out.v_in_range = out.v_in_range && std::fabs(v[a]) <= kLargestFactoredV;
  }
  out.sum_v = static_cast<float>(sum);
  out.v = v;
  out.minus_two_v = minus_two_v;
}

void prepare_additive(PreparedKeys& out, Arena& arena) {
  prepare_v(out, arena);
  float* exponentials = arena.array<float>(out.live_rows * out.padded_width);
  RowExtrema* extrema = arena.array<RowExtrema>(out.rows.count);
  for (Index b = 0; b < out.rows.count; ++b) {
    extrema[b] = {};
    for (Index j = 0; j < out.rows.length[b]; ++j) {
      float* to = exponentials + (out.first[b] + j) * out.padded_width;
      const RowExtrema row = exponentiate_row(out.keys.row(out.rows.start[b] + j), out.width,
                                              out.padded_width, to, 16);
      if (j == 0) extrema[b].largest = row.largest;
      merge(extrema[b], row);
    }
  }
  out.exponentials = exponentials;
  out.extrema = extrema;
}

void prepare_dot(PreparedKeys& out, Arena& arena) {
  Index* panel_start = arena.array<Index>(out.rows.count);
  Index size = 0;
  for (Index b = 0; b < out.rows.count; ++b) {
    panel_start[b] = size;
    size += packed_size(out.width, out.rows.length[b]);
  }
  float* panels = arena.array<float>(size);
  for (Index b = 0; b < out.rows.count; ++b) {
    if (out.rows.length[b] == 0) continue;
    pack_transposed(out.keys.row_slice(out.rows.start[b], out.rows.length[b]),
                    panels + panel_start[b]);
  }
  out.panels = panels;
  out.panel_start = panel_start;
}

}  // namespace

RaggedRows dense_rows(Index batch, Index padded_length, const Index* length, Arena& arena) {
  Index* start = arena.array<Index>(batch);
  for (Index b = 0; b < batch; ++b) {
    if (length[b] < 0 || length[b] > padded_length) {
      throw ShapeError("dense_rows: length[" + std::to_string(b) + "]: wanted 0 to " +
                       std::to_string(padded_length) + ", got " + std::to_string(length[b]));
    }
    start[b] = b * padded_length;
  }
  return {start, length, batch};
}

PreparedKeys prepare_keys(const Score& score, ConstMatrix keys, const RaggedRows& rows,
                          Arena& arena) {
  const FloatEnvironment environment;
  check_stride(kPrepare, {"keys", keys});
  check_sentences(keys, rows);
  PreparedKeys out;
  out.score = score;
  out.keys = keys;
  out.width = keys.cols;
  copy_rows(out, rows, arena);
  if (score.kind == ScoreKind::kAdditive) {
    check_extent(kPrepare, "size of v", keys.cols, score.v.size);
    out.padded_width = padded_dims(keys.cols);
    prepare_additive(out, arena);
    return out;
  }
  if (score.kind == ScoreKind::kGeneral) {
    check_extent(kPrepare, "columns of w", keys.cols, score.w.cols);
    check_stride(kPrepare, {"w", score.w});
  }
  out.padded_width = padded_lanes(keys.cols);
  prepare_dot(out, arena);
  return out;
}

KeyGradients begin_key_gradients(const PreparedKeys& keys, Index value_width, Arena& arena) {
  KeyGradients sums;
  sums.d_keys = arena.zero_matrix(keys.live_rows, keys.padded_width);
  sums.d_values = arena.zero_matrix(keys.live_rows, padded_lanes(value_width));
  sums.value_width = value_width;
  return sums;
}

void finish_key_gradients(const PreparedKeys& keys, const KeyGradients& sums, Matrix d_keys,
                          Matrix d_values) {
  constexpr char kFinish[] = "finish_key_gradients";
  const FloatEnvironment environment;
  if (d_keys.data != nullptr) {
    check_extent(kFinish, "rows of d_keys", keys.keys.rows, d_keys.rows);
    check_extent(kFinish, "columns of d_keys", keys.width, d_keys.cols);
    check_stride(kFinish, {"d_keys", d_keys});
  }
  if (d_values.data != nullptr) {
    check_extent(kFinish, "rows of d_values", keys.keys.rows, d_values.rows);
    check_extent(kFinish, "columns of d_values", sums.value_width, d_values.cols);
    check_stride(kFinish, {"d_values", d_values});
  }
  const float factor = dot_factor(keys);
  for (Index b = 0; b < keys.rows.count; ++b) {
    for (Index j = 0; j < keys.rows.length[b]; ++j) {
      const Index from = keys.first[b] + j;
      const Index to = keys.rows.start[b] + j;
      if (d_keys.data != nullptr && keys.score.kind == ScoreKind::kAdditive) {
        add_v_scaled(keys.v, sums.d_keys.row(from), 16, keys.width, d_keys.row(to));
      } else if (d_keys.data != nullptr) {
        add_scaled(sums.d_keys.row(from), factor, keys.width, d_keys.row(to));
      }
      if (d_values.data != nullptr) {
        add_scaled(sums.d_values.row(from), 1.0f, sums.value_width, d_values.row(to));
      }
    }
  }
}

}  // namespace regard::attention
