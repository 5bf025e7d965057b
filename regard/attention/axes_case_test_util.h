// One call of any members of the axes: the library in float beside the reference in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
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
// The reference gives those up to kOutputs; the others follow from them.
enum Output { kContext, kWeights, kRaw, kNext, kLse, kOutputs, kStats = kOutputs, kSums, kAsked };
inline const char* output_name(int output) {
  constexpr const char* kNames[] = {"context",     "weights",       "raw scores", "next state",
                                    "log-sum-exp", "softmax stats", "key sums"};
  return kNames[output];
}

template <class T>
using Numbers = std::vector<std::vector<T>>;

// Where everything lies: by default three sentences, one of them empty, with dead rows around them,
// and seven query rows in no order.
struct Layout {
  std::vector<Index> start = {1, 6, 7}, length = {5, 0, 3};
  Index key_rows = 11;
  std::vector<Index> key_row = {0, 2, 0, 1, 2, 0, 2};
  std::vector<Index> position = {};  // empty: in order
  std::vector<Index> query_length = {2, 1, 3};
  bool square = false;  // query_length is given to the square causal mask too
  Index columns = 6;    // of weights and the like
  Index width = 3;      // of a head: query, key
  Index value_width = 2;
  Index gap = 0;  // floats between the rows of every matrix
  float scale = 1.7f;
  float dropout = -1.0f;  // negative: as the choice says
};

struct Extent {
  Index rows = 0, cols = 0;
  bool vector = false;
  std::size_t size() const { return static_cast<std::size_t>(rows * cols); }
};

