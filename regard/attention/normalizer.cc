#include "regard/attention/normalizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "regard/attention/normalizer_live.h"
#include "regard/attention/normalizer_rows.h"
#include "regard/attention/normalizer_sparse.h"
#include "regard/attention/softmax.h"
#include "regard/base/error.h"

namespace regard::attention {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

[[noreturn]] void refuse(const char* function, const std::string& what, const std::string& wanted,
                         const std::string& got) {
  throw ConfigError(std::string(function) + ": " + what + ": wanted " + wanted + ", got " + got);
}

bool sparse(NormalizerKind kind) {
  return kind == NormalizerKind::kSparsemax || kind == NormalizerKind::kEntmax15 ||
         kind == NormalizerKind::kEntmax;
}

// What one call works on.
struct Work {
  const Normalizer& normalizer;
  const NormalizerRows& rows;
  float* scratch;

  Index keys() const { return rows.live.keys; }
  // The i-th row of scratch, of live keys and room to pack them.
  float* line(Index i) const { return scratch + i * candidate_stride(keys()); }
};

// scores *= 1 / temperature; none where that is 1.
void cool(const ScoreBlock& block, float temperature) {
  if (temperature != 1.0f) scale_scores(block, 1.0f / temperature);
}

// The live keys of a row, lying together: in the row itself or in `line`.
float* together(float* row, const LiveRow& live, float* line) {
  if (live.in_place()) return row + live.first;
  gather_live(row, live, line);
  return line;
}
const float* together(const float* row, const LiveRow& live, float* line) {
  if (live.in_place()) return row + live.first;
  gather_live(row, live, line);
  return line;
}

// The keys of a row that take part: the live ones, for local those within D of the centre. Where
// the centre is no number, all, which get NaN.
LiveRow taking_part(const Work& work, Index r) {
  if (work.normalizer.kind != NormalizerKind::kLocal) return live_row(work.rows.live, r);
  const float center = work.rows.center[r];
  const auto half_width = static_cast<float>(work.normalizer.window);
  const auto keys = static_cast<float>(work.keys());
  if (!(std::fabs(center) < kInfinity)) return live_row(work.rows.live, r);
  const float from = std::clamp(std::ceil(center - half_width), 0.0f, keys);
  const float to = std::clamp(std::floor(center + half_width) + 1.0f, 0.0f, keys);
  return live_row(work.rows.live, r, static_cast<Index>(from), static_cast<Index>(to));
}

// ----- softmax, hardmax, sigmoid, local: row by row -----

void softmax_rows(const Work& work, float* scores, float* log_sum_exp) {
  const Normalizer& n = work.normalizer;
  const bool local = n.kind == NormalizerKind::kLocal;
  if (work.rows.live.words == nullptr && !local) {
    const ScoreBlock all = {scores, work.rows.stride, work.rows.live.rows, work.keys()};
    cool(all, n.temperature);
    softmax_forward(all, log_sum_exp);
    return;
  }
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = scores + r * work.rows.stride;
    const LiveRow live = taking_part(work, r);
    if (live.count == 0) {
      std::fill(row, row + padded(live.keys), 0.0f);
      if (log_sum_exp != nullptr) log_sum_exp[r] = -kInfinity;
      continue;
    }
    float* own = together(row, live, work.line(0));
    const ScoreBlock one = {own, work.rows.stride, 1, live.count};
    cool(one, n.temperature);
    softmax_forward(one, log_sum_exp == nullptr ? nullptr : log_sum_exp + r);
    if (local) {
      live_offsets(live, work.rows.center[r], work.line(1));
      gaussian_row(own, work.line(1), live.count, static_cast<float>(n.window));
    }
    scatter_live(own, live, row);
  }
}

// d of softmax(scores / temperature) in place; soft: the weights.
void softmax_row_backward(float* d, const float* soft, Index count, float temperature) {
  float unused;
  softmax_backward({d, padded(count), 1, count}, soft, nullptr, &unused);
  cool({d, padded(count), 1, count}, temperature);
}

