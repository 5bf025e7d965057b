// What is made of the keys once, and where their gradients end.
#include "regard/attention/prepared_keys.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "regard/attention/axes.h"
#include "regard/attention/checks.h"
#include "regard/attention/scored_query.h"
#include "regard/attention/unit_rows.h"
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

void prepare_v(const PreparedKeys& keys, Index head, HeadKeys& out, Arena& arena) {
  const Index padded = keys.padded_width;
  float* v = arena.array<float>(padded);
  float* minus_two_v = arena.array<float>(padded);
  std::fill(v, v + padded, 0.0f);
  effective_v(keys.attention.score, head * keys.width, keys.width, v);
  out.v_in_range = true;
  double sum = 0.0;  // in float its error would be the largest of a score's
  for (Index a = 0; a < padded; ++a) {
    minus_two_v[a] = -2.0f * v[a];
    sum += static_cast<double>(v[a]);
    out.v_in_range = out.v_in_range && std::fabs(v[a]) <= kLargestFactoredV;
  }
  out.sum_v = static_cast<float>(sum);
  out.v = v;
  out.minus_two_v = minus_two_v;
}

// A key that is not finite is left out of its sentence's extrema: rows that may not see it must not
// feel it, and rows that may take the direct form.
void exponentiate_keys(const PreparedKeys& keys, HeadKeys& out, Arena& arena) {
  const Index padded = keys.padded_width;
  float* exponentials = arena.array<float>(keys.live_rows * padded);
  RowExtrema* extrema = arena.array<RowExtrema>(keys.rows.count);
  bool* not_finite = arena.array<bool>(keys.live_rows);
  bool all_finite = true;
  for (Index b = 0; b < keys.rows.count; ++b) {
    RowExtrema all{-HUGE_VALF, 0.0f, true};
    for (Index j = 0; j < keys.rows.length[b]; ++j) {
      const Index live = keys.first[b] + j;
      float* to = exponentials + live * padded;
      const RowExtrema row =
          exponentiate_row(out.keys.row(keys.rows.start[b] + j), keys.width, padded, to, 16);
      not_finite[live] = !(row.magnitude <= 3.4028235e38f);
      if (not_finite[live]) {
        std::fill(to, to + padded, 0.0f);
        all_finite = false;
        continue;
      }
      all.largest = std::max(all.largest, row.largest);
      all.magnitude = std::max(all.magnitude, row.magnitude);
      all.in_range = all.in_range && row.in_range;
    }
    extrema[b] = all;
  }
  out.exponentials = exponentials;
  out.extrema = extrema;
  out.not_finite = all_finite ? nullptr : not_finite;
}

void pack_keys(const PreparedKeys& keys, HeadKeys& out, Arena& arena) {
  Index* panel_start = arena.array<Index>(keys.rows.count);
  Index size = 0;
  for (Index b = 0; b < keys.rows.count; ++b) {
    panel_start[b] = size;
    size += packed_size(keys.width, keys.rows.length[b]);
  }
  float* panels = arena.array<float>(size);
  for (Index b = 0; b < keys.rows.count; ++b) {
    if (keys.rows.length[b] == 0) continue;
    pack_transposed(out.keys.row_slice(keys.rows.start[b], keys.rows.length[b]),
                    panels + panel_start[b]);
  }
  out.panels = panels;
  out.panel_start = panel_start;
}

// concat: K W_k' of the live rows; the others stay what they were.
ConstMatrix project_keys(const PreparedKeys& keys, Arena& arena) {
  const ConstMatrix w = key_part(keys);
  const Matrix projected = arena.matrix(keys.keys.rows, w.rows);
  const PackedMatrix packed = pack_transposed(w, arena.array<float>(packed_size(w.cols, w.rows)));
  for (Index b = 0; b < keys.rows.count; ++b) {
    const Index start = keys.rows.start[b], length = keys.rows.length[b];
    if (length == 0) continue;
    gemm(keys.keys.row_slice(start, length), packed, ChainStart::kZero, {},
         projected.row_slice(start, length));
  }
  return projected;
}

// cosine: each head's part of each live row, at length 1.
void normalize_keys(PreparedKeys& keys, Arena& arena) {
  const Index heads = keys.attention.heads;
  const Matrix unit = arena.matrix(keys.keys.rows, keys.keys.cols);
  float* norms = arena.array<float>(keys.live_rows * heads);
  for (Index b = 0; b < keys.rows.count; ++b) {
    for (Index j = 0; j < keys.rows.length[b]; ++j) {
      const Index row = keys.rows.start[b] + j;
      for (Index h = 0; h < heads; ++h) {
        norms[(keys.first[b] + j) * heads + h] = unit_row(
            keys.keys.row(row) + h * keys.width, keys.width, unit.row(row) + h * keys.width);
      }
    }
  }
  keys.scored = unit;
  keys.norms = norms;
}

