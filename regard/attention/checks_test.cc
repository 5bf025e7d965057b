// Every error that the attention library throws, provoked; the message names the argument, what was
// wanted and what was got.
#include "regard/attention/checks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "regard/attention/attention.h"
#include "regard/base/error.h"

namespace regard::attention {
namespace {

template <class Fn>
void expect_error(Fn fn, const std::string& part) {
  try {
    fn();
    ADD_FAILURE() << "nothing was thrown; wanted: " << part;
  } catch (const ShapeError& error) {
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

}  // namespace
}  // namespace regard::attention