void softmax_rows_backward(const Work& work, const NormalizerGradients& g) {
  const float temperature = work.normalizer.temperature;
  if (work.rows.live.words == nullptr) {
    const ScoreBlock all = {g.d_scores, work.rows.stride, work.rows.live.rows, work.keys()};
    softmax_backward(all, g.weights, nullptr, work.line(3));
    cool(all, temperature);
    return;
  }
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = g.d_scores + r * work.rows.stride;
    const LiveRow live = live_row(work.rows.live, r);
    float* d = together(row, live, work.line(0));
    const float* w = together(g.weights + r * work.rows.stride, live, work.line(1));
    if (live.count > 0) softmax_row_backward(d, w, live.count, temperature);
    scatter_live(d, live, row);
  }
}

// Of kinds whose backward makes softmax's weights again from the scores: hardmax straight through,
// local.
void soft_rows_backward(const Work& work, const NormalizerGradients& g) {
  const Normalizer& n = work.normalizer;
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = g.d_scores + r * work.rows.stride;
    const LiveRow live = taking_part(work, r);
    float* d = together(row, live, work.line(0));
    if (live.count > 0) {
      float* soft = work.line(1);
      gather_live(g.scores + r * work.rows.stride, live, soft);
      const ScoreBlock one = {soft, padded(live.count), 1, live.count};
      cool(one, n.temperature);
      softmax_forward(one, nullptr);
      if (n.kind == NormalizerKind::kLocal) {
        live_offsets(live, work.rows.center[r], work.line(2));
        const float d_center =
            gaussian_row_backward(d, soft, work.line(2), live.count, static_cast<float>(n.window));
        if (g.d_center != nullptr) g.d_center[r] += d_center;
      }
      softmax_row_backward(d, soft, live.count, n.temperature);
    }
    scatter_live(d, live, row);
  }
}

void hardmax_rows(const Work& work, float* scores) {
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = scores + r * work.rows.stride;
    const LiveRow live = live_row(work.rows.live, r);
    float* own = together(row, live, work.line(0));
    if (live.count > 0) hardmax_row(own, live.count);
    scatter_live(own, live, row);
  }
}

// Each element is by itself, so what is masked is cleared afterwards.
void sigmoid_rows(const Work& work, float* scores) {
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = scores + r * work.rows.stride;
    sigmoid_row(row, work.keys());
    fill_dead(row, live_row(work.rows.live, r), 0.0f);
  }
}

void sigmoid_rows_backward(const Work& work, const NormalizerGradients& g) {
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = g.d_scores + r * work.rows.stride;
    sigmoid_row_backward(row, g.weights + r * work.rows.stride, work.keys());
    fill_dead(row, live_row(work.rows.live, r), 0.0f);
  }
}

// ----- sparsemax and entmax: sixteen rows at a time -----

// The rows from `first` on that have live keys.
struct SparseRows {
  RowGroup group;
  LiveRow live[kGroupRows];    // under a mask
  Index row[kGroupRows] = {};  // which row of the block
};

SparseRows sparse_rows(const Work& work, Index first, float* data) {
  SparseRows out;
  const Index end = std::min(work.rows.live.rows, first + kGroupRows);
  for (Index r = first; r < end; ++r) {
    float* row = data + r * work.rows.stride;
    if (work.rows.live.words == nullptr) {
      const Index n = out.group.rows++;
      out.row[n] = r;
      out.group.row[n] = row;
      out.group.count[n] = work.keys();
      continue;
    }
    const LiveRow live = live_row(work.rows.live, r);
    if (live.count == 0) {
      std::fill(row, row + padded(live.keys), 0.0f);
      continue;
    }
    const Index n = out.group.rows++;
    out.live[n] = live;
    out.row[n] = r;
    out.group.row[n] = together(row, live, work.line(n));
    out.group.count[n] = live.count;
  }
  return out;
}