class AxesCase {
 public:
  explicit AxesCase(const Choice& choice, std::uint64_t seed = 1, const Layout& layout = {})
      : choice_(choice), layout_(layout), positions_(static_cast<Index>(layout.key_row.size())) {
    for (int i = 0; i < kInputs; ++i) {
      std::vector<double> x(extent(i).size());
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
    constexpr std::int32_t kSegments[] = {0, 1, 1, 0, 0, 2, 1};
    for (std::size_t r = 0; r < layout.key_row.size(); ++r) {
      dropout_key_.push_back(mix(seed, 100 + r));
      query_segment_.push_back(kSegments[r % 7]);
    }
    for (std::uint64_t n = 0; n < static_cast<std::uint64_t>(rows() * layout.columns); ++n) {
      bits_.push_back(random_bits(mix(seed, 99), n) % 3 != 0);
    }
    for (Index k = 0; k < layout.key_rows; ++k) {
      const bool edge = k == 0 || k == layout.key_rows - 1;
      key_segment_.push_back(edge ? 9 : static_cast<std::int32_t>((k + 1) % 2));
    }
  }

  // The same case with these of its rows alone, in this order; each keeps its position.
  AxesCase pick(const std::vector<Index>& which) const {
    AxesCase c = *this;
    c.layout_.key_row.clear();
    c.layout_.position.clear();
    for (const Index r : which) {
      c.layout_.key_row.push_back(layout_.key_row[static_cast<std::size_t>(r)]);
      c.layout_.position.push_back(place(r).position);
    }
    for (const int input : {kQuery, kPast, kChunks, kCenter, kDense}) {
      if (input == kDense && choice_[kBias] != 1) continue;
      auto& x = c.inputs_[static_cast<std::size_t>(input)];
      x = pick_rows(x, which);
    }
    c.dropout_key_ = pick_rows(dropout_key_, which);
    c.query_segment_ = pick_rows(query_segment_, which);
    c.bits_ = pick_rows(bits_, which);
    return c;
  }
  // The parts of `x` that belong to these rows.
  template <class T>
  std::vector<T> pick_rows(const std::vector<T>& x, const std::vector<Index>& which) const {
    std::vector<T> out;
    const Index part = rows() == 0 ? 0 : static_cast<Index>(x.size()) / rows();
    for (const Index r : which) {
      out.insert(out.end(), x.begin() + r * part, x.begin() + (r + 1) * part);
    }
    return out;
  }

  const Numbers<double>& inputs() const { return inputs_; }
  Numbers<double>& inputs() { return inputs_; }
  Numbers<float> floats() const {
    Numbers<float> out;
    for (const auto& x : inputs_) out.emplace_back(x.begin(), x.end());
    return out;
  }
  const Choice& choice() const { return choice_; }
  const Layout& layout() const { return layout_; }
  Normalizer normalizer() const { return attention<float>(floats()).normalizer; }
  ScoreKind score() const { return attention<float>(floats()).score.kind; }
  bool stateful() const { return attention<float>(floats()).stateful(); }
  Index rows() const { return static_cast<Index>(layout_.key_row.size()); }
  Index heads() const { return choice_[kHeads] + 1; }
  Index sentence(Index r) const { return layout_.key_row[static_cast<std::size_t>(r)]; }
  Index start(Index b) const { return layout_.start[static_cast<std::size_t>(b)]; }
  Index length(Index b) const { return layout_.length[static_cast<std::size_t>(b)]; }
  // Keys of row r's sentence, and whether it may see the j-th.
  Index keys(Index r) const { return length(sentence(r)); }
  bool live(Index r, Index j) const {
    if (j >= keys(r)) return false;
    std::vector<KeyBits> words(static_cast<std::size_t>(key_words(keys(r))), ~KeyBits{0});
    if (!mask().trivial()) mask().live_keys(place(r), words.data());
    return (words[static_cast<std::size_t>(j / 64)] >> (j % 64) & 1) != 0;
  }
  Index live_count(Index r) const {
    Index n = 0;
    for (Index j = 0; j < keys(r); ++j) n += live(r, j);
    return n;
  }

  // Which outputs this choice has.
  bool has(int output) const {
    if (output == kNext) return stateful();
    if (output == kStats) return attention<float>(floats()).streams();
    return output != kLse || normalizer().kind == NormalizerKind::kSoftmax;
  }
  Extent output_extent(int output) const {
    const Index head_rows = rows() * heads();
    if (!has(output)) return {};
    if (output == kLse) return {1, head_rows, true};
    if (output == kStats) return {head_rows, 2};
    if (output == kSums) return {heads(), layout_.key_rows};
    return output == kContext ? Extent{rows(), heads() * layout_.value_width}
                              : Extent{head_rows, layout_.columns};
  }
  // Only what the choice reads has a size.
  Extent extent(int input) const;

  Numbers<double> reference(const Numbers<double>& in) const {
    Numbers<double> out = outputs<double>();
    const Attention a = attention<double>(in);
    const auto view = [&](int o) { return matrix(out[index(o)], output_extent(o), 0); };
    reference::Axes<double>(a, sentences(), queries<double>(in), numbers(in))
        .forward({view(kContext), view(kWeights), view(kRaw), view(kNext), vector(out[kLse])});
    return out;
  }

  // Throws what the library throws. `asked`: a bit for each output.
  Numbers<float> forward(const Numbers<float>& given, Threads* threads = nullptr,
                         unsigned asked = ~0u) const {
    const Numbers<float> in = spread(given);
    Numbers<float> out = spread_outputs(outputs<float>());
    const auto view = [&](int o) {
      return (asked >> o & 1) == 0 ? Matrix()
                                   : matrix(out[index(o)], output_extent(o), layout_.gap);
    };
    const Vector lse = (asked >> kLse & 1) == 0 ? Vector() : vector(out[kLse]);
    Arena arena, workspace;
    const PreparedKeys keys = prepare_keys(attention<float>(in), keys_of(in), sentences(), arena);
    attend_forward(
        keys, input(in, kValues), queries<float>(in),
        {view(kContext), view(kWeights), lse, view(kRaw), view(kNext), view(kSums), view(kStats)},
        {workspace, threads});
    for (int o = 0; o < kAsked; ++o) gather(output_extent(o), out[index(o)]);
    return out;
  }

  // Adds the gradients of all inputs to `d`, from those of the outputs that have any. `left`: the
  // outputs of forward, or nothing.
  void backward(const Numbers<float>& given, const Numbers<float>& given_d_out,
                const Numbers<float>& given_left, Numbers<float>& d,
                Threads* threads = nullptr) const {
    const Numbers<float> in = spread(given), out = spread_outputs(given_d_out);
    const Numbers<float> left = spread_outputs(given_left);
    d = spread(d);
    const auto d_out = [&](int o) { return matrix(out[index(o)], output_extent(o), layout_.gap); };
    const auto d_in = [&](int i) { return matrix(d[index(i)], extent(i), layout_.gap); };
    Arena arena, workspace;
    const PreparedKeys keys = prepare_keys(attention<float>(in), keys_of(in), sentences(), arena);
    KeyGradients sums = begin_key_gradients(keys, layout_.value_width * heads(), arena);
    BackwardInputs back;
    back.queries = queries<float>(in);
    if (!left.empty()) {
      const auto of_forward = [&](int o) {
        return matrix(left[index(o)], output_extent(o), layout_.gap);
      };
      back.weights = of_forward(kWeights);
      back.softmax_stats = of_forward(kStats);
      if (has(kStats)) back.context = of_forward(kContext);
    }
    back.d_context = d_out(kContext);
    back.d_weights = d_out(kWeights);
    back.d_log_sum_exp = constant(out[kLse]);
    back.d_next_state = d_out(kNext);
    ScoreGradients g;
    g.d_query = d_in(kQuery);
    g.d_v = vector(d[kV]);
    g.d_b = vector(d[kB]);
    g.d_g = vector(d[kG]);
    g.d_w = d_in(kW);
    g.d_filters = d_in(kFilters);
    g.d_u = d_in(kU);
    g.bias = {d_in(kDense), vector(d[kSlopes]), d_in(kTable)};
    g.d_state = d_in(kPast);
    g.d_chunk_scores = d_in(kChunks);
    g.d_center = vector(d[kCenter]);
    g.d_alpha = vector(d[kAlpha]);
    const Workspace work(workspace, threads);
    attend_backward(keys, input(in, kValues), back, sums, g, work);
    finish_key_gradients(
        keys, sums, {d_in(kKeys), d_in(kValues), choice_[kScore] == 5 ? d_in(kW) : Matrix()}, work);
    for (int i = 0; i < kInputs; ++i) gather(extent(i), d[index(i)]);
  }

  // The sum of the outputs' elements, each times its own number.
  double loss(const Numbers<double>& in, const Numbers<float>& d_out) const {
    const Numbers<double> out = reference(in);
    double sum = 0.0;
    for (int o = 0; o < kOutputs; ++o) {
      for (std::size_t n = 0; o != kRaw && n < out[index(o)].size(); ++n) {
        const double x = out[index(o)][n];
        if (x - x == 0.0) sum += x * static_cast<double>(d_out[index(o)][n]);
      }
    }
    return sum;
  }

  template <class T>
  Numbers<T> outputs() const {
    Numbers<T> out;
    for (int o = 0; o < kAsked; ++o) out.emplace_back(output_extent(o).size(), T(0));
    return out;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  // Null where there is nothing.
  template <class X>
  static auto matrix(X& x, const Extent& e, Index gap)
      -> MatrixView<std::remove_pointer_t<decltype(x.data())>> {
    const Index stride = e.cols + (e.vector ? 0 : gap);
    return {x.empty() ? nullptr : x.data(), e.rows, e.cols, stride};
  }
  template <class T>
  static VectorView<T> vector(std::vector<T>& x) {
    return {x.empty() ? nullptr : x.data(), static_cast<Index>(x.size())};
  }
  template <class T>
  static VectorView<const T> constant(const std::vector<T>& x) {
    return {x.empty() ? nullptr : x.data(), static_cast<Index>(x.size())};
  }
  ConstMatrix input(const Numbers<float>& in, int i) const {
    return matrix(in[index(i)], extent(i), layout_.gap);
  }

  // Matrices with gaps between their rows, full of what must be neither read nor written.
  static constexpr float kGuard = -7.25e5f;
  std::vector<float> spread(const std::vector<float>& x, const Extent& e) const {
    if (layout_.gap == 0 || e.vector || x.empty()) return x;
    std::vector<float> out;
    for (auto row = x.begin(); row != x.end(); row += e.cols) {
      out.insert(out.end(), row, row + e.cols);
      out.insert(out.end(), index(static_cast<int>(layout_.gap)), kGuard);
    }
    return out;
  }
  Numbers<float> spread(const Numbers<float>& in) const {
    Numbers<float> out;
    for (int i = 0; i < kInputs; ++i) out.push_back(spread(in[index(i)], extent(i)));
    return out;
  }
  Numbers<float> spread_outputs(const Numbers<float>& in) const {
    Numbers<float> out;
    for (int o = 0; o < kAsked && !in.empty(); ++o) {
      out.push_back(spread(in[index(o)], output_extent(o)));
    }
    return out;
  }
  void gather(const Extent& e, std::vector<float>& x) const {
    if (layout_.gap == 0 || e.vector || x.empty()) return;
    std::vector<float> out;
    for (auto row = x.begin(); row != x.end(); row += e.cols + layout_.gap) {
      out.insert(out.end(), row, row + e.cols);
      EXPECT_EQ(std::count(row + e.cols, row + e.cols + layout_.gap, kGuard), layout_.gap)
          << "written between rows";
    }
    x = out;
  }

  RaggedRows sentences() const {
    return {layout_.start.data(), layout_.length.data(), static_cast<Index>(layout_.start.size())};
  }
  ConstMatrix keys_of(const Numbers<float>& in) const {
    static constexpr float kNothing = 0.0f;
    return choice_[kScore] == 7 ? ConstMatrix(&kNothing, layout_.key_rows, 0) : input(in, kKeys);
  }
  RowPlace place(Index r) const {
    RowPlace p;
    p.row = r;
    p.sentence = sentence(r);
    p.keys = keys(r);
    p.first_key = start(p.sentence);
    p.queries = 0;
    for (Index other = 0; other < rows(); ++other) {
      if (sentence(other) != p.sentence) continue;
      p.position += other < r;
      ++p.queries;
    }
    if (!layout_.position.empty()) p.position = layout_.position[static_cast<std::size_t>(r)];
    if (names_lengths()) p.queries = layout_.query_length[static_cast<std::size_t>(p.sentence)];
    return p;
  }
  bool names_lengths() const {
    return choice_[kMask] == 1 || choice_[kMask] == 3 || (choice_[kMask] == 4 && layout_.square);
  }
  Index w_rows() const {
    return choice_[kScore] == 4 ? 4 : choice_[kScore] == 5 ? layout_.width * heads() : 0;
  }
  Index dense_rows() const {
    const Index kBy[] = {0, rows(),  positions_,
                         1, heads(), static_cast<Index>(layout_.start.size())};
    return choice_[kBias] < 6 ? kBy[choice_[kBias]] : 0;
  }

  template <class T>
  Attention attention(const Numbers<T>& in) const;
  template <class T>
  QueryRows queries(const Numbers<T>& in) const;
  reference::Numbers<double> numbers(const Numbers<double>& in) const;
  Mask mask() const;

  Choice choice_;
  Layout layout_;
  Index positions_;
  Numbers<double> inputs_;
  std::vector<std::uint64_t> dropout_key_;
  std::vector<std::uint8_t> bits_;
  std::vector<std::int32_t> query_segment_, key_segment_;
};

inline Extent AxesCase::extent(int input) const {
  const Index n = heads(), width = layout_.width * n, score = choice_[kScore],
              normalizer = choice_[kNormalizer], columns = layout_.columns;
  const bool has_v = score == 2 || score == 3 || score == 5 || score == 8 || score == 9;
  const bool goes_on = choice_[kState] == 1;
  // The others with a v have them beside a state that goes on.
  const bool with_b_and_g = score == 3 || (has_v && score != 2 && goes_on);
  const bool state = score == 8 || score == 9 || normalizer == 7 || normalizer == 8;
  const auto optional = [](bool there, Extent e) { return there ? e : Extent{}; };
  switch (input) {
    case kQuery:
      return {rows(), score == 4 || score == 5 ? 4 : score == 7 ? columns * n : width};
    case kKeys:
      return optional(score != 7, {layout_.key_rows, score == 5 ? 5 : width});
    case kValues:
      return {layout_.key_rows, layout_.value_width * n};
    case kV:
      return optional(has_v, {1, width, true});
    case kB:
      return optional(with_b_and_g, {1, width, true});
    case kG:
      return optional(with_b_and_g, {1, 1, true});
    case kW:
      return optional(w_rows() > 0, {w_rows(), score == 4 ? width : 9});
    case kFilters:
      return optional(score == 8, {2, 3});
    case kU:
      return optional(score == 8 || score == 9, {width, score == 8 ? 2 : 1});
    case kDense:
      return optional(dense_rows() > 0, {dense_rows(), columns});
    case kSlopes:
      return optional(choice_[kBias] == 6, {1, n, true});
    case kTable:
      return optional(choice_[kBias] == 7, {n, 5});
    case kPast:
      return optional(state && goes_on, {rows() * n, columns});
    case kChunks:
      return optional(normalizer == 8 && goes_on, {rows() * n, columns});
    case kCenter:
      return optional(normalizer == 9, {1, rows() * n, true});
    default:
      return optional(normalizer == 4, {1, 1, true});
  }
}

inline Mask AxesCase::mask() const {
  const Mask bits = Mask::bits(bits_.data(), layout_.columns);
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
      return Mask::segments(query_segment_.data(), key_segment_.data());
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
  a.score.scale = layout_.scale;
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
  if (layout_.dropout >= 0.0f) a.dropout = layout_.dropout;
  a.heads = heads();
  if constexpr (sizeof(T) == sizeof(float)) {
    a.score.v = constant(in[kV]);
    a.score.b = constant(in[kB]);
    a.score.g = constant(in[kG]);
    a.score.w = input(in, kW);
    a.score.filters = input(in, kFilters);
    a.score.u = input(in, kU);
    a.bias.dense = input(in, kDense);
    a.bias.slopes = constant(in[kSlopes]);
    a.bias.table = input(in, kTable);
  }
  return a;
}

template <class T>
QueryRows AxesCase::queries(const Numbers<T>& in) const {
  QueryRows q;
  q.key_row = layout_.key_row.data();
  if (!layout_.position.empty()) q.position = layout_.position.data();
  if (names_lengths()) q.query_length = layout_.query_length.data();
  const bool drops = choice_[kDropout] != 0 || layout_.dropout >= 0.0f;
  q.dropout_key = drops ? dropout_key_.data() : nullptr;
  if constexpr (sizeof(T) == sizeof(float)) {
    q.query = input(in, kQuery);
    q.state = input(in, kPast);
    q.chunk_scores = input(in, kChunks);
    q.center = constant(in[kCenter]);
  }
  return q;
}

inline reference::Numbers<double> AxesCase::numbers(const Numbers<double>& in) const {
  const auto view = [&](int i) { return matrix(in[index(i)], extent(i), 0); };
  reference::Numbers<double> n;
  n.query = view(kQuery);
  n.keys = view(kKeys);
  n.values = view(kValues);
  n.v = constant(in[kV]);
  n.b = constant(in[kB]);
  n.g = constant(in[kG]);
  n.w = view(kW);
  n.filters = view(kFilters);
  n.u = view(kU);
  const Attention a = attention<double>(in);
  n.bias = {a.bias.kind, view(kDense), a.bias.dense_rows, constant(in[kSlopes]), view(kTable)};
  n.state = view(kPast);
  n.chunk_scores = view(kChunks);
  n.center = constant(in[kCenter]);
  n.alpha = in[kAlpha].empty() ? 1.0 : in[kAlpha][0];
  return n;
}

}  // namespace regard::attention::test
