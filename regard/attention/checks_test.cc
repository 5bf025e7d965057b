// Every error that the attention library throws, provoked; the message names the argument, what was
// wanted and what was got.
#include "regard/attention/checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "regard/attention/attention.h"
#include "regard/base/error.h"

namespace regard::attention {
namespace {

template <class Error = ShapeError, class Fn>
void expect_error(Fn fn, const std::string& part) {
  try {
    fn();
    ADD_FAILURE() << "nothing was thrown; wanted: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// Three rows that look at two sentences of 4 and 3 keys of width 8, values of width 6. A test
// changes one thing.
class Checks : public testing::Test {
 protected:
  Score additive() const {
    Score s;
    s.kind = ScoreKind::kAdditive;
    s.v = {v.data(), 8};
    return s;
  }
  PreparedKeys prepare(const Score& score) {
    return prepare_keys(score, keys, {start, length, 2}, arena);
  }
  PreparedKeys prepare() { return prepare(additive()); }
  void forward() { attend_forward(prepare(), values, queries, outputs, workspace); }
  void backward() {
    const PreparedKeys prepared = prepare();
    KeyGradients sums = begin_key_gradients(prepared, 6, arena);
    attend_backward(prepared, values, inputs, sums, gradients, workspace);
  }

  Arena arena, workspace;
  std::vector<float> memory = std::vector<float>(1000, 0.5f);
  std::vector<float> v = std::vector<float>(8, 1.0f);
  Index start[2] = {0, 4};
  Index length[2] = {4, 3};
  Index key_row[3] = {0, 1, 1};
  float* p = memory.data();
  ConstMatrix keys{p, 7, 8};
  ConstMatrix values{p + 100, 7, 6};
  QueryRows queries{{p + 200, 3, 8}, key_row};
  AttentionOutputs outputs{{p + 300, 3, 6}, {p + 400, 3, 4}, {p + 450, 3}, {p + 460, 3, 4}};
  BackwardInputs inputs{queries, {p + 400, 3, 4}, {p + 300, 3, 6}, {p + 420, 3, 4}};
  ScoreGradients gradients{{p + 500, 3, 8}, {p + 600, 8}, {}};
};

TEST_F(Checks, TheUnchangedCallPasses) {
  forward();
  backward();
}

TEST_F(Checks, SentencesLieWithinTheKeys) {
  length[1] = 4;
  expect_error([&] { prepare(); },
               "sentence 1: wanted rows within the 7 of keys, got start 4 and length 4");
  length[1] = -1;
  expect_error([&] { prepare(); }, "length -1");
  length[1] = 3;
  start[0] = -1;
  expect_error([&] { prepare(); }, "sentence 0: wanted rows within the 7 of keys, got start -1");
}

TEST_F(Checks, DenseRowsHaveLengthsWithinTheirPadding) {
  const RaggedRows rows = dense_rows(2, 4, length, arena);
  EXPECT_EQ(rows.start[1], 4);
  EXPECT_EQ(rows.length[1], 3);
  length[1] = 5;
  expect_error([&] { dense_rows(2, 4, length, arena); }, "length[1]: wanted 0 to 4, got 5");
  length[1] = -2;
  expect_error([&] { dense_rows(2, 4, length, arena); }, "length[1]: wanted 0 to 4, got -2");
}

TEST_F(Checks, WidthsOfKeysAgreeWithTheScore) {
  Score s = additive();
  s.v.size = 9;
  expect_error([&] { prepare(s); }, "size of v: wanted 8, got 9");
  s = {};
  s.kind = ScoreKind::kGeneral;
  s.w = {p + 700, 5, 9};
  expect_error([&] { prepare(s); }, "columns of w: wanted 8, got 9");
  keys.stride = 7;
  expect_error([&] { prepare(); }, "keys: stride 7 is less than its 8 columns");
}

TEST_F(Checks, ForwardNamesEachExtent) {
  queries.query.cols = 7;
  expect_error([&] { forward(); }, "columns of query: wanted 8, got 7");
  queries.query.cols = 8;
  values.rows = 6;
  expect_error([&] { forward(); }, "rows of values: wanted 7, got 6");
  values.rows = 7;
  outputs.context.rows = 2;
  expect_error([&] { forward(); }, "rows of context: wanted 3, got 2");
  outputs.context = {p + 300, 3, 5};
  expect_error([&] { forward(); }, "columns of context: wanted 6, got 5");
  outputs.context = {p + 300, 3, 6};
  outputs.weights.rows = 4;
  expect_error([&] { forward(); }, "rows of weights: wanted 3, got 4");
  outputs.weights = {p + 400, 3, 3};
  expect_error([&] { forward(); }, "columns of weights: wanted at least 4, got 3");
  outputs.weights = {p + 400, 3, 4};
  outputs.raw_scores.rows = 1;
  expect_error([&] { forward(); }, "rows of raw_scores: wanted 3, got 1");
  outputs.raw_scores = {p + 460, 3, 2};
  expect_error([&] { forward(); }, "columns of raw_scores: wanted at least 4, got 2");
  outputs.raw_scores = {};
  outputs.log_sum_exp.size = 4;
  expect_error([&] { forward(); }, "size of log_sum_exp: wanted 3, got 4");
}

TEST_F(Checks, GeneralTakesQueriesOfItsOwnWidth) {
  Score s;
  s.kind = ScoreKind::kGeneral;
  s.w = {p + 700, 5, 8};
  const PreparedKeys prepared = prepare(s);
  expect_error([&] { attend_forward(prepared, values, queries, outputs, workspace); },
               "columns of query: wanted 5, got 8");
}

TEST_F(Checks, EachRowNamesASentence) {
  key_row[1] = 2;
  expect_error([&] { forward(); }, "key_row[1]: wanted a sentence below 2, got 2");
  key_row[1] = -1;
  expect_error([&] { forward(); }, "key_row[1]: wanted a sentence below 2, got -1");
  queries.key_row = nullptr;
  expect_error([&] { forward(); }, "key_row: wanted the sentence of each row, one of 2, got none");
}

TEST_F(Checks, WithOneSentenceTheRowsNeedNotNameIt) {
  const PreparedKeys prepared = prepare_keys(additive(), keys, {start, length, 1}, arena);
  queries.key_row = nullptr;
  attend_forward(prepared, values, queries, outputs, workspace);
}

TEST_F(Checks, BackwardNamesEachExtent) {
  inputs.queries.query.cols = 9;
  expect_error([&] { backward(); }, "columns of query: wanted 8, got 9");
  inputs.queries = queries;
  inputs.weights.rows = 2;
  expect_error([&] { backward(); }, "rows of weights: wanted 3, got 2");
  inputs.weights = {p + 400, 3, 3};
  expect_error([&] { backward(); }, "columns of weights: wanted at least 4, got 3");
  inputs.weights = {p + 400, 3, 4};
  inputs.d_context.rows = 4;
  expect_error([&] { backward(); }, "rows of d_context: wanted 3, got 4");
  inputs.d_context = {p + 300, 3, 7};
  expect_error([&] { backward(); }, "columns of d_context: wanted 6, got 7");
  inputs.d_context = {p + 300, 3, 6};
  inputs.d_weights.rows = 1;
  expect_error([&] { backward(); }, "rows of d_weights: wanted 3, got 1");
  inputs.d_weights = {p + 420, 3, 2};
  expect_error([&] { backward(); }, "columns of d_weights: wanted at least 4, got 2");
  inputs.d_weights = {};
  gradients.d_query.rows = 2;
  expect_error([&] { backward(); }, "rows of d_query: wanted 3, got 2");
  gradients.d_query = {p + 500, 3, 4};
  expect_error([&] { backward(); }, "columns of d_query: wanted 8, got 4");
  gradients.d_query = {p + 500, 3, 8};
  gradients.d_v.size = 7;
  expect_error([&] { backward(); }, "size of d_v: wanted 8, got 7");
  gradients.d_v = {};
  gradients.d_w = {p + 700, 1, 1};
  expect_error([&] { backward(); }, "rows of d_w: wanted 0, got 1");
}

TEST_F(Checks, KeySumsBelongToTheKeys) {
  const PreparedKeys prepared = prepare();
  length[1] = 2;
  const PreparedKeys other = prepare();
  KeyGradients sums = begin_key_gradients(other, 6, arena);
  expect_error([&] { attend_backward(prepared, values, inputs, sums, gradients, workspace); },
               "rows of the key sums: wanted 7, got 6");
  length[1] = 3;
  sums = begin_key_gradients(prepared, 5, arena);
  expect_error([&] { attend_backward(prepared, values, inputs, sums, gradients, workspace); },
               "width of the value sums: wanted 6, got 5");
  const PreparedKeys dot = prepare({});
  sums = begin_key_gradients(dot, 6, arena);
  expect_error([&] { attend_backward(prepared, values, inputs, sums, gradients, workspace); },
               "width of the key sums: wanted 64, got 16");
}

TEST_F(Checks, FinishNamesEachExtent) {
  const PreparedKeys prepared = prepare();
  const KeyGradients sums = begin_key_gradients(prepared, 6, arena);
  const auto finish = [&](Matrix d_keys, Matrix d_values) {
    finish_key_gradients(prepared, sums, {d_keys, d_values, {}}, workspace);
  };
  finish({}, {});
  expect_error([&] { finish({p, 6, 8}, {}); }, "rows of d_keys: wanted 7, got 6");
  expect_error([&] { finish({p, 7, 9}, {}); }, "columns of d_keys: wanted 8, got 9");
  expect_error([&] { finish({}, {p, 8, 6}); }, "rows of d_values: wanted 7, got 8");
  expect_error([&] { finish({}, {p, 7, 8}); }, "columns of d_values: wanted 6, got 8");
}

TEST_F(Checks, OutputsShareNoMemory) {
  outputs.context.data = p + 200;
  expect_error([&] { forward(); }, "output context shares memory with input query");
  outputs.context.data = p + 398;
  expect_error([&] { forward(); }, "output weights shares memory with output context");
  gradients.d_query.data = p + 210;
  expect_error([&] { backward(); }, "output d_query shares memory with input query");
}

TEST_F(Checks, ColumnsOfOneMatrixAreApart) {
  const Matrix whole(p + 800, 3, 16);
  queries.query = whole.col_slice(0, 8);
  outputs.context = whole.col_slice(8, 6);
  forward();
  outputs.context = whole.col_slice(7, 6);
  expect_error([&] { forward(); }, "output context shares memory with input query");
  queries.query = whole.col_slice(8, 8);
  outputs.context = whole.col_slice(2, 6);
  forward();
  outputs.context = whole.col_slice(3, 6);
  expect_error([&] { forward(); }, "output context shares memory with input query");
}

TEST_F(Checks, ProjectionsNameEachExtent) {
  const ConstMatrix query(p, 3, 5), w(p + 50, 5, 8);
  general_project_forward(query, w, {p + 200, 3, 8}, workspace);
  expect_error(
      [&] {
        general_project_forward(query, {p, 4, 8}, {p, 3, 8}, workspace);
      },
      "rows of w: wanted 5, got 4");
  expect_error(
      [&] {
        general_project_forward(query, w, {p + 200, 2, 8}, workspace);
      },
      "rows of projected: wanted 3, got 2");
  expect_error(
      [&] {
        general_project_forward(query, w, {p + 200, 3, 7}, workspace);
      },
      "columns of projected: wanted 8, got 7");
  expect_error(
      [&] {
        general_project_forward(query, w, {p, 3, 8}, workspace);
      },
      "output projected shares memory with input query");
  const ConstMatrix d_projected(p + 300, 3, 8);
  const auto project_back = [&](ConstMatrix d, Matrix d_query, Matrix d_w) {
    general_project_backward(query, w, d, {d_query, d_w}, workspace);
  };
  project_back(d_projected, {}, {});
  expect_error(
      [&] {
        project_back({p + 300, 2, 8}, {}, {});
      },
      "rows of d_projected: wanted 3, got 2");
  expect_error(
      [&] {
        project_back({p + 300, 3, 9}, {}, {});
      },
      "columns of d_projected: wanted 8, got 9");
  expect_error(
      [&] {
        project_back(d_projected, {p + 400, 3, 4}, {});
      },
      "columns of d_query: wanted 5, got 4");
  expect_error(
      [&] {
        project_back(d_projected, {p + 400, 4, 5}, {});
      },
      "rows of d_query: wanted 3, got 4");
  expect_error(
      [&] {
        project_back(d_projected, {}, {p + 400, 4, 8});
      },
      "rows of d_w: wanted 5, got 4");
  expect_error(
      [&] {
        project_back(d_projected, {}, {p + 400, 5, 7});
      },
      "columns of d_w: wanted 8, got 7");
  expect_error(
      [&] {
        general_project_backward({p, 3, 4}, w, d_projected, {}, workspace);
      },
      "rows of w: wanted 4, got 5");
  expect_error(
      [&] {
        project_back(d_projected, {p + 310, 3, 5}, {});
      },
      "output d_query shares memory with input d_projected");
}

// Any axes: three rows, two sentences of 4 and 3 keys, two heads of width 4, values of width 3. The
// gradient of anything may be asked for.
class AxisChecks : public testing::Test {
 protected:
  AxisChecks() { set(ScoreKind::kLocationSensitive, NormalizerKind::kSoftmax); }

  // A call that is right.
  void set(ScoreKind score, NormalizerKind normalizer) {
    Score& s = attention.score;
    attention = {};
    attention.heads = 2;
    s.kind = score;
    if (s.has_v()) s.v = {at(8), 8};
    if (score == ScoreKind::kAdditive) {
      s.b = {at(8), 8};
      s.g = {at(1), 1};
    }
    if (score == ScoreKind::kConcat) s.w = {at(80), 8, 13};
    if (score == ScoreKind::kGeneral) s.w = {at(40), 5, 8};
    if (score == ScoreKind::kLocationSensitive) {
      s.filters = {at(15), 3, 5};
      s.u = {at(24), 8, 3};
    }
    if (score == ScoreKind::kCoverage) s.u = {at(8), 8, 1};
    s.custom = custom_score(kSilent);
    attention.normalizer.kind = normalizer;
    attention.normalizer.window = 2;
    const bool own_width = score == ScoreKind::kConcat || score == ScoreKind::kGeneral;
    const Index width = own_width ? 5 : 8;
    queries = {};
    queries.query = {at(24), 3, width};
    queries.key_row = key_row;
    if (attention.stateful()) queries.state = {at(24), 6, 4};
    if (normalizer == NormalizerKind::kMocha) queries.chunk_scores = {at(24), 6, 4};
    if (normalizer == NormalizerKind::kLocal) queries.center = {at(6), 6};
    outputs = {};
    outputs.context = {at(18), 3, 6};
    inputs = {};
    inputs.d_context = {at(18), 3, 6};
    gradients = {};
  }
  float* at(Index n) {
    used += n + 32;  // nothing meets by chance
    EXPECT_LE(used, static_cast<Index>(memory.size()));
    return memory.data() + used - n;
  }
  PreparedKeys prepare() { return prepare_keys(attention, keys, {start, length, 2}, arena); }
  void forward() { attend_forward(prepare(), values, queries, outputs, workspace); }
  void backward() {
    const PreparedKeys prepared = prepare();
    KeyGradients sums = begin_key_gradients(prepared, values.cols, arena);
    inputs.queries = queries;
    attend_backward(prepared, values, inputs, sums, gradients, workspace);
  }
  // `m` has to have `rows` rows and `cols` columns, or more of them.
  template <class M, class Call>
  void expect_extents(M& m, const std::string& name, Index rows, Index cols, Call call,
                      bool at_least = false) {
    float* memory_of = at((rows + 1) * (cols + 1));
    const std::string wanted = ": wanted ";
    m = {memory_of, rows + 1, cols};
    expect_error(call, "rows of " + name + wanted + std::to_string(rows));
    m = {memory_of, rows, cols - 1};
    expect_error(
        call, "columns of " + name + wanted + (at_least ? "at least " : "") + std::to_string(cols));
    m = {memory_of, rows, cols};
    call();
    m = {};
  }
  template <class V, class Call>
  void expect_size(V& v, const std::string& name, Index size, Call call) {
    float* memory_of = at(size + 1);
    v = {memory_of, size + 1};
    expect_error(call, "size of " + name + ": wanted " + std::to_string(size) + ", got " +
                           std::to_string(size + 1));
    v = {memory_of, size};
    call();
    v = {};
  }

  struct Silent {
    void forward(const float*, const KeyRows& rows, float* scores) const noexcept {
      std::fill_n(scores, rows.count, 0.0f);
    }
    void backward(const float*, const KeyRows&, const float*,
                  const CustomScore::Gradients&) const noexcept {}
  };
  static constexpr Silent kSilent{};

  Arena arena, workspace;
  std::vector<float> memory = std::vector<float>(100000, 0.5f);
  Index used = 0;
  Index start[2] = {0, 4};
  Index length[2] = {4, 3};
  Index key_row[3] = {0, 1, 1};
  Attention attention;
  ConstMatrix keys{at(56), 7, 8};
  ConstMatrix values{at(42), 7, 6};
  QueryRows queries;
  AttentionOutputs outputs;
  BackwardInputs inputs;
  ScoreGradients gradients;
};

TEST_F(AxisChecks, TheUnchangedCallsPass) {
  for (int score = 0; score <= static_cast<int>(ScoreKind::kCustom); ++score) {
    for (int normalizer = 0; normalizer <= static_cast<int>(NormalizerKind::kLocal); ++normalizer) {
      const bool mocha = normalizer == static_cast<int>(NormalizerKind::kMocha);
      const bool monotonic = mocha || normalizer == static_cast<int>(NormalizerKind::kMonotonic);
      if (score == static_cast<int>(ScoreKind::kLocationSensitive) && mocha) continue;
      if (score == static_cast<int>(ScoreKind::kCoverage) && monotonic) continue;
      set(static_cast<ScoreKind>(score), static_cast<NormalizerKind>(normalizer));
      forward();
      backward();
    }
  }
}

TEST_F(AxisChecks, ParametersHaveTheWidthsOfTheKeys) {
  const auto call = [&] { prepare(); };
  Score& s = attention.score;
  set(ScoreKind::kAdditive, NormalizerKind::kSoftmax);
  s.v.size = 7;
  expect_error(call, "size of v: wanted 8, got 7");
  s.v.size = 8;
  s.b.size = 4;
  expect_error(call, "size of b: wanted 8, got 4");
  s.b.size = 8;
  s.g.size = 2;
  expect_error(call, "size of g: wanted 1, got 2");
  set(ScoreKind::kConcat, NormalizerKind::kSoftmax);
  s.w.cols = 7;
  expect_error(call, "columns of w: wanted at least 8, got 7");
  set(ScoreKind::kConcat, NormalizerKind::kSoftmax);
  s.w.stride = 12;
  expect_error(call, "w: stride 12 is less than its 13 columns");
  set(ScoreKind::kLocationSensitive, NormalizerKind::kSoftmax);
  s.u.rows = 4;
  expect_error(call, "rows of u: wanted 8, got 4");
  s.u.rows = 8;
  s.filters.rows = 2;
  expect_error(call, "rows of filters: wanted 3, got 2");
  s.filters.rows = 3;
  s.filters.cols = 4;
  expect_error(call, "columns of filters: wanted an odd number, got 4");
  s.filters.cols = 7;
  expect_error(call, "filters: stride 5 is less than its 7 columns");
  s.u.stride = 2;
  expect_error(call, "u: stride 2 is less than its 3 columns");
  set(ScoreKind::kCoverage, NormalizerKind::kSoftmax);
  s.u.cols = 2;
  s.u.stride = 2;
  expect_error(call, "columns of u: wanted 1, got 2");
  attention.heads = 3;
  expect_error(call, "keys: wanted a width that is a multiple of 3 heads, got 8");
}

TEST_F(AxisChecks, BiasesHaveARowForWhatTheyAreBy) {
  Bias& bias = attention.bias;
  bias.kind = BiasKind::kDense;
  const auto expect = [&](DenseRows by, Index rows, const std::string& part) {
    bias.dense_rows = by;
    bias.dense = {at(40), rows, 4};
    forward();
    bias.dense.rows = rows - 1;
    expect_error([&] { forward(); }, part);
  };
  expect(DenseRows::kOne, 1, "dense bias rows: wanted at least 1, got 0");
  expect(DenseRows::kPosition, 2, "one a position: wanted at least 2, got 1");
  expect(DenseRows::kRow, 3, "one a row of the call: wanted at least 3, got 2");
  expect(DenseRows::kSentence, 2, "one a sentence: wanted at least 2, got 1");
  expect(DenseRows::kHead, 2, "one a head: wanted 2, got 1");
  bias.dense = {at(40), 2, 3};
  expect_error([&] { forward(); }, "dense bias columns: wanted at least 4, got 3");
  bias.dense_rows = DenseRows::kPosition;
  bias.dense = {at(40), 9, 4};
  const Index before[3] = {0, -1, 1};
  queries.position = before;
  expect_error([&] { forward(); }, "dense bias rows, one a position: wanted a row from 0, got -1");
  queries.position = nullptr;
  bias = {};
  bias.kind = BiasKind::kAlibi;
  bias.slopes = {at(3), 3};
  expect_error([&] { prepare(); }, "ALiBi slopes, one a head: wanted 2, got 3");
  bias = {};
  bias.kind = BiasKind::kRelative;
  bias.table = {at(15), 3, 5};
  expect_error([&] { prepare(); }, "one a head or 1: wanted 2, got 3");
  bias.table = {at(8), 2, 4};
  expect_error([&] { prepare(); }, "an odd number: wanted 5, got 4");
}

TEST_F(AxisChecks, ForwardNamesWhatItReadsByRow) {
  const auto call = [&] { forward(); };
  expect_extents(queries.state, "state", 6, 4, call, true);
  set(ScoreKind::kDot, NormalizerKind::kMocha);
  expect_extents(queries.chunk_scores, "chunk_scores", 6, 4, call, true);
  set(ScoreKind::kDot, NormalizerKind::kLocal);
  queries.center.size = 3;
  expect_error(call, "size of center: wanted 6, got 3");
  set(ScoreKind::kCustom, NormalizerKind::kSoftmax);
  queries.query.cols = 7;
  expect_error(call, "columns of query: wanted a multiple of 2 heads, got 7");
  set(ScoreKind::kConcat, NormalizerKind::kSoftmax);
  queries.query.cols = 4;
  expect_error(call, "columns of query: wanted 5, got 4");
  set(ScoreKind::kLocation, NormalizerKind::kSoftmax);
  queries.query.cols = 6;
  expect_error(call, "made for Smax = 3 keys a sentence, got one of 4");
  queries.query.cols = 8;
  queries.query.stride = 7;
  expect_error(call, "query: stride 7 is less than its 8 columns");
  queries.query.stride = 8;
  values.cols = 5;
  expect_error(call, "columns of values: wanted a multiple of 2 heads, got 5");
}

TEST_F(AxisChecks, ForwardNamesEachOutputOfTheAxes) {
  const auto call = [&] { forward(); };
  expect_extents(outputs.weights, "weights", 6, 4, call, true);
  expect_extents(outputs.raw_scores, "raw_scores", 6, 4, call, true);
  expect_extents(outputs.next_state, "next_state", 6, 4, call, true);
  expect_extents(outputs.key_sums, "key_sums", 2, 7, call);
  expect_size(outputs.log_sum_exp, "log_sum_exp", 6, call);
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  expect_extents(outputs.softmax_stats, "softmax_stats", 6, 2, call);
  for (Matrix AttentionOutputs::*output :
       {&AttentionOutputs::context, &AttentionOutputs::weights, &AttentionOutputs::raw_scores,
        &AttentionOutputs::key_sums}) {
    const bool context = output == &AttentionOutputs::context;
    const bool sums = output == &AttentionOutputs::key_sums;
    outputs = {};
    outputs.*output = {at(60), context ? 3 : sums ? 2 : 6, context ? 6 : sums ? 7 : 4, 3};
    expect_error(call, "stride 3 is less than its");
  }
}

TEST_F(AxisChecks, BackwardNamesWhatComesBack) {
  const auto call = [&] { backward(); };
  expect_extents(inputs.weights, "weights", 6, 4, call, true);
  expect_extents(inputs.d_weights, "d_weights", 6, 4, call, true);
  expect_extents(inputs.d_next_state, "d_next_state", 6, 4, call, true);
  expect_size(inputs.d_log_sum_exp, "d_log_sum_exp", 6, call);
  expect_extents(queries.state, "state", 6, 4, call, true);
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  inputs.context = {at(18), 3, 6};
  expect_extents(inputs.softmax_stats, "softmax_stats", 6, 2, call);
  inputs.softmax_stats = {at(12), 6, 2};
  expect_extents(inputs.context, "context", 3, 6, call);
  set(ScoreKind::kDot, NormalizerKind::kMocha);
  expect_extents(queries.chunk_scores, "chunk_scores", 6, 4, call, true);
  set(ScoreKind::kDot, NormalizerKind::kLocal);
  queries.center.size = 7;
  expect_error(call, "size of center: wanted 6, got 7");
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  inputs.d_context.cols = 5;
  expect_error(call, "columns of d_context: wanted 6, got 5");
  inputs.d_context.cols = 6;
  inputs.d_context.stride = 5;
  expect_error(call, "d_context: stride 5 is less than its 6 columns");
}

TEST_F(AxisChecks, BackwardNamesEachGradient) {
  const auto call = [&] { backward(); };
  expect_extents(gradients.d_query, "d_query", 3, 8, call);
  expect_size(gradients.d_v, "d_v", 8, call);
  expect_extents(gradients.d_filters, "d_filters", 3, 5, call);
  expect_extents(gradients.d_u, "d_u", 8, 3, call);
  expect_extents(gradients.d_state, "d_state", 6, 4, call, true);
  set(ScoreKind::kAdditive, NormalizerKind::kEntmax);
  expect_size(gradients.d_b, "d_b", 8, call);
  expect_size(gradients.d_g, "d_g", 1, call);
  expect_size(gradients.d_alpha, "d_alpha", 1, call);
  set(ScoreKind::kConcat, NormalizerKind::kMocha);
  expect_extents(gradients.d_w, "d_w", 8, 13, call);
  expect_extents(gradients.d_chunk_scores, "d_chunk_scores", 6, 4, call, true);
  set(ScoreKind::kGeneral, NormalizerKind::kLocal);
  expect_extents(gradients.d_w, "d_w", 5, 8, call);
  expect_size(gradients.d_center, "d_center", 6, call);
  // Nothing has a gradient that it is not there for.
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  gradients.d_v = {at(8), 8};
  expect_error(call, "size of d_v: wanted 0, got 8");
}

TEST_F(AxisChecks, BackwardNamesGradientsOfBiases) {
  const auto call = [&] { backward(); };
  attention.bias.kind = BiasKind::kDense;
  attention.bias.dense = {at(12), 3, 4};
  gradients.bias.d_dense = {at(16), 4, 4};
  expect_error(call, "d_dense rows: wanted 3, got 4");
  gradients.bias.d_dense = {at(16), 3, 5};
  expect_error(call, "d_dense columns: wanted 4, got 5");
  gradients.bias = {};
  attention.bias.kind = BiasKind::kRelative;
  attention.bias.table = {at(10), 2, 5};
  gradients.bias.d_table = {at(15), 3, 5};
  expect_error(call, "d_table rows: wanted 2, got 3");
  gradients.bias.d_table = {at(15), 2, 7};
  expect_error(call, "d_table columns: wanted 5, got 7");
  gradients.bias = {};
  attention.bias.kind = BiasKind::kAlibi;
  attention.bias.slopes = {at(2), 2};
  gradients.bias.d_slopes = {at(3), 3};
  expect_error(call, "d_slopes: wanted 2, got 3");
}

TEST_F(AxisChecks, FinishNamesTheGradientOfConcatsWeights) {
  set(ScoreKind::kConcat, NormalizerKind::kSoftmax);
  const PreparedKeys prepared = prepare();
  const KeyGradients sums = begin_key_gradients(prepared, 6, arena);
  MemoryGradients to;
  expect_extents(to.d_w, "d_w", 8, 13,
                 [&] { finish_key_gradients(prepared, sums, to, workspace); });
  to.d_keys = {at(56), 7, 8, 7};
  expect_error([&] { finish_key_gradients(prepared, sums, to, workspace); },
               "d_keys: stride 7 is less than its 8 columns");
}

TEST_F(AxisChecks, NothingThatIsWrittenIsSharedWithWhatIsRead) {
  const auto expect_shared = [&](const float* read, const std::string& name) {
    outputs.context.data = const_cast<float*>(read);
    expect_error([&] { forward(); }, "output context shares memory with input " + name);
    gradients.d_query = {const_cast<float*>(read), 3, queries.query.cols};
    expect_error([&] { backward(); }, "output d_query shares memory with input " + name);
    gradients = {};
  };
  expect_shared(keys.data, "keys");
  expect_shared(values.data, "values");
  expect_shared(queries.query.data, "query");
  expect_shared(queries.state.data, "state");
  expect_shared(attention.score.v.data, "v");
  expect_shared(attention.score.filters.data, "filters");
  expect_shared(attention.score.u.data, "u");
  set(ScoreKind::kConcat, NormalizerKind::kMocha);
  expect_shared(queries.chunk_scores.data, "chunk_scores");
  expect_shared(attention.score.w.data, "w");
  set(ScoreKind::kAdditive, NormalizerKind::kLocal);
  expect_shared(queries.center.data, "center");
  expect_shared(attention.score.b.data, "b");
  attention.bias.kind = BiasKind::kDense;
  attention.bias.dense = {at(30), 3, 4};
  expect_shared(attention.bias.dense.data, "bias");
}

void expect_refused(const Attention& attention, const std::string& why) {
  static const float kNumbers[64] = {};
  const Index start = 0, length = 2;
  Arena arena;
  expect_error<ConfigError>(
      [&] {
        prepare_keys(attention, {kNumbers, 2, 4}, {&start, &length, 1}, arena);
      },
      why);
}

TEST(RefusedAxes, StatesThatCannotBeOne) {
  Attention a;
  a.score.kind = ScoreKind::kCoverage;
  for (const NormalizerKind kind : {NormalizerKind::kMonotonic, NormalizerKind::kMocha}) {
    a.normalizer.kind = kind;
    a.normalizer.window = 2;
    expect_refused(a, "coverage keeps the sum of all weights and a monotonic normaliser the");
  }
  a.score.kind = ScoreKind::kLocationSensitive;
  expect_refused(a, "location-sensitive keeps the weights of the step before and MoChA");
}

TEST(RefusedAxes, NumbersOutOfRange) {
  const auto with = [](auto change) {
    Attention a;
    change(a);
    return a;
  };
  expect_refused(with([](Attention& a) { a.heads = 0; }), "heads: wanted 1 or more, got 0");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {-0.1f, 1.1f, nan}) {
    expect_refused(with([&](Attention& a) { a.dropout = bad; }), "dropout: wanted 0 to 1, got");
  }
  for (const float bad : {-1.0f, 1e31f, nan}) {
    expect_refused(with([&](Attention& a) { a.score.soft_cap = bad; }),
                   "soft_cap: wanted 0 (none) or a positive number, got");
  }
  expect_refused(with([](Attention& a) { a.normalizer.temperature = 0.0f; }), "temperature");
  expect_refused(with([](Attention& a) {
                   a.normalizer.kind = NormalizerKind::kMocha;
                   a.normalizer.window = 0;
                 }),
                 "window");
  expect_refused(with([](Attention& a) {
                   a.normalizer.kind = NormalizerKind::kEntmax;
                   a.normalizer.alpha = 1.0f;
                 }),
                 "alpha");
}

TEST(RefusedAxes, ParametersOfAnotherScore) {
  static const float kNumbers[4] = {};
  Attention a;
  a.score.b = {kNumbers, 4};
  expect_refused(a, "b and g belong to v . tanh(...): this score has no v");
  a.score.b = {};
  a.score.g = {kNumbers, 1};
  expect_refused(a, "b and g belong to v . tanh(...): this score has no v");
  a.score = {};
  a.score.kind = ScoreKind::kCustom;
  expect_refused(a, "a custom score wants both of its functions");
}

// What one call gives or asks for and the axes have not.
TEST_F(AxisChecks, RequestsThatTheAxesDoNotKnowAreRefused) {
  const auto expect_refused_call = [&](const std::string& why) {
    expect_error<ConfigError>([&] { forward(); }, why);
  };
  outputs.softmax_stats = {at(12), 6, 2};
  expect_refused_call("softmax_stats: products under softmax alone have them");
  set(ScoreKind::kDot, NormalizerKind::kSparsemax);
  outputs.log_sum_exp = {at(6), 6};
  expect_refused_call("log_sum_exp: softmax alone has one; ask for weights or raw_scores");
  inputs.d_log_sum_exp = {at(6), 6};
  expect_error<ConfigError>([&] { backward(); }, "log_sum_exp: softmax alone has one");
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  outputs.next_state = {at(24), 6, 4};
  expect_refused_call("next_state: neither this score nor this normaliser keeps a state");
  inputs.d_next_state = {at(24), 6, 4};
  expect_error<ConfigError>([&] { backward(); }, "next_state: neither this score");
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  queries.state = {at(24), 6, 4};
  expect_refused_call("state: neither this score nor this normaliser reads one");
  set(ScoreKind::kDot, NormalizerKind::kMonotonic);
  queries.chunk_scores = {at(24), 6, 4};
  expect_refused_call("chunk_scores: MoChA alone reads them");
  set(ScoreKind::kDot, NormalizerKind::kLocal);
  queries.center = {};
  expect_refused_call("center: local wants the position that each row looks around");
  set(ScoreKind::kDot, NormalizerKind::kSoftmax);
  queries.center = {at(6), 6};
  expect_refused_call("center: the local normaliser alone reads it");
  queries.center = {};
  attention.dropout = 0.5f;
  expect_refused_call("dropout_key: dropout wants a key for each row");
  const std::uint64_t key[3] = {1, 2, 3};
  queries.dropout_key = key;
  forward();
}

}  // namespace
}  // namespace regard::attention