// Of rows without a mask the kernels have written all.
void put_back(const Work& work, const SparseRows& rows, float* data) {
  if (work.rows.live.words == nullptr) return;
  for (Index n = 0; n < rows.group.rows; ++n) {
    scatter_live(rows.group.row[n], rows.live[n], data + rows.row[n] * work.rows.stride);
  }
}

Index group_rows(Index rows) { return std::min(rows, kGroupRows); }

void sparse_rows_forward(const Work& work, float* scores) {
  float* candidates = work.line(group_rows(work.rows.live.rows));
  for (Index first = 0; first < work.rows.live.rows; first += kGroupRows) {
    const SparseRows rows = sparse_rows(work, first, scores);
    switch (work.normalizer.kind) {
      case NormalizerKind::kSparsemax:
        sparsemax_forward(rows.group, candidates);
        break;
      case NormalizerKind::kEntmax15:
        entmax15_forward(rows.group, candidates);
        break;
      default:
        entmax_forward(rows.group, work.normalizer.alpha, candidates);
    }
    put_back(work, rows, scores);
  }
}

void sparse_rows_backward(const Work& work, const NormalizerGradients& g) {
  const Index lines = group_rows(work.rows.live.rows);
  if (g.d_alpha != nullptr) std::fill(g.d_alpha, g.d_alpha + work.rows.live.rows, 0.0f);
  for (Index first = 0; first < work.rows.live.rows; first += kGroupRows) {
    const SparseRows rows = sparse_rows(work, first, g.d_scores);
    const float* weights[kGroupRows] = {};
    float* d_alpha[kGroupRows] = {};
    for (Index n = 0; n < rows.group.rows; ++n) {
      weights[n] =
          together(g.weights + rows.row[n] * work.rows.stride, rows.live[n], work.line(lines + n));
      if (g.d_alpha != nullptr) d_alpha[n] = g.d_alpha + rows.row[n];
    }
    switch (work.normalizer.kind) {
      case NormalizerKind::kSparsemax:
        sparsemax_backward(rows.group, weights);
        break;
      case NormalizerKind::kEntmax15:
        entmax15_backward(rows.group, weights);
        break;
      default:
        entmax_backward(rows.group, weights, work.normalizer.alpha,
                        g.d_alpha == nullptr ? nullptr : d_alpha);
    }
    put_back(work, rows, g.d_scores);
  }
}

// ----- monotonic and MoChA: rows as they lie, since what is masked passes mass on -----

const float* row_or_null(const float* const* rows, Index r) {
  return rows == nullptr ? nullptr : rows[r];
}
float* row_or_null(float* const* rows, Index r) { return rows == nullptr ? nullptr : rows[r]; }

Index chunk_width(const Normalizer& n, Index keys) {
  return std::clamp<Index>(n.window, 1, std::max<Index>(keys, 1));
}
// Arrays of MoChA go on for the width of a chunk before the first key and behind the last.
Index chunk_stride(Index keys, Index width) { return padded(keys) + 2 * padded(width) + 16; }

// Scratch of one row of MoChA.
struct ChunkArrays {
  ChunkRow row;
  Index stride = 0;
  float* memory = nullptr;

  float* at(Index i) const { return memory + i * stride + padded(row.width); }
  void fill(Index i, float value) const {
    std::fill(memory + i * stride, memory + (i + 1) * stride, value);
  }
};

ChunkArrays chunk_arrays(const Work& work) {
  const Index width = chunk_width(work.normalizer, work.keys());
  return {{work.keys(), width}, chunk_stride(work.keys(), width), work.scratch};
}

void copy(const float* from, Index n, float* to) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

// The arrays of MoChA.
enum Chunk : Index { kU, kTop, kTotal, kR, kC, kGradient, kP, kQ, kChunkArrays };

// u, its chunks' tops and totals.
void begin_chunks(const ChunkArrays& a, const float* u, const LiveRow& live) {
  a.fill(kU, -kInfinity);
  copy(u, live.keys, a.at(kU));
  fill_dead(a.at(kU), live, -kInfinity);
  a.fill(kTop, kInfinity);
  chunk_sums(a.row, a.at(kU), a.at(kTop), a.at(kTotal));
}

