// One call of any members of the axes: the library in float beside the reference in double.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "regard/attention/attention.h"
#include "regard/attention/reference/axes.h"
#include "regard/base/random.h"

namespace regard::attention::test {

// One member of each axis, by number; 0 is the plain one.
enum Axis { kScore, kCap, kBias, kMask, kNormalizer, kDropout, kHeads, kState, kAxes };
struct Choice {
  int member[kAxes] = {};
  int operator[](Axis axis) const { return member[axis]; }
};
// The member's name, or null beyond the last.
inline const char* member_name(int axis, int member) {
  static const std::vector<std::vector<const char*>> kNames = {
      {"dot", "scaled dot", "additive", "additive with b and g", "general", "concat", "cosine",
       "location", "location-sensitive", "coverage", "custom"},
      {"no cap", "cap"},
      {"no bias", "dense by row", "dense by position", "dense by key", "dense by head",
       "dense by sentence", "alibi", "relative"},
      {"no mask", "query lengths", "causal top left", "causal bottom right", "causal square",
       "window", "segments", "bits", "window or bits", "causal and window"},
      {"softmax", "softmax 0.7", "sparsemax", "entmax 1.5", "entmax 1.3", "hardmax", "sigmoid",
       "monotonic", "MoChA", "local"},
      {"no dropout", "dropout", "all dropped"},
      {"one head", "two heads"},
      {"begins", "goes on"}};
  const auto& names = kNames[static_cast<std::size_t>(axis)];
  return static_cast<std::size_t>(member) < names.size() ? names[static_cast<std::size_t>(member)]
                                                         : nullptr;
}
inline int members_of(int axis) {
  int n = 0;
  while (member_name(axis, n) != nullptr) ++n;
  return n;
}
inline std::string name_of(const Choice& c) {
  std::string out;
  for (int axis = 0; axis < kAxes; ++axis) {
    if (c.member[axis] != 0)
      out += std::string(out.empty() ? "" : ", ") + member_name(axis, c.member[axis]);
  }
  return out.empty() ? "dot and softmax" : out;
}

// A score of the caller's own: e = q . k / 2 over the dims that both have, in pairs swapped.
struct Swapped {
  static Index partner(Index a, Index width) { return width - 1 - a; }
  void forward(const float* query, const KeyRows& keys, float* scores) const noexcept {
    for (Index j = 0; j < keys.count; ++j) {
      float sum = 0.0f;
      for (Index a = 0; a < keys.width; ++a) sum += query[partner(a, keys.width)] * keys.row(j)[a];
      scores[j] = 0.5f * sum;
    }
  }
  void backward(const float* query, const KeyRows& keys, const float* d_scores,
                const CustomScore::Gradients& g) const noexcept {
    for (Index j = 0; j < keys.count; ++j) {
      if (d_scores[j] == 0.0f) continue;
      for (Index a = 0; a < keys.width; ++a) {
        g.d_query[partner(a, keys.width)] += 0.5f * d_scores[j] * keys.row(j)[a];
        g.d_keys[j * g.d_stride + a] += 0.5f * d_scores[j] * query[partner(a, keys.width)];
      }
    }
  }
};
inline constexpr Swapped kSwapped;

enum Input {
  kQuery,
  kKeys,
  kValues,
  kV,
  kB,
  kG,
  kW,
  kFilters,
  kU,
  kDense,
  kSlopes,
  kTable,
  kPast,
  kChunks,
  kCenter,
  kAlpha,
  kInputs
};
inline const char* input_name(int input) {
  constexpr const char* kNames[] = {"query", "keys",         "values", "v",     "b",      "g",
                                    "w",     "filters",      "u",      "dense", "slopes", "table",
                                    "state", "chunk scores", "center", "alpha"};
  return kNames[input];
}
enum Output { kContext, kWeights, kRaw, kNext, kLse, kOutputs };

template <class T>
using Numbers = std::vector<std::vector<T>>;

// Three sentences, one of them empty, with dead rows around them; seven query rows in no order.
class AxesCase {
 public:
  static constexpr Index kRows = 7, kKeyRows = 11, kLongest = 5, kColumns = 6;

