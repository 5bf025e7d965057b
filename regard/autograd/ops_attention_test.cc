// Attention on the tape: one OpCase per score, composed twins, many calls on one memory.
#include "regard/autograd/ops_attention.h"

#include <gtest/gtest.h>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/ops.h"
#include "regard/base/error.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

using test::check_case;
using test::OpCase;
using test::OpCheck;
using test::OpRun;

using Inputs = std::vector<Var>;
using Ids = std::vector<ParameterId>;

// Three sentences in eight rows, and seven query rows that read them in no order.
const std::vector<Index> kStart = {0, 4, 5};
const std::vector<Index> kLength = {4, 1, 3};
const std::vector<Index> kKeyRow = {2, 0, 0, 1, 2, 2, 0};
constexpr Index kRows = 7, kMemory = 8, kWidth = 19, kValues = 17;

RaggedRows sentences() { return {kStart.data(), kLength.data(), 3}; }

// Inputs query, keys, values; `shared`: the keys are the values too. `calls`: the query rows come
// in that many calls, as the steps of a decoder do.
OpCase attention_case(ScoreKind kind, bool shared, Index calls = 1) {
  OpCase op;
  op.name =
      "attend, score " + std::to_string(static_cast<int>(kind)) + (shared ? ", keys = values" : "");
  op.inputs = {{kRows, kWidth, -1.5, 1.5}, {kMemory, kWidth, -1.5, 1.5}};
  if (!shared) op.inputs.push_back({kMemory, kValues});
  if (kind == ScoreKind::kAdditive) op.parameters = {{"v", 1, kWidth}};
  op.tolerance = 1e-4;  // a dot product of 19 terms moves by much more than a step
  op.build = [=](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
    const Var values = x[shared ? 1 : 2];
    const AttentionMemory memory =
        begin_attention(t, kind, p.empty() ? ParameterId{} : p[0], x[1], values, sentences());
    const Var context = t.make(kRows, values.cols() + 3).cols_at(1, values.cols());
    for (Index c = 0; c < calls; ++c) {
      const Index first = c * kRows / calls, n = (c + 1) * kRows / calls - first;
      attend(t, memory, x[0].rows_at(first, n), kKeyRow.data() + first, context.rows_at(first, n),
             {});
    }
    return {{context}, {}};
  };
  return op;
}

constexpr ScoreKind kKinds[] = {ScoreKind::kAdditive, ScoreKind::kDot, ScoreKind::kScaledDot};

TEST(Attend, GradientsMatchCentralDifferencesAndBitsAreTheSameEverywhere) {
  for (const ScoreKind kind : kKinds) {
    for (const bool shared : {false, true}) EXPECT_EQ(check_case(attention_case(kind, shared)), "");
    EXPECT_EQ(check_case(attention_case(kind, true, 3)), "");
  }
}

OpRun run_once(const OpCase& op) {
  OpCheck check(op);
  Gradients gradients(check.parameters());
  Tape tape(check.parameters(), &gradients);
  return check.run(tape);
}

TEST(Attend, StepByStepIsTheSameAsAllRowsAtOnce) {
  for (const ScoreKind kind : kKinds) {
    const OpRun one = run_once(attention_case(kind, true)),
                many = run_once(attention_case(kind, true, kRows));
    EXPECT_TRUE(test::same_bits(one.outputs[0], many.outputs[0]));
    // Query gradients belong to their row alone; sums over rows come in another order.
    EXPECT_TRUE(test::same_bits(one.d_inputs[0], many.d_inputs[0]));
    EXPECT_EQ(test::compare("keys", one.d_inputs, test::convert<double>(many.d_inputs), 2e-6), "");
    EXPECT_EQ(test::compare("v", one.d_parameters, test::convert<double>(many.d_parameters), 2e-6),
              "");
  }
}

// softmax over `length` scores, as a closure of plain loops.
Var plain_softmax(Tape& t, Var e) {
  const Var y = t.make(e.rows(), e.cols());
  for (Index r = 0; r < e.rows(); ++r) {
    double sum = 0.0;
    for (Index j = 0; j < e.cols(); ++j) sum += std::exp(static_cast<double>(e.value(r, j)));
    for (Index j = 0; j < e.cols(); ++j)
      y.value(r, j) = static_cast<float>(std::exp(static_cast<double>(e.value(r, j))) / sum);
  }
  t.record([e, y] {
    for (Index r = 0; r < e.rows(); ++r) {
      float dot = 0.0f;
      for (Index j = 0; j < e.cols(); ++j) dot += y.value(r, j) * y.grad(r, j);
      for (Index j = 0; j < e.cols(); ++j) e.grad(r, j) += y.value(r, j) * (y.grad(r, j) - dot);
    }
  });
  return y;
}

