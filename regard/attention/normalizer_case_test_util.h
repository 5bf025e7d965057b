// A block of rows through one normaliser: by the library in float, by the reference in double. An
// op for kernels/op_case_test_util.h. What is masked or padding holds NaN for the library, and
// guards lie behind all memory that it may write.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "regard/attention/normalizer.h"
#include "regard/attention/normalizer_live.h"
#include "regard/attention/reference/normalizers.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard::attention::test {

using regard::test::Buffers;

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kGuard = -7.25e5f;

struct NamedNormalizer {
  const char* name;
  Normalizer normalizer;
};

inline Normalizer make(NormalizerKind kind, float temperature = 1.0f, Index window = 0) {
  Normalizer n;
  n.kind = kind;
  n.temperature = temperature;
  n.window = window;
  return n;
}
inline Normalizer make_entmax(float alpha) {
  Normalizer n;
  n.kind = NormalizerKind::kEntmax;
  n.alpha = alpha;
  return n;
}
inline Normalizer make_straight_through(float temperature) {
  Normalizer n = make(NormalizerKind::kHardmax, temperature);
  n.straight_through = true;
  return n;
}

inline const std::vector<NamedNormalizer>& all_normalizers() {
  static const std::vector<NamedNormalizer> all = {
      {"softmax", make(NormalizerKind::kSoftmax)},
      {"softmax at 0.7", make(NormalizerKind::kSoftmax, 0.7f)},
      {"sparsemax", make(NormalizerKind::kSparsemax)},
      {"entmax-1.5", make(NormalizerKind::kEntmax15)},
      {"entmax 1.05", make_entmax(1.05f)},
      {"entmax 1.3", make_entmax(1.3f)},
      {"entmax 1.5", make_entmax(1.5f)},
      {"entmax 1.8", make_entmax(1.8f)},
      {"entmax 2", make_entmax(2.0f)},
      {"entmax 2.2", make_entmax(2.2f)},
      {"hardmax", make(NormalizerKind::kHardmax)},
      {"hardmax straight through", make_straight_through(1.5f)},
      {"sigmoid", make(NormalizerKind::kSigmoid)},
      {"monotonic", make(NormalizerKind::kMonotonic)},
      {"mocha of 1", make(NormalizerKind::kMocha, 1.0f, 1)},
      {"mocha of 3", make(NormalizerKind::kMocha, 1.0f, 3)},
      {"mocha of 40", make(NormalizerKind::kMocha, 1.0f, 40)},
      {"local of 2", make(NormalizerKind::kLocal, 1.0f, 2)},
      {"local of 9 at 0.5", make(NormalizerKind::kLocal, 0.5f, 9)},
  };
  return all;
}

// [rows][keys], or nothing: all live.
using LiveRows = std::vector<std::vector<bool>>;

// All live, one, none, a run, a run from the start, and random ones, over and over.
inline LiveRows mixed_rows(Index rows, Index keys, std::uint64_t key) {
  LiveRows out;
  for (Index r = 0; r < rows; ++r) {
    std::vector<bool> row(static_cast<std::size_t>(keys), false);
    for (Index j = 0; j < keys; ++j) {
      const bool random = random_bits(key, static_cast<std::uint64_t>(r * keys + j)) % 3 != 0;
      const bool kinds[] = {true, j == keys / 2, false, j >= keys / 4 && j < keys - keys / 3,
                            j <= keys / 2};
      row[static_cast<std::size_t>(j)] = r % 8 < 5 ? kinds[r % 8] : random;
    }
    out.push_back(row);
  }
  return out;
}

enum NormalizerInput { kScoresIn, kStateIn, kChunksIn, kCenterIn, kAlphaIn, kNormalizerInputs };
enum NormalizerOutput { kWeightsOut, kNextOut, kNormalizerOutputs };

// Empty inputs are not handed over.
class NormalizerCase {
 public:
  NormalizerCase(const Normalizer& normalizer, Index rows, Index keys, LiveRows live = {})
      : normalizer_(normalizer), rows_(rows), keys_(keys), live_(std::move(live)) {
    words_per_row_ = key_words(keys) + 1;
    words_.assign(static_cast<std::size_t>(rows * words_per_row_), 0);
    for (Index r = 0; r < rows; ++r) {
      for (Index j = 0; j < keys; ++j) {
        if (is_live(r, j)) {
          words_[static_cast<std::size_t>(r * words_per_row_ + j / 64)] |= KeyBits{1} << (j % 64);
        }
      }
    }
  }
  Index rows() const { return rows_; }
  Index keys() const { return keys_; }
  const Normalizer& normalizer() const { return normalizer_; }
  bool is_live(Index r, Index j) const {
    return live_.empty() || live_[static_cast<std::size_t>(r)][static_cast<std::size_t>(j)];
  }