  explicit AxesCase(const Choice& choice, std::uint64_t seed = 1) : choice_(choice) {
    for (int i = 0; i < kInputs; ++i) {
      std::vector<double> x(static_cast<std::size_t>(size_of(i)));
      for (std::size_t n = 0; n < x.size(); ++n) {
        const std::uint64_t bits = random_bits(mix(seed, static_cast<std::uint64_t>(i)), n);
        x[n] = static_cast<double>(uniform_float(static_cast<std::uint32_t>(bits)) * 2.0f - 1.0f);
        if (i == kPast) x[n] = 0.4 * std::abs(x[n]);
        if (i == kCenter) x[n] = 1.7 + 1.3 * x[n];
        if (i == kAlpha) x[n] = 1.3;
        x[n] = static_cast<double>(static_cast<float>(x[n]));
      }
      inputs_.push_back(x);
    }
    for (std::size_t r = 0; r < kRows; ++r) dropout_key_.push_back(mix(seed, 100 + r));
    for (std::uint64_t n = 0; n < kRows * kColumns; ++n) {
      bits_.push_back(random_bits(mix(seed, 99), n) % 3 != 0);
    }
  }

  const Numbers<double>& inputs() const { return inputs_; }
  Numbers<float> floats() const {
    Numbers<float> out;
    for (const auto& x : inputs_) out.emplace_back(x.begin(), x.end());
    return out;
  }
  NormalizerKind normalizer() const { return attention<float>(floats()).normalizer.kind; }
  const Index* key_row() const { return key_row_; }
  Index start(Index sentence) const { return start_[sentence]; }
  Index length(Index sentence) const { return length_[sentence]; }
  Index heads() const { return choice_[kHeads] + 1; }
  bool stateful() const { return attention<float>(floats()).stateful(); }

  // Which outputs this choice has.
  bool has(int output) const {
    if (output == kNext) return stateful();
    return output != kLse || normalizer() == NormalizerKind::kSoftmax;
  }
  std::size_t output_size(int output) const {
    const Index rows = kRows * heads();
    if (!has(output)) return 0;
    return static_cast<std::size_t>(output == kContext ? kRows * heads() * 2
                                    : output == kLse   ? rows
                                                       : rows * kColumns);
  }

  Numbers<double> reference(const Numbers<double>& in) const {
    Numbers<double> out = outputs<double>();
    const Attention a = attention<double>(in);
    reference::Axes<double>(a, rows(), queries<double>(in), numbers(in))
        .forward({view(out[kContext], kRows),
                  view(out[kWeights], kRows * heads()),
                  view(out[kRaw], kRows * heads()),
                  view(out[kNext], kRows * heads()),
                  {out[kLse].data(), static_cast<Index>(out[kLse].size())}});
    return out;
  }

  // Throws what the library throws. `give`: which outputs to ask for.
  Numbers<float> forward(const Numbers<float>& in, Threads* threads = nullptr) const {
    Numbers<float> out = outputs<float>();
    Arena arena, workspace;
    const PreparedKeys keys = prepare_keys(attention<float>(in), key_matrix(in), rows(), arena);
    attend_forward(keys, value_matrix(in), queries<float>(in),
                   {view(out[kContext], kRows),
                    view(out[kWeights], kRows * heads()),
                    {out[kLse].data(), static_cast<Index>(out[kLse].size())},
                    view(out[kRaw], kRows * heads()),
                    view(out[kNext], kRows * heads())},
                   {workspace, threads});
    return out;
  }