// out [1, cols] = weights [1, n] times rows [n, cols].
void plain_combine(Tape& t, Var weights, Var rows, Var out) {
  fill(out.value, 0.0f);
  for (Index j = 0; j < rows.rows(); ++j) {
    for (Index d = 0; d < rows.cols(); ++d)
      out.value(0, d) += weights.value(0, j) * rows.value(j, d);
  }
  t.record([weights, rows, out] {
    for (Index j = 0; j < rows.rows(); ++j) {
      for (Index d = 0; d < rows.cols(); ++d) {
        weights.grad(0, j) += out.grad(0, d) * rows.value(j, d);
        rows.grad(j, d) += weights.value(0, j) * out.grad(0, d);
      }
    }
  });
}

// e_ij = factor q . k
void plain_dot(Tape& t, Var query, Var key, float factor, Var e) {
  e.value(0, 0) = 0.0f;
  for (Index d = 0; d < query.cols(); ++d)
    e.value(0, 0) += factor * query.value(0, d) * key.value(0, d);
  t.record([=] {
    for (Index d = 0; d < query.cols(); ++d) {
      query.grad(0, d) += factor * e.grad(0, 0) * key.value(0, d);
      key.grad(0, d) += factor * e.grad(0, 0) * query.value(0, d);
    }
  });
}

// The same calls from additions, tanh, products, and the loops above.
OpCase composed_case(ScoreKind kind) {
  OpCase op = attention_case(kind, false);
  if (kind == ScoreKind::kAdditive) op.parameters[0].use = Use::kProduct;  // e = tanh(q + k) v'
  op.build = [=](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
    const Var context = t.make(kRows, kValues);
    for (Index i = 0; i < kRows; ++i) {
      const Index b = kKeyRow[static_cast<size_t>(i)];
      const Index n = kLength[static_cast<size_t>(b)], start = kStart[static_cast<size_t>(b)];
      const Var e = t.make(1, n);
      for (Index j = 0; j < n; ++j) {
        const Var query = x[0].rows_at(i, 1), key = x[1].rows_at(start + j, 1);
        if (kind == ScoreKind::kAdditive) {
          linear_into(t, e.cols_at(j, 1), tanh_onto(t, add(t, query, key)), p[0], {});
        } else {
          const float factor =
              kind == ScoreKind::kDot ? 1.0f : 1.0f / std::sqrt(static_cast<float>(kWidth));
          plain_dot(t, query, key, factor, e.cols_at(j, 1));
        }
      }
      plain_combine(t, plain_softmax(t, e), x[2].rows_at(start, n), context.rows_at(i, 1));
    }
    return {{context}, {}};
  };
  return op;
}

TEST(Attend, FusedIsComposed) {
  for (const ScoreKind kind : kKinds) {
    const OpRun fused = run_once(attention_case(kind, false)),
                composed = run_once(composed_case(kind));
    // Scores differ by roundings of 19 terms.
    EXPECT_EQ(
        test::compare("context", fused.outputs, test::convert<double>(composed.outputs), 4e-6), "");
    EXPECT_EQ(
        test::compare("inputs", fused.d_inputs, test::convert<double>(composed.d_inputs), 8e-6),
        "");
    EXPECT_EQ(
        test::compare("v", fused.d_parameters, test::convert<double>(composed.d_parameters), 8e-6),
        "");
  }
}

// Three lanes, each reading its own sentence, in three steps: what a decoder does. A state goes
// from step to step where there is one.
constexpr Index kLanes = 3, kSteps = 3, kEven = 12;
const std::vector<Index> kLaneKeyRow = {0, 1, 2, 0, 1, 2, 0, 1, 2};
const std::vector<Index> kPosition = {0, 0, 0, 1, 1, 1, 2, 2, 2};
const std::vector<Index> kQueryLength = {3, 3, 3};
const std::vector<std::uint64_t> kDropoutKey = {11, 12, 13, 11, 12, 13, 11, 12, 13};

struct StepsCase {
  std::string name;
  attention::Attention spec = {};
  std::vector<ParameterInfo> parameters = {};  // named as the members of AttentionParameters
  Index query = kEven, keys = kEven;           // widths
  bool center = false;                         // a third input [9, N]: z of local_center
  float coverage = 0.0f;                       // weight of the loss
  double range = 1.5;                          // of the queries
};