// The width of one head of the keys as they are scored.
Index scored_width(const Attention& a, ConstMatrix keys) {
  const Index all = a.score.kind == ScoreKind::kConcat ? a.score.w.rows : keys.cols;
  if (all % a.heads != 0) {
    throw ShapeError(std::string(kPrepare) + ": keys: wanted a width that is a multiple of " +
                     std::to_string(a.heads) + " heads, got " + std::to_string(all));
  }
  return all / a.heads;
}

void check_parameters(const PreparedKeys& keys) {
  const Score& s = keys.attention.score;
  const Index width = keys.width * keys.attention.heads;
  if (s.has_v()) check_extent(kPrepare, "size of v", width, s.v.size);
  if (s.b) check_extent(kPrepare, "size of b", width, s.b.size);
  if (s.g) check_extent(kPrepare, "size of g", 1, s.g.size);
  if (s.kind == ScoreKind::kGeneral) check_extent(kPrepare, "columns of w", width, s.w.cols);
  if (s.kind == ScoreKind::kConcat) {
    check_at_least(kPrepare, "columns of w", keys.keys.cols, s.w.cols);
  }
  check_stride(kPrepare, {"w", s.w});
  if (!s.stateful()) return;
  check_extent(kPrepare, "rows of u", width, s.u.rows);
  if (s.kind == ScoreKind::kCoverage) check_extent(kPrepare, "columns of u", 1, s.u.cols);
  check_stride(kPrepare, {"u", s.u});
  if (s.kind == ScoreKind::kCoverage) return;
  check_extent(kPrepare, "rows of filters", s.u.cols, s.filters.rows);
  check_stride(kPrepare, {"filters", s.filters});
  if (s.filters.cols % 2 == 0) {
    throw ShapeError(std::string(kPrepare) + ": columns of filters: wanted an odd number, got " +
                     std::to_string(s.filters.cols));
  }
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

PreparedKeys prepare_keys(const Attention& attention, ConstMatrix keys, const RaggedRows& rows,
                          Arena& arena) {
  const FloatEnvironment environment;
  check_axes(kPrepare, attention);
  check_stride(kPrepare, {"keys", keys});
  check_sentences(keys, rows);
  PreparedKeys out;
  out.attention = attention;
  out.keys = out.scored = keys;
  out.width = scored_width(attention, keys);
  const Score& score = out.attention.score;
  out.padded_width = score.has_v() ? padded_dims(out.width) : padded_lanes(out.width);
  check_parameters(out);
  check_bias(kPrepare, attention.bias, attention.heads);
  copy_rows(out, rows, arena);
  if (score.kind == ScoreKind::kConcat) out.scored = project_keys(out, arena);
  if (score.kind == ScoreKind::kCosine) normalize_keys(out, arena);
  HeadKeys* head = arena.array<HeadKeys>(attention.heads);
  for (Index h = 0; h < attention.heads; ++h) {
    head[h] = {};
    head[h].keys = out.scored.col_slice(h * out.width, out.width);
    if (score.has_v()) prepare_v(out, h, head[h], arena);
    if (score.factored()) exponentiate_keys(out, head[h], arena);
    if (score.product()) pack_keys(out, head[h], arena);
  }
  out.head = head;
  return out;
}

PreparedKeys prepare_keys(const Score& score, ConstMatrix keys, const RaggedRows& rows,
                          Arena& arena) {
  Attention attention;
  attention.score = score;
  return prepare_keys(attention, keys, rows, arena);
}

KeyGradients begin_key_gradients(const PreparedKeys& keys, Index value_width, Arena& arena) {
  const Index heads = keys.attention.heads;
  KeyGradients sums;
  sums.d_keys = arena.zero_matrix(heads * keys.live_rows, keys.padded_width);
  sums.d_values = arena.zero_matrix(heads * keys.live_rows, padded_lanes(value_width / heads));
  sums.value_width = value_width;
  return sums;
}

namespace {

constexpr char kFinish[] = "finish_key_gradients";

// Adds one head's sums to a matrix laid out as the keys are scored.
void add_key_sums(const PreparedKeys& keys, const KeyGradients& sums, Index h, Matrix to) {
  const ScoreKind kind = keys.attention.score.kind;
  const bool product = keys.attention.score.product();
  const float factor = product ? product_factor(keys) : 1.0f;
  for (Index b = 0; b < keys.rows.count; ++b) {
    for (Index j = 0; j < keys.rows.length[b]; ++j) {
      const Index live = keys.first[b] + j;
      const float* sum = sums.d_keys.row(h * keys.live_rows + live);
      float* out = to.row(keys.rows.start[b] + j) + h * keys.width;
      if (keys.attention.score.factored()) {
        add_v_scaled(keys.head[h].v, sum, 16, keys.width, out);
      } else if (kind == ScoreKind::kCosine) {
        unit_row_backward(keys.head[h].keys.row(keys.rows.start[b] + j),
                          keys.norms[live * keys.attention.heads + h], sum, factor, keys.width,
                          out);
      } else {
        add_scaled(sum, factor, keys.width, out);
      }
    }
  }
}

// concat: back through K W_k'.
void unproject_keys(const PreparedKeys& keys, const Matrix& d_projected,
                    const MemoryGradients& gradients, Arena& arena) {
  const ConstMatrix w = key_part(keys);
  for (Index b = 0; b < keys.rows.count; ++b) {
    const Index start = keys.rows.start[b], length = keys.rows.length[b];
    if (length == 0) continue;
    const ConstMatrix d = d_projected.row_slice(start, length);
    if (gradients.d_keys.data != nullptr) {
      gemm_a_b(d, w, ChainStart::kContinue, gradients.d_keys.row_slice(start, length), arena);
    }
    if (gradients.d_w.data != nullptr) {
      const ConstMatrix rows = rows_with_gradient(keys.keys.row_slice(start, length), d, arena);
      gemm_at_b(d, rows, ChainStart::kContinue,
                gradients.d_w.col_slice(gradients.d_w.cols - keys.keys.cols, keys.keys.cols),
                arena);
    }
  }
}

void check_finish(const PreparedKeys& keys, const KeyGradients& sums, const MemoryGradients& out) {
  if (out.d_keys.data != nullptr) {
    check_extent(kFinish, "rows of d_keys", keys.keys.rows, out.d_keys.rows);
    check_extent(kFinish, "columns of d_keys", keys.keys.cols, out.d_keys.cols);
    check_stride(kFinish, {"d_keys", out.d_keys});
  }
  if (out.d_values.data != nullptr) {
    check_extent(kFinish, "rows of d_values", keys.keys.rows, out.d_values.rows);
    check_extent(kFinish, "columns of d_values", sums.value_width, out.d_values.cols);
    check_stride(kFinish, {"d_values", out.d_values});
  }
  if (out.d_w.data != nullptr) {
    check_extent(kFinish, "rows of d_w", keys.attention.score.w.rows, out.d_w.rows);
    check_extent(kFinish, "columns of d_w", keys.attention.score.w.cols, out.d_w.cols);
    check_stride(kFinish, {"d_w", out.d_w});
  }
}

}  // namespace

void finish_key_gradients(const PreparedKeys& keys, const KeyGradients& sums,
                          const MemoryGradients& gradients, Workspace workspace) {
  const FloatEnvironment environment;
  const ArenaScope scope(workspace.arena);
  check_finish(keys, sums, gradients);
  const Index heads = keys.attention.heads;
  const bool concat = keys.attention.score.kind == ScoreKind::kConcat;
  if (concat && (gradients.d_keys.data != nullptr || gradients.d_w.data != nullptr)) {
    const Matrix d_projected = workspace.arena.zero_matrix(keys.keys.rows, heads * keys.width);
    for (Index h = 0; h < heads; ++h) add_key_sums(keys, sums, h, d_projected);
    unproject_keys(keys, d_projected, gradients, workspace.arena);
  } else if (!concat && gradients.d_keys.data != nullptr) {
    for (Index h = 0; h < heads; ++h) add_key_sums(keys, sums, h, gradients.d_keys);
  }
  if (gradients.d_values.data == nullptr) return;
  const Index width = sums.value_width / heads;
  for (Index b = 0; b < keys.rows.count; ++b) {
    for (Index j = 0; j < keys.rows.length[b]; ++j) {
      for (Index h = 0; h < heads; ++h) {
        add_scaled(sums.d_values.row(h * keys.live_rows + keys.first[b] + j), 1.0f, width,
                   gradients.d_values.row(keys.rows.start[b] + j) + h * width);
      }
    }
  }
}

}  // namespace regard::attention