// r = alpha / total, and what sums over chunks may read.
void weigh_chunks(const ChunkArrays& a, const float* alpha, const LiveRow& live) {
  a.fill(kR, 0.0f);
  float* r = a.at(kR);
  for (Index k = 0; k < live.keys; ++k) r[k] = alpha[k] / a.at(kTotal)[k];
  fill_dead(r, live, 0.0f);
  fill_dead(a.at(kTop), live, kInfinity);
}

// p = sigma(e), 0 where masked.
void chances(const float* scores, const LiveRow& live, float* p) {
  if (p != scores) copy(scores, padded(live.keys), p);
  sigmoid_row(p, live.keys);
  fill_dead(p, live, 0.0f);
}

void monotonic_rows(const Work& work, float* scores, float* const* next_state) {
  const bool chunks = work.normalizer.kind == NormalizerKind::kMocha;
  const ChunkArrays a = chunk_arrays(work);
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* row = scores + r * work.rows.stride;
    const LiveRow live = live_row(work.rows.live, r);
    if (chunks) {
      const float* u = row_or_null(work.rows.chunk_scores, r);
      begin_chunks(a, u != nullptr ? u : row, live);
    }
    chances(row, live, row);
    monotonic_row(row, row_or_null(work.rows.state, r), live.keys);
    float* next = row_or_null(next_state, r);
    if (next != nullptr) copy(row, live.keys, next);
    if (!chunks) continue;
    weigh_chunks(a, row, live);
    chunk_weights(a.row, a.at(kU), a.at(kTop), a.at(kR), row);
    fill_dead(row, live, 0.0f);
  }
}

// d: in the gradient of MoChA's weights, out that of its monotonic part; a.at(kGradient): that of
// u.
void chunks_backward(const ChunkArrays& a, const float* u, const float* alpha, const LiveRow& live,
                     float* d) {
  begin_chunks(a, u, live);
  a.fill(kGradient, 0.0f);
  a.fill(kC, 0.0f);
  copy(d, live.keys, a.at(kGradient));
  fill_dead(a.at(kGradient), live, 0.0f);
  chunk_means(a.row, a.at(kU), a.at(kTop), a.at(kTotal), a.at(kGradient), a.at(kC));
  fill_dead(a.at(kC), live, 0.0f);
  weigh_chunks(a, alpha, live);
  chunk_backward(a.row, {a.at(kU), a.at(kTop), a.at(kR), a.at(kC)}, a.at(kGradient));
  fill_dead(a.at(kGradient), live, 0.0f);
  copy(a.at(kC), live.keys, d);
}

void monotonic_rows_backward(const Work& work, const NormalizerGradients& g) {
  const bool chunks = work.normalizer.kind == NormalizerKind::kMocha;
  const ChunkArrays a = chunk_arrays(work);
  for (Index r = 0; r < work.rows.live.rows; ++r) {
    float* d = g.d_scores + r * work.rows.stride;
    const float* scores = g.scores + r * work.rows.stride;
    const float* state = row_or_null(work.rows.state, r);
    const LiveRow live = live_row(work.rows.live, r);
    float *p = a.at(kP), *q = a.at(kQ);
    chances(scores, live, p);
    fill_dead(d, live, 0.0f);
    const float* own = row_or_null(work.rows.chunk_scores, r);
    if (chunks) {
      copy(p, live.keys, q);
      monotonic_row(q, state, live.keys);
      chunks_backward(a, own != nullptr ? own : scores, q, live, d);
    }
    const float* d_next = row_or_null(g.d_next_state, r);
    for (Index j = 0; d_next != nullptr && j < live.keys; ++j) d[j] += d_next[j];
    fill_dead(d, live, 0.0f);
    monotonic_row_backward(d, p, state, live.keys, row_or_null(g.d_state, r), q);
    fill_dead(d, live, 0.0f);
    if (!chunks) continue;
    float* d_u = own != nullptr ? row_or_null(g.d_chunk_scores, r) : d;
    for (Index j = 0; d_u != nullptr && j < live.keys; ++j) d_u[j] += a.at(kGradient)[j];
  }
}

}  // namespace