AttentionParameters by_name(const std::vector<ParameterInfo>& infos, const Ids& ids) {
  AttentionParameters p;
  const std::pair<const char*, ParameterId*> all[] = {{"v", &p.v},
                                                      {"b", &p.b},
                                                      {"g", &p.g},
                                                      {"w", &p.w},
                                                      {"filters", &p.filters},
                                                      {"u", &p.u},
                                                      {"slopes", &p.slopes},
                                                      {"table", &p.table},
                                                      {"alpha", &p.alpha}};
  for (size_t i = 0; i < infos.size(); ++i) {
    for (const auto& [name, id] : all) {
      if (infos[i].name == name) *id = ids[i];
    }
  }
  return p;
}

OpCase steps_case(const StepsCase& c) {
  OpCase op;
  op.name = c.name;
  op.inputs = {
      {kLanes * kSteps, c.query, -c.range, c.range}, {kMemory, c.keys, -1.5, 1.5}, {kMemory, 10}};
  if (c.center) op.inputs.push_back({kLanes * kSteps, c.spec.heads});
  op.parameters = c.parameters;
  op.tolerance = 2e-4;
  op.build = [c](Tape& t, const Inputs& x, const Ids& ids) -> OpCase::Built {
    const Index rows = kLanes * kSteps, heads = c.spec.heads;
    const AttentionMemory memory =
        begin_attention(t, c.spec, by_name(c.parameters, ids), x[1], x[2], sentences());
    const Var context = t.make(rows, 10);
    const Vector loss{t.arena().array<float>(rows), c.coverage > 0.0f ? rows : 0};
    Var states;
    if (memory.stateful()) states = t.make(rows * heads, memory.longest());
    for (Index i = 0; i < kSteps; ++i) {
      const Index first = i * kLanes;
      AttentionQuery q;
      q.query = x[0].rows_at(first, kLanes);
      q.key_row = kLaneKeyRow.data() + first;
      q.position = kPosition.data() + first;
      q.query_length = kQueryLength.data();
      if (c.spec.dropout > 0.0f) q.dropout_key = kDropoutKey.data() + first;
      if (c.center) q.center = local_center(t, memory, x[3].rows_at(first, kLanes), q.key_row);
      AttentionRows out;
      if (!states.empty()) {
        if (i > 0) q.state = states.rows_at((first - kLanes) * heads, kLanes * heads);
        out.next_state = states.rows_at(first * heads, kLanes * heads);
      }
      if (c.coverage > 0.0f) {
        out.weights = t.arena().matrix(kLanes * heads, memory.longest());
        out.d_weights = t.arena().zero_matrix(kLanes * heads, memory.longest());
      }
      attend(t, memory, q, context.rows_at(first, kLanes), out);
      if (c.coverage > 0.0f) {
        coverage_loss(t, memory, out, q.state, c.coverage, {loss.data + first, kLanes});
      }
    }
    return {{context}, loss};
  };
  return op;
}

attention::Attention spec_of(ScoreKind score, NormalizerKind normalizer = NormalizerKind::kSoftmax,
                             Index heads = 1) {
  attention::Attention a;
  a.score.kind = score;
  a.normalizer.kind = normalizer;
  a.heads = heads;
  return a;
}

const ParameterInfo kV = {"v", 1, kEven, Use::kVector};
const ParameterInfo kU = {"u", kEven, 1};
const ParameterInfo kFeatures = {"u", kEven, 3};
const ParameterInfo kFilters = {"filters", 3, 5};

std::vector<StepsCase> score_cases() {
  std::vector<StepsCase> cases = {
      {"additive with b and g",
       spec_of(ScoreKind::kAdditive),
       {kV, {"b", 1, kEven, Use::kVector}, {"g", 1, 1, Use::kVector}}},
      {"additive in two heads", spec_of(ScoreKind::kAdditive, NormalizerKind::kSoftmax, 2), {kV}},
      {"concat", spec_of(ScoreKind::kConcat), {kV, {"w", kEven, 7 + 9}}, 7, 9},
      {"general", spec_of(ScoreKind::kGeneral), {{"w", 7, 9}}, 7, 9},
      {"cosine", spec_of(ScoreKind::kCosine)},
      {"cosine in two heads", spec_of(ScoreKind::kCosine, NormalizerKind::kSoftmax, 2)},
      {"location", spec_of(ScoreKind::kLocation), {}, 5, 0},
      {"location in two heads",
       spec_of(ScoreKind::kLocation, NormalizerKind::kSoftmax, 2),
       {},
       10,
       0},
      {"location-sensitive", spec_of(ScoreKind::kLocationSensitive), {kV, kFilters, kFeatures}},
      {"location-sensitive in two heads",
       spec_of(ScoreKind::kLocationSensitive, NormalizerKind::kSoftmax, 2),
       {kV, kFilters, kFeatures}},
      {"coverage", spec_of(ScoreKind::kCoverage), {kV, kU}},
      {"coverage in two heads with its loss",
       spec_of(ScoreKind::kCoverage, NormalizerKind::kSoftmax, 2),
       {kV, kU}},
  };
  cases.back().coverage = 0.5f;
  cases.back().range = 4.0;  // so that no weight is near the mass that was there before
  return cases;
}