  // Adds the gradients of all inputs to `d`, from those of the outputs (raw scores have none).
  // `weights`: those of forward, or empty.
  void backward(const Numbers<float>& in, const Numbers<float>& d_out,
                const std::vector<float>& weights, Numbers<float>& d,
                Threads* threads = nullptr) const {
    Arena arena, workspace;
    const PreparedKeys keys = prepare_keys(attention<float>(in), key_matrix(in), rows(), arena);
    KeyGradients sums = begin_key_gradients(keys, 2 * heads(), arena);
    const Index head_rows = kRows * heads();
    BackwardInputs given;
    given.queries = queries<float>(in);
    given.weights = view(weights, weights.empty() ? 0 : head_rows);
    given.d_context = view(d_out[kContext], kRows);
    given.d_weights = view(d_out[kWeights], head_rows);
    given.d_log_sum_exp = {d_out[kLse].data(), static_cast<Index>(d_out[kLse].size())};
    given.d_next_state = view(d_out[kNext], d_out[kNext].empty() ? 0 : head_rows);
    ScoreGradients g;
    g.d_query = view(d[kQuery], kRows);
    g.d_v = vector(d[kV]);
    g.d_b = vector(d[kB]);
    g.d_g = vector(d[kG]);
    g.d_w = view(d[kW], w_rows());
    g.d_filters = view(d[kFilters], 2);
    g.d_u = view(d[kU], 3 * heads());
    g.bias = {view(d[kDense], dense_rows()), vector(d[kSlopes]), view(d[kTable], heads())};
    g.d_state = view(d[kPast], head_rows);
    g.d_chunk_scores = view(d[kChunks], head_rows);
    g.d_center = vector(d[kCenter]);
    g.d_alpha = vector(d[kAlpha]);
    const Workspace work(workspace, threads);
    attend_backward(keys, value_matrix(in), given, sums, g, work);
    const bool concat = choice_[kScore] == 5;
    finish_key_gradients(keys, sums,
                         {choice_[kScore] == 7 ? Matrix() : view(d[kKeys], kKeyRows),
                          view(d[kValues], kKeyRows), concat ? view(d[kW], w_rows()) : Matrix()},
                         work);
  }

  // The sum of the outputs' elements, each times its own number.
  double loss(const Numbers<double>& in, const Numbers<float>& d_out) const {
    const Numbers<double> out = reference(in);
    double sum = 0.0;
    for (int o = 0; o < kOutputs; ++o) {
      for (std::size_t n = 0; o != kRaw && n < out[static_cast<std::size_t>(o)].size(); ++n) {
        const double x = out[static_cast<std::size_t>(o)][n];
        if (x - x == 0.0) sum += x * static_cast<double>(d_out[static_cast<std::size_t>(o)][n]);
      }
    }
    return sum;
  }

  template <class T>
  Numbers<T> outputs() const {
    Numbers<T> out;
    for (int o = 0; o < kOutputs; ++o) out.emplace_back(output_size(o), T(0));
    return out;
  }

 private:
  template <class T>
  static MatrixView<T> view(std::vector<T>& x, Index rows) {
    const Index cols = rows == 0 ? 0 : static_cast<Index>(x.size()) / rows;
    return {x.empty() ? nullptr : x.data(), x.empty() ? 0 : rows, cols};
  }
  template <class T>
  static MatrixView<const T> view(const std::vector<T>& x, Index rows) {
    const Index cols = rows == 0 ? 0 : static_cast<Index>(x.size()) / rows;
    return {x.empty() ? nullptr : x.data(), x.empty() ? 0 : rows, cols};
  }
  static Vector vector(std::vector<float>& x) {
    return {x.empty() ? nullptr : x.data(), static_cast<Index>(x.size())};
  }
  template <class T>
  static VectorView<const T> constant(const std::vector<T>& x) {
    return {x.empty() ? nullptr : x.data(), static_cast<Index>(x.size())};
  }
  RaggedRows rows() const { return {start_, length_, 3}; }
  ConstMatrix key_matrix(const Numbers<float>& in) const {
    return choice_[kScore] == 7 ? ConstMatrix(in[kKeys].data(), kKeyRows, 0)
                                : view(in[kKeys], kKeyRows);
  }
  static ConstMatrix value_matrix(const Numbers<float>& in) { return view(in[kValues], kKeyRows); }