  // All that the kind reads: scores in [-size, size), states that sum to less than 1.
  Buffers<double> inputs(std::uint64_t key, double size = 2.0, bool chunks = true) const {
    using regard::test::random_values;
    Buffers<double> in(kNormalizerInputs);
    in[kScoresIn] = random_values(rows_ * keys_, key, -size, size);
    if (normalizer_.stateful()) {
      in[kStateIn] = random_values(rows_ * keys_, key + 1, 0.0, 1.0 / static_cast<double>(keys_));
    }
    if (normalizer_.kind == NormalizerKind::kMocha && chunks) {
      in[kChunksIn] = random_values(rows_ * keys_, key + 2, -size, size);
    }
    if (normalizer_.kind == NormalizerKind::kLocal) {
      in[kCenterIn] = random_values(rows_, key + 3, -1.0, static_cast<double>(keys_));
    }
    if (normalizer_.kind == NormalizerKind::kEntmax) in[kAlphaIn] = {normalizer_.alpha};
    return in;
  }

  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    const auto size = static_cast<std::size_t>(rows_ * keys_);
    Buffers<T> out(kNormalizerOutputs);
    out[kWeightsOut].assign(size, T(0));
    if (normalizer_.stateful()) out[kNextOut].assign(size, T(0));
    std::vector<T> sums(static_cast<std::size_t>(rows_));
    if constexpr (sizeof(T) == sizeof(float)) {
      library_forward(in, out, sums);
    } else {
      for (Index r = 0; r < rows_; ++r) {
        T* next = normalizer_.stateful() ? at(out[kNextOut], r) : nullptr;
        reference::normalizer_forward<T>(reference_row(in, r), at(in[kScoresIn], r),
                                         {at(out[kWeightsOut], r), next, nullptr});
      }
    }
    return out;
  }

  // Of softmax and local alone; else as they were.
  std::vector<float> log_sum_exp(const Buffers<float>& in) const {
    Buffers<float> out(kNormalizerOutputs);
    out[kWeightsOut].assign(static_cast<std::size_t>(rows_ * keys_), 0.0f);
    std::vector<float> sums(static_cast<std::size_t>(rows_), kGuard);
    library_forward(in, out, sums);
    return sums;
  }

  template <class T>
  void backward(const Buffers<T>& in, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      library_backward(in, d_out, d_in);
    } else {
      for (Index r = 0; r < rows_; ++r) {
        reference::NormalizerRowGradients<T> g;
        g.d_weights = at(d_out[kWeightsOut], r);
        if (normalizer_.stateful()) g.d_next_state = at(d_out[kNextOut], r);
        g.d_scores = at(d_in[kScoresIn], r);
        if (!in[kStateIn].empty()) g.d_state = at(d_in[kStateIn], r);
        if (!in[kChunksIn].empty()) g.d_chunk_scores = at(d_in[kChunksIn], r);
        if (!in[kCenterIn].empty()) g.d_center = &d_in[kCenterIn][static_cast<std::size_t>(r)];
        if (!in[kAlphaIn].empty()) g.d_alpha = d_in[kAlphaIn].data();
        reference::normalizer_backward<T>(reference_row(in, r), at(in[kScoresIn], r), g);
      }
    }
  }

 private:
  template <class T>
  T* at(std::vector<T>& x, Index r) const {
    return x.data() + r * keys_;
  }
  template <class T>
  const T* at(const std::vector<T>& x, Index r) const {
    return x.data() + r * keys_;
  }
  Index stride() const { return padded(keys_) + 16; }

  reference::NormalizerRow<double> reference_row(const Buffers<double>& in, Index r) const {
    reference::NormalizerRow<double> row;
    row.normalizer = normalizer_;
    for (Index j = 0; j < keys_; ++j) row.live.push_back(is_live(r, j));
    if (!in[kStateIn].empty()) row.state = at(in[kStateIn], r);
    if (!in[kChunksIn].empty()) row.chunk_scores = at(in[kChunksIn], r);
    if (!in[kCenterIn].empty()) row.center = in[kCenterIn][static_cast<std::size_t>(r)];
    if (!in[kAlphaIn].empty()) row.alpha = in[kAlphaIn][0];
    return row;
  }

  // Rows as the library takes them: NaN where masked and as padding, guards behind.
  std::vector<float> block(const std::vector<float>& x) const {
    std::vector<float> out(static_cast<std::size_t>(rows_ * stride()), kGuard);
    for (Index r = 0; r < rows_; ++r) {
      for (Index j = 0; j < padded(keys_); ++j) {
        const bool live = j < keys_ && is_live(r, j);
        out[static_cast<std::size_t>(r * stride() + j)] =
            live ? x[static_cast<std::size_t>(r * keys_ + j)] : kNan;
      }
    }
    return out;
  }
  // Back again; zeros are due where masked and as padding.
  std::vector<float> unblock(const std::vector<float>& x) const {
    std::vector<float> out;
    for (Index r = 0; r < rows_; ++r) {
      for (Index j = 0; j < stride(); ++j) {
        const float value = x[static_cast<std::size_t>(r * stride() + j)];
        if (j < keys_) out.push_back(value);
        if (j >= padded(keys_)) {
          EXPECT_EQ(value, kGuard) << "written behind row " << r;
        }
        const bool dead = j < padded(keys_) && (j >= keys_ || !is_live(r, j));
        if (dead) {
          EXPECT_EQ(value, 0.0f) << "row " << r << " key " << j << " is not live";
        }
      }
    }
    return out;
  }
  std::vector<float> scratch() const {
    const Index n = normalizer_scratch(normalizer_, rows_, keys_);
    return std::vector<float>(static_cast<std::size_t>(n + 16), kGuard);
  }
  static void expect_guards(const std::vector<float>& scratch) {
    for (std::size_t i = scratch.size() - 16; i < scratch.size(); ++i) {
      EXPECT_EQ(scratch[i], kGuard) << "written behind the scratch";
    }
  }
  Normalizer with_alpha(const Buffers<float>& in) const {
    Normalizer n = normalizer_;
    if (!in[kAlphaIn].empty()) n.alpha = in[kAlphaIn][0];
    return n;
  }

  template <class F>
  std::vector<F*> pointers(F* x, bool any) const {
    std::vector<F*> out;
    for (Index r = 0; any && r < rows_; ++r) out.push_back(x + r * keys_);
    return out;
  }
  NormalizerRows call(const Buffers<float>& in, const std::vector<const float*>& state,
                      const std::vector<const float*>& chunks) const {
    NormalizerRows rows;
    rows.live = {live_.empty() ? nullptr : words_.data(), words_per_row_, rows_, keys_};
    rows.stride = stride();
    rows.state = state.empty() ? nullptr : state.data();
    rows.chunk_scores = chunks.empty() ? nullptr : chunks.data();
    rows.center = in[kCenterIn].empty() ? nullptr : in[kCenterIn].data();
    return rows;
  }

  void library_forward(const Buffers<float>& in, Buffers<float>& out,
                       std::vector<float>& sums) const {
    const auto state = pointers(in[kStateIn].data(), !in[kStateIn].empty());
    const auto chunks = pointers(in[kChunksIn].data(), !in[kChunksIn].empty());
    const auto next = pointers(out[kNextOut].data(), !out[kNextOut].empty());
    std::vector<float> scores = block(in[kScoresIn]), memory = scratch();
    normalize_forward(with_alpha(in), call(in, state, chunks), scores.data(), sums.data(),
                      next.empty() ? nullptr : next.data(), memory.data());
    expect_guards(memory);
    out[kWeightsOut] = unblock(scores);
  }

  void library_backward(const Buffers<float>& in, const Buffers<float>& d_out,
                        Buffers<float>& d_in) const {
    const auto state = pointers(in[kStateIn].data(), !in[kStateIn].empty());
    const auto chunks = pointers(in[kChunksIn].data(), !in[kChunksIn].empty());
    const auto d_next = pointers(d_out[kNextOut].data(), !d_out[kNextOut].empty());
    const auto d_state = pointers(d_in[kStateIn].data(), !in[kStateIn].empty());
    const auto d_chunks = pointers(d_in[kChunksIn].data(), !in[kChunksIn].empty());
    const Normalizer n = with_alpha(in);
    std::vector<float> memory = scratch(), scores = block(in[kScoresIn]);
    std::vector<float> weights = scores, d = block(d_out[kWeightsOut]);
    normalize_forward(n, call(in, state, chunks), weights.data(), nullptr, nullptr, memory.data());
    std::vector<float> d_alpha(static_cast<std::size_t>(rows_), kNan);
    NormalizerGradients g;
    g.d_scores = d.data();
    g.weights = weights.data();
    g.scores = n.backward_needs_scores() ? scores.data() : nullptr;
    g.d_next_state = d_next.empty() ? nullptr : d_next.data();
    g.d_state = d_state.empty() ? nullptr : d_state.data();
    g.d_chunk_scores = d_chunks.empty() ? nullptr : d_chunks.data();
    g.d_center = in[kCenterIn].empty() ? nullptr : d_in[kCenterIn].data();
    g.d_alpha = in[kAlphaIn].empty() ? nullptr : d_alpha.data();
    normalize_backward(n, call(in, state, chunks), g, memory.data());
    expect_guards(memory);
    const std::vector<float> d_scores = unblock(d);
    for (std::size_t i = 0; i < d_scores.size(); ++i) d_in[kScoresIn][i] += d_scores[i];
    if (in[kAlphaIn].empty()) return;
    for (const float part : d_alpha) d_in[kAlphaIn][0] += part;
  }

  Normalizer normalizer_;
  Index rows_, keys_;
  LiveRows live_;
  Index words_per_row_ = 0;
  std::vector<KeyBits> words_;
};

}  // namespace regard::attention::test