std::vector<StepsCase> normalizer_cases() {
  std::vector<StepsCase> cases;
  for (const NormalizerKind kind :
       {NormalizerKind::kSparsemax, NormalizerKind::kEntmax15, NormalizerKind::kEntmax,
        NormalizerKind::kSigmoid, NormalizerKind::kMonotonic, NormalizerKind::kMocha,
        NormalizerKind::kLocal}) {
    StepsCase c{"normaliser " + std::to_string(static_cast<int>(kind)),
                spec_of(ScoreKind::kDot, kind, 2)};
    // Central differences want no key to enter or leave the support.
    c.spec.score.scale = 0.05f;
    if (kind == NormalizerKind::kEntmax) c.parameters = {{"alpha", 1, 1, Use::kVector}};
    if (kind == NormalizerKind::kMocha) c.spec.normalizer.window = 2;
    if (kind == NormalizerKind::kLocal) {
      c.spec.normalizer.window = 5;
      c.center = true;
    }
    if (kind == NormalizerKind::kMonotonic || kind == NormalizerKind::kSigmoid) {
      c.spec.score.scale = 0.5f;
      c.spec.bias.kind = attention::BiasKind::kRelative;  // with one place: an offset for each head
      c.parameters = {{"table", 2, 1}};
    }
    cases.push_back(c);
  }
  cases.push_back({"location-sensitive, monotonic",
                   spec_of(ScoreKind::kLocationSensitive, NormalizerKind::kMonotonic, 2),
                   {kV, kFilters, kFeatures}});
  return cases;
}

std::vector<StepsCase> other_cases() {
  std::vector<StepsCase> cases = {
      {"relative positions",
       spec_of(ScoreKind::kScaledDot, NormalizerKind::kSoftmax, 2),
       {{"table", 2, 5}}},
      {"ALiBi",
       spec_of(ScoreKind::kScaledDot, NormalizerKind::kSoftmax, 2),
       {{"slopes", 1, 2, Use::kVector}}},
      {"dropout", spec_of(ScoreKind::kAdditive, NormalizerKind::kSoftmax, 2), {kV}},
      {"window", spec_of(ScoreKind::kDot)},
      {"soft cap", spec_of(ScoreKind::kDot)},
  };
  cases[0].spec.bias.kind = attention::BiasKind::kRelative;
  cases[1].spec.bias.kind = attention::BiasKind::kAlibi;
  cases[2].spec.dropout = 0.3f;
  cases[3].spec.mask = attention::Mask::window(1, 1) & attention::Mask::query_lengths();
  cases[4].spec.score.soft_cap = 2.0f;
  return cases;
}

TEST(Attend, EveryScoreHasTheGradientsOfCentralDifferences) {
  for (const StepsCase& c : score_cases()) EXPECT_EQ(check_case(steps_case(c)), "");
}

TEST(Attend, EveryNormaliserHasTheGradientsOfCentralDifferences) {
  for (const StepsCase& c : normalizer_cases()) EXPECT_EQ(check_case(steps_case(c)), "");
}

TEST(Attend, BiasMaskDropoutAndCapHaveTheGradientsOfCentralDifferences) {
  for (const StepsCase& c : other_cases()) EXPECT_EQ(check_case(steps_case(c)), "");
}

TEST(Attend, AlphaIsBetweenSoftmaxAndSparsemax) {
  StepsCase c{
      "entmax", spec_of(ScoreKind::kDot, NormalizerKind::kEntmax), {{"alpha", 1, 1, Use::kVector}}};
  OpCheck check(steps_case(c));
  Tape tape(check.parameters(), nullptr);
  const Matrix a = check.parameters().value({0});
  const auto alpha = [&](float x) {
    a(0, 0) = x;
    AttentionParameters p;
    p.alpha = {0};
    return begin_attention(tape, c.spec, p, tape.make(kMemory, 4), tape.make(kMemory, 4),
                           sentences())
        .keys->attention.normalizer.alpha;
  };
  EXPECT_EQ(alpha(0.0f), 1.5f);
  EXPECT_EQ(alpha(50.0f), 1.95f);
  EXPECT_EQ(alpha(-50.0f), 1.05f);
}