void check_normalizer(const char* function, const Normalizer& n) {
  const auto number = [](float x) { return std::to_string(x); };
  if (!(n.temperature > 0.0f && n.temperature < kInfinity)) {
    refuse(function, "temperature", "a number above 0", number(n.temperature));
  }
  if (!(1.0f / n.temperature < kInfinity)) {
    refuse(function, "temperature", "one with a finite inverse", number(n.temperature));
  }
  if (n.kind == NormalizerKind::kEntmax && !(n.alpha > 1.0f && n.alpha <= 16.0f)) {
    refuse(function, "alpha", "more than 1, at most 16", number(n.alpha));
  }
  const bool windowed = n.kind == NormalizerKind::kMocha || n.kind == NormalizerKind::kLocal;
  if (windowed && n.window < 1) {
    refuse(function, "window", "1 or more", std::to_string(n.window));
  }
}

Index normalizer_scratch(const Normalizer& n, Index rows, Index keys) noexcept {
  const Index line = candidate_stride(keys);
  if (sparse(n.kind)) return 2 * group_rows(rows) * line;
  if (n.stateful()) return kChunkArrays * chunk_stride(keys, chunk_width(n, keys));
  return 3 * line + padded(rows);
}

void normalize_forward(const Normalizer& normalizer, const NormalizerRows& rows, float* scores,
                       float* log_sum_exp, float* const* next_state, float* scratch) noexcept {
  const Work work = {normalizer, rows, scratch};
  if (rows.live.keys == 0) {
    if (log_sum_exp != nullptr) std::fill(log_sum_exp, log_sum_exp + rows.live.rows, -kInfinity);
    return;
  }
  switch (normalizer.kind) {
    case NormalizerKind::kSoftmax:
    case NormalizerKind::kLocal:
      return softmax_rows(work, scores, log_sum_exp);
    case NormalizerKind::kSparsemax:
    case NormalizerKind::kEntmax15:
    case NormalizerKind::kEntmax:
      return sparse_rows_forward(work, scores);
    case NormalizerKind::kHardmax:
      return hardmax_rows(work, scores);
    case NormalizerKind::kSigmoid:
      return sigmoid_rows(work, scores);
    case NormalizerKind::kMonotonic:
    case NormalizerKind::kMocha:
      return monotonic_rows(work, scores, next_state);
  }
}

void normalize_backward(const Normalizer& normalizer, const NormalizerRows& rows,
                        const NormalizerGradients& gradients, float* scratch) noexcept {
  const Work work = {normalizer, rows, scratch};
  if (rows.live.keys == 0) {
    if (gradients.d_alpha != nullptr) {
      std::fill(gradients.d_alpha, gradients.d_alpha + rows.live.rows, 0.0f);
    }
    return;
  }
  switch (normalizer.kind) {
    case NormalizerKind::kSoftmax:
      return softmax_rows_backward(work, gradients);
    case NormalizerKind::kSparsemax:
    case NormalizerKind::kEntmax15:
    case NormalizerKind::kEntmax:
      return sparse_rows_backward(work, gradients);
    case NormalizerKind::kHardmax:
      if (normalizer.straight_through) return soft_rows_backward(work, gradients);
      for (Index r = 0; r < rows.live.rows; ++r) {
        float* row = gradients.d_scores + r * rows.stride;
        std::fill(row, row + padded(rows.live.keys), 0.0f);
      }
      return;
    case NormalizerKind::kLocal:
      return soft_rows_backward(work, gradients);
    case NormalizerKind::kSigmoid:
      return sigmoid_rows_backward(work, gradients);
    case NormalizerKind::kMonotonic:
    case NormalizerKind::kMocha:
      return monotonic_rows_backward(work, gradients);
  }
}

}  // namespace regard::attention