  // Only what the choice reads has a size.
  Index size_of(int input) const;
  Index w_rows() const { return choice_[kScore] == 4 ? 4 : 3 * heads(); }
  Index dense_rows() const {
    constexpr Index kBy[] = {0, kRows, kRows, 1, 2, 3};
    return choice_[kBias] == 4 ? heads() : choice_[kBias] < 6 ? kBy[choice_[kBias]] : 0;
  }

  template <class T>
  Attention attention(const Numbers<T>& in) const;
  template <class T>
  QueryRows queries(const Numbers<T>& in) const;
  reference::Numbers<double> numbers(const Numbers<double>& in) const;
  Mask mask() const;

  Choice choice_;
  Numbers<double> inputs_;
  std::vector<std::uint64_t> dropout_key_;
  std::vector<std::uint8_t> bits_;
  Index start_[3] = {1, 6, 7}, length_[3] = {5, 0, 3};
  Index key_row_[kRows] = {0, 2, 0, 1, 2, 0, 2}, query_length_[3] = {2, 1, 3};
  std::int32_t query_segment_[kRows] = {0, 1, 1, 0, 0, 2, 1};
  std::int32_t key_segment_[kKeyRows] = {9, 0, 1, 0, 1, 0, 1, 0, 1, 0, 9};
};

inline Index AxesCase::size_of(int input) const {
  const Index n = heads(), width = 3 * n, score = choice_[kScore],
              normalizer = choice_[kNormalizer];
  const bool has_v = score == 2 || score == 3 || score == 5 || score == 8 || score == 9;
  const bool goes_on = choice_[kState] == 1;
  const bool state = score == 8 || score == 9 || normalizer == 7 || normalizer == 8;
  switch (input) {
    case kQuery:
      return kRows * (score == 4 || score == 5 ? 4 : score == 7 ? kColumns * n : width);
    case kKeys:
      return kKeyRows * (score == 5 ? 5 : width);
    case kValues:
      return kKeyRows * 2 * n;
    case kV:
      return has_v ? width : 0;
    case kB:
      return score == 3 ? width : 0;
    case kG:
      return score == 3 ? 1 : 0;
    case kW:
      return score == 4 ? 4 * width : score == 5 ? width * 9 : 0;
    case kFilters:
      return score == 8 ? 2 * 3 : 0;
    case kU:
      return score == 8 ? width * 2 : score == 9 ? width : 0;
    case kDense:
      return dense_rows() * kColumns;
    case kSlopes:
      return choice_[kBias] == 6 ? n : 0;
    case kTable:
      return choice_[kBias] == 7 ? n * 5 : 0;
    case kPast:
      return state && goes_on ? kRows * n * kColumns : 0;
    case kChunks:
      return normalizer == 8 && goes_on ? kRows * n * kColumns : 0;
    case kCenter:
      return normalizer == 9 ? kRows * n : 0;
    default:
      return normalizer == 4 ? 1 : 0;
  }
}

inline Mask AxesCase::mask() const {
  const Mask bits = Mask::bits(bits_.data(), kColumns);
  switch (choice_[kMask]) {
    case 1:
      return Mask::query_lengths();
    case 2:
      return Mask::causal(CausalAlignment::kTopLeft);
    case 3:
      return Mask::causal(CausalAlignment::kBottomRight);
    case 4:
      return Mask::causal(CausalAlignment::kSquare);
    case 5:
      return Mask::window(1, 1);
    case 6:
      return Mask::segments(query_segment_, key_segment_);
    case 7:
      return bits;
    case 8:
      return Mask::window(0, 1) | bits;
    case 9:
      return Mask::causal(CausalAlignment::kTopLeft) & Mask::window(1, -1);
    default:
      return {};
  }
}

// The numbers of an axis in T; the library's Attention borrows floats, the reference reads the
// kinds alone.
template <class T>
Attention AxesCase::attention(const Numbers<T>& in) const {
  using S = ScoreKind;
  using N = NormalizerKind;
  constexpr S kScores[] = {
      S::kDot,    S::kScaledDot, S::kAdditive,          S::kAdditive, S::kGeneral, S::kConcat,
      S::kCosine, S::kLocation,  S::kLocationSensitive, S::kCoverage, S::kCustom};
  constexpr N kNormalizers[] = {N::kSoftmax, N::kSoftmax, N::kSparsemax, N::kEntmax15, N::kEntmax,
                                N::kHardmax, N::kSigmoid, N::kMonotonic, N::kMocha,    N::kLocal};
  Attention a;
  a.score.kind = kScores[choice_[kScore]];
  a.score.scale = 1.7f;
  a.score.soft_cap = choice_[kCap] == 1 ? 1.5f : 0.0f;
  a.score.custom = custom_score(kSwapped);
  a.bias.kind = choice_[kBias] == 0   ? BiasKind::kNone
                : choice_[kBias] == 6 ? BiasKind::kAlibi
                : choice_[kBias] == 7 ? BiasKind::kRelative
                                      : BiasKind::kDense;
  constexpr DenseRows kDenseRows[] = {DenseRows::kRow, DenseRows::kRow,  DenseRows::kPosition,
                                      DenseRows::kOne, DenseRows::kHead, DenseRows::kSentence,
                                      DenseRows::kRow, DenseRows::kRow};
  a.bias.dense_rows = kDenseRows[choice_[kBias]];
  a.mask = mask();
  a.normalizer.kind = kNormalizers[choice_[kNormalizer]];
  a.normalizer.temperature = choice_[kNormalizer] == 1 ? 0.7f : 1.0f;
  a.normalizer.alpha = 1.3f;
  a.normalizer.window = choice_[kNormalizer] >= 8 ? 2 : 0;
  a.dropout = choice_[kDropout] == 0 ? 0.0f : choice_[kDropout] == 1 ? 0.3f : 1.0f;
  a.heads = heads();
  if constexpr (sizeof(T) == sizeof(float)) {
    a.score.v = constant(in[kV]);
    a.score.b = constant(in[kB]);
    a.score.g = constant(in[kG]);
    a.score.w = view(in[kW], w_rows());
    a.score.filters = view(in[kFilters], 2);
    a.score.u = view(in[kU], 3 * heads());
    a.bias.dense = view(in[kDense], dense_rows());
    a.bias.slopes = constant(in[kSlopes]);
    a.bias.table = view(in[kTable], heads());
  }
  return a;
}

template <class T>
QueryRows AxesCase::queries(const Numbers<T>& in) const {
  QueryRows q;
  q.key_row = key_row_;
  if (choice_[kMask] == 1 || choice_[kMask] == 3) q.query_length = query_length_;
  q.dropout_key = choice_[kDropout] == 0 ? nullptr : dropout_key_.data();
  if constexpr (sizeof(T) == sizeof(float)) {
    q.query = view(in[kQuery], kRows);
    q.state = view(in[kPast], kRows * heads());
    q.chunk_scores = view(in[kChunks], kRows * heads());
    q.center = constant(in[kCenter]);
  }
  return q;
}

inline reference::Numbers<double> AxesCase::numbers(const Numbers<double>& in) const {
  reference::Numbers<double> n;
  n.query = view(in[kQuery], kRows);
  n.keys = view(in[kKeys], kKeyRows);
  n.values = view(in[kValues], kKeyRows);
  n.v = constant(in[kV]);
  n.b = constant(in[kB]);
  n.g = constant(in[kG]);
  n.w = view(in[kW], w_rows());
  n.filters = view(in[kFilters], 2);
  n.u = view(in[kU], 3 * heads());
  const Attention a = attention<double>(in);
  n.bias = {a.bias.kind, view(in[kDense], dense_rows()), a.bias.dense_rows, constant(in[kSlopes]),
            view(in[kTable], heads())};
  n.state = view(in[kPast], kRows * heads());
  n.chunk_scores = view(in[kChunks], kRows * heads());
  n.center = constant(in[kCenter]);
  n.alpha = in[kAlpha].empty() ? 1.0 : in[kAlpha][0];
  return n;
}

}  // namespace regard::attention::test