TEST(CoverageLoss, IsTheMassThatIsLookedAtTwice) {
  Parameters none;
  none.allocate();
  Tape tape(none, nullptr);
  attention::Attention spec = spec_of(ScoreKind::kDot);
  const Var x = tape.make(kMemory, 4);
  const AttentionMemory memory = begin_attention(tape, spec, {}, x, x, sentences());
  float weights[] = {0.5f, 0.25f, 0.25f, 0.0f}, seen[] = {0.125f, 0.75f, 0.25f, 0.0f},
        loss[] = {-1};
  AttentionRows rows;
  rows.weights = {weights, 1, 4};
  coverage_loss(tape, memory, rows, {{seen, 1, 4}, {}}, 2.0f, {loss, 1});
  EXPECT_EQ(loss[0], 2.0f * (0.125f + 0.25f + 0.25f));
  coverage_loss(tape, memory, rows, {}, 2.0f, {loss, 1});
  EXPECT_EQ(loss[0], 0.0f);  // nothing seen yet
  EXPECT_THROW(coverage_loss(tape, memory, rows, {{seen, 1, 3}, {}}, 2.0f, {loss, 1}), ShapeError);
}

TEST(Attend, WhatIsAskedForChangesNothing) {
  OpCheck check(attention_case(ScoreKind::kAdditive, true));
  Tape tape(check.parameters(), nullptr);
  const auto var = [&](Index rows, std::uint64_t key) {
    const Var x = tape.make(rows, kWidth);
    const std::vector<float> values = test::random_floats(rows * kWidth, key);
    std::copy(values.begin(), values.end(), x.value.data);
    return x;
  };
  const Var query = var(kRows, 1), keys = var(kMemory, 2);
  const AttentionMemory memory =
      begin_attention(tape, ScoreKind::kAdditive, {0}, keys, keys, sentences());
  EXPECT_EQ(memory.longest(), 4);
  EXPECT_EQ(memory.sums, nullptr);
  const Var plain = tape.make(kRows, kWidth), rich = tape.make(kRows, kWidth);
  attend(tape, memory, query, kKeyRow.data(), plain, {});
  const AttentionRows rows{tape.arena().matrix(kRows, 6), tape.arena().matrix(kRows, 6)};
  attend(tape, memory, query, kKeyRow.data(), rich, rows);
  EXPECT_TRUE(std::equal(plain.value.data, plain.value.data + kRows * kWidth, rich.value.data));
  for (Index i = 0; i < kRows; ++i) {
    const Index n = kLength[static_cast<size_t>(kKeyRow[static_cast<size_t>(i)])];
    double sum = 0.0;
    for (Index j = 0; j < 6; ++j) {
      if (j >= n) {
        EXPECT_EQ(rows.weights(i, j), 0.0f);
      }
      sum += static_cast<double>(rows.weights(i, j));
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST(Attend, ExtentsThatDisagreeAreRefused) {
  OpCheck check(attention_case(ScoreKind::kAdditive, true));
  Gradients gradients(check.parameters());
  Tape tape(check.parameters(), &gradients);
  const auto begin = [&](Index key_rows, Index key_cols, Index value_rows) {
    return begin_attention(tape, ScoreKind::kAdditive, {0}, tape.make(key_rows, key_cols),
                           tape.make(value_rows, 5), sentences());
  };
  EXPECT_THROW(begin(kMemory, kWidth - 1, kMemory), ShapeError);  // not v's width
  EXPECT_THROW(begin(kMemory - 1, kWidth, kMemory), ShapeError);  // a sentence beyond the rows
  const auto call = [&](Index value_rows, Index query_cols, Index context_rows,
                        Index context_cols) {
    attend(tape, begin(kMemory, kWidth, value_rows), tape.make(kRows, query_cols), kKeyRow.data(),
           tape.make(context_rows, context_cols), {});
  };
  EXPECT_NO_THROW(call(kMemory, kWidth, kRows, 5));
  EXPECT_THROW(call(kMemory - 1, kWidth, kRows, 5), ShapeError);
  EXPECT_THROW(call(kMemory, kWidth + 1, kRows, 5), ShapeError);
  EXPECT_THROW(call(kMemory, kWidth, kRows + 1, 5), ShapeError);
  EXPECT_THROW(call(kMemory, kWidth, kRows, 6), ShapeError);
}

}  // namespace
}  // namespace regard
