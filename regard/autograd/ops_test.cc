// Every op of the tape as one OpCase; fused ops against twins made of small ones; refusals.
#include "regard/autograd/ops.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "regard/autograd/op_case_test_util.h"
#include "regard/base/error.h"
#include "regard/kernels/activations.h"
#include "regard/kernels/packed_rows_test_util.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

using test::check_case;
using test::OpCase;
using test::OpCheck;
using test::OpRun;
using test::PackedLengths;

using Inputs = std::vector<Var>;
using Ids = std::vector<ParameterId>;

ParameterInfo product(const char* name, Index rows, Index cols) {
  return {name, rows, cols, Use::kProduct};
}
ParameterInfo bias(const char* name, Index n) { return {name, 1, n}; }

// Rows of a wider value, so that strides are met.
Var strided(Tape& tape, Index rows, Index cols) {
  return tape.make(rows, cols + 5).cols_at(2, cols);
}

std::vector<float> kConstant = test::random_floats(5 * 8, 77);
const std::vector<std::int32_t> kTokens = {3, 0, 3, 5, 1, 3};
const std::vector<Index> kGather = {4, -1, 0, 4, 2, 4, 1};
const std::vector<Index> kStarts = {0, 3, 3};
const std::vector<Index> kCounts = {3, 0, 2};
const std::vector<std::uint64_t> kKeys = {9, 8, 7, 6, 5};
const std::vector<std::uint32_t> kPositions = {0, 1, 0, 3, 1};

OpCase linear_case() {
  return {"linear",
          {{5, 19}},
          {product("W", 17, 19), bias("b", 17)},
          [](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            return {{linear(t, x[0], p[0], p[1]), linear(t, x[0], p[0])}, {}};
          }};
}
OpCase linear_onto_case() {
  return {"linear_onto and linear_into",
          {{5, 19}, {5, 3}},
          {product("W", 17, 19), bias("b", 17), product("V", 17, 3)},
          [](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            const Var y = strided(t, 5, 17);
            linear_into(t, y, x[0], p[0], p[1]);
            linear_onto(t, y, x[1], p[2]);
            return {{y}, {}};
          }};
}
OpCase embedding_case(Use use) {
  return {"embedding",
          {},
          {{"E", 7, 19, use}},
          [](Tape& t, const Inputs&, const Ids& p) -> OpCase::Built {
            return {{embedding(t, p[0], kTokens.data(), 6)}, {}};
          }};
}
OpCase tanh_case() {
  return {"tanh",
          {{5, 19, -3.0, 3.0}, {5, 19}},
          {},
          [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            const Var y = strided(t, 5, 19);
            tanh_into(t, x[1], y);
            return {{tanh_onto(t, x[0]), y}, {}};
          }};
}
OpCase dropout_case() {
  return {"dropout", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            return {{dropout(t, x[0], {kKeys.data(), kPositions.data()}, 0.3f)}, {}};
          }};
}
OpCase gather_case() {
  return {"gather_rows", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            const Var y = strided(t, 3, 19);
            gather_rows_into(t, x[0], kGather.data(), y);
            return {{gather_rows(t, x[0], kGather.data(), 7), y}, {}};
          }};
}
OpCase mean_case() {
  return {"mean_rows", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            return {{mean_rows(t, x[0], kStarts.data(), kCounts.data(), 3)}, {}};
          }};
}
OpCase add_case() {
  return {"add", {{5, 19}, {5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            return {{add(t, x[0], x[1]), add(t, x[0], x[0])}, {}};
          }};
}
OpCase gru_cell_case() {
  return {"gru_cell",
          {{4, 51, -2.0, 2.0, true}, {4, 51, -2.0, 2.0, true}, {4, 17}},
          {},
          [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            const Var h = strided(t, 4, 17);
            gru_cell(t, x[0], x[1], x[2], h);
            return {{h}, {}};
          }};
}
OpCase lstm_cell_case() {
  return {"lstm_cell",
          {{4, 68, -2.0, 2.0, true}, {4, 68, -2.0, 2.0, true}, {4, 17}},
          {},
          [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            const CellState out{strided(t, 4, 17), t.make(4, 17)};
            lstm_cell(t, x[0], x[1], {{}, x[2]}, out);
            return {{out.h, out.c}, {}};
          }};
}

const PackedLengths kLanes({4, 4, 2, 1});

OpCase sequence_case(bool gru, bool reverse) {
  const Index gates = gru ? 3 : 4;
  return {std::string(gru ? "gru" : "lstm") + "_sequence" + (reverse ? " backwards" : ""),
          {{11, gates * 9, -1.0, 1.0, true}},
          {product("U", gates * 9, 9), bias("u", gates * 9)},
          [=](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            const Var h = strided(t, 11, 9);
            const SequenceOptions options{kLanes.packing(), reverse};
            gru ? gru_sequence(t, options, x[0], p[0], p[1], h)
                : lstm_sequence(t, options, x[0], p[0], p[1], h);
            return {{h}, {}};
          }};
}
OpCase loss_case(float smoothing) {
  return {"linear_cross_entropy",
          {{6, 19, -1.0, 1.0, true}},
          {product("W", 7, 19), bias("b", 7)},
          [=](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            return {
                {},
                linear_cross_entropy(t, x[0], p[0], p[1], kTokens.data(), smoothing).token_loss};
          }};
}
// Two readers of one value, a slice, and a constant: gradients add up, constants take none.
OpCase graph_case() {
  return {"a value with several readers",
          {{5, 8}},
          {product("W", 8, 8), bias("b", 8)},
          [](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            const Var y = linear(t, x[0], p[0], p[1]);
            const Var z = tanh_onto(t, linear(t, y, p[0], p[1]));
            const Var half = linear(t, add(t, y, z), p[0], p[1]).rows_at(1, 3);
            const Var constant = Tape::constant({kConstant.data(), 5, 8});
            return {{add(t, half, z.rows_at(0, 3)), add(t, constant, y), linear(t, constant, p[0])},
                    {}};
          }};
}

TEST(Ops, GradientsMatchCentralDifferencesAndBitsAreTheSameEverywhere) {
  for (const OpCase& op :
       {linear_case(), linear_onto_case(), embedding_case(Use::kTable),
        embedding_case(Use::kTableAndProduct), tanh_case(), dropout_case(), gather_case(),
        mean_case(), add_case(), gru_cell_case(), lstm_cell_case(), sequence_case(true, false),
        sequence_case(true, true), sequence_case(false, false), sequence_case(false, true),
        loss_case(0.0f), loss_case(0.2f), graph_case()}) {
    EXPECT_EQ(check_case(op), "");
  }
}

// --- The checks can fail
// --------------------------------------------------------------------------

TEST(OpCase, ABrokenBackwardIsFound) {
  // tanh whose backward forgets the square.
  const OpCase broken{
      "broken", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
        const Var y = t.make(5, 19);
        tanh_forward(x[0].value, y.value);
        t.record([x = x[0], y] { add_rows(y.grad, x.grad); });
        return {{y}, {}};
      }};
  EXPECT_NE(check_case(broken).find("central differences"), std::string::npos);
}

TEST(OpCase, ABackwardThatOverwritesIsFound) {
  const OpCase broken{
      "broken", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
        const Var y = t.make(5, 19);
        copy_rows(x[0].value, y.value);
        t.record([x = x[0], y] { copy_rows(y.grad, x.grad); });
        return {{y}, {}};
      }};
  EXPECT_NE(check_case(broken).find("central differences"), std::string::npos);
}

TEST(OpCase, ValuesThatDependOnRecordingAreFound) {
  const OpCase broken{
      "broken", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
        if (!t.recording()) scale(x[0].value, 0x1.000002p0f);
        return {{x[0]}, {}};
      }};
  EXPECT_NE(check_case(broken).find("without recording"), std::string::npos);
}

// --- Fused ops and their twins of small ops
// -------------------------------------------------------

// The same lanes as sequence_case, step by step from cells.
OpCase stepwise_case(bool gru, bool reverse) {
  OpCase op = sequence_case(gru, reverse);
  op.build = [=](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
    const Packing packing = kLanes.packing();
    const CellState all{t.make(11, 9), gru ? Var{} : t.make(11, 9)};
    const Var zeros = t.make(4, 9);
    fill(zeros.value, 0.0f);
    const auto rows = [](const Var& v, Index first, Index n) {
      return v.empty() ? v : v.rows_at(first, n);
    };
    for (Index i = 0; i < packing.steps; ++i) {
      const Index step = reverse ? packing.steps - 1 - i : i;
      const Index first = packing.offsets[step], n = packing.rows(step);
      const Index before = reverse ? step + 1 : step - 1;
      // Lanes that go on from another step, then those that start here.
      const Index going = i == 0 ? 0 : std::min(n, packing.rows(before));
      for (const auto& [from, count, started] :
           {std::tuple<Index, Index, bool>{0, going, true}, {going, n - going, false}}) {
        if (count == 0) continue;
        const Index at = started ? packing.offsets[before] : 0;
        const CellState previous{started ? all.h.rows_at(at, count) : zeros.rows_at(0, count),
                                 started ? rows(all.c, at, count) : zeros.rows_at(0, count)};
        const CellState out{all.h.rows_at(first + from, count), rows(all.c, first + from, count)};
        const Var gi = x[0].rows_at(first + from, count);
        const Var gh = linear(t, previous.h, p[0], p[1]);
        gru ? gru_cell(t, gi, gh, previous.h, out.h) : lstm_cell(t, gi, gh, previous, out);
      }
    }
    return {{all.h}, {}};
  };
  return op;
}

OpRun run_once(const OpCase& op) {
  OpCheck check(op);
  Gradients gradients(check.parameters());
  Tape tape(check.parameters(), &gradients);
  return check.run(tape);
}

// Values to the bit; gradients, which are summed in another order, to `tolerance`.
void expect_twins(const OpCase& op, const OpCase& twin, double tolerance = 2e-6) {
  SCOPED_TRACE(op.name);
  const OpRun a = run_once(op), b = run_once(twin);
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.outputs.size(); ++i)
    EXPECT_TRUE(test::same_bits(a.outputs[i], b.outputs[i])) << i;
  EXPECT_EQ(test::compare("inputs", a.d_inputs, test::convert<double>(b.d_inputs), tolerance), "");
  EXPECT_EQ(
      test::compare("parameters", a.d_parameters, test::convert<double>(b.d_parameters), tolerance),
      "");
}

TEST(Ops, SequencesAreTheirCellsStepByStep) {
  for (const bool gru : {true, false}) {
    for (const bool reverse : {false, true}) {
      expect_twins(sequence_case(gru, reverse), stepwise_case(gru, reverse));
    }
  }
}

TEST(Ops, TheLossHasTheBitsOfLogSoftmaxAndTheSumOfSmoothing) {
  OpCheck check(loss_case(0.0f));
  Tape tape(check.parameters(), nullptr);
  const std::vector<float> t = test::random_floats(6 * 19, 1);
  const Var x = tape.make(6, 19);
  std::copy(t.begin(), t.end(), x.value.data);
  const LossRows rows = linear_cross_entropy(tape, x, {0}, {1}, kTokens.data(), 0.1f);
  const Matrix log_probs = linear_log_softmax(tape, x, {0}, {1});
  for (Index r = 0; r < 6; ++r) {
    EXPECT_EQ(rows.token_log_prob[r], log_probs(r, kTokens[static_cast<size_t>(r)]));
    double mean = 0.0;
    for (Index v = 0; v < 7; ++v) mean += static_cast<double>(log_probs(r, v)) / 7.0;
    EXPECT_NEAR(rows.token_loss[r], -0.9 * static_cast<double>(rows.token_log_prob[r]) - 0.1 * mean,
                1e-5);
  }
}

// --- Loops
// -----------------------------------------------------------------------------------------

// linear, then linear_onto, in a loop over packed steps or over all rows at once.
OpCase product_case(bool in_loop) {
  return {"products in a loop",
          {{11, 19}, {11, 5}},
          {product("W", 17, 19), bias("b", 17), product("V", 17, 5)},
          [=](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            const Var y = t.make(11, 17);
            const auto rows = [&](Index first, Index n) {
              linear_into(t, y.rows_at(first, n), x[0].rows_at(first, n), p[0], p[1]);
              linear_onto(t, y.rows_at(first, n), x[1].rows_at(first, n), p[2]);
              // The same weight at a second site, on what the first one made.
              return tanh_onto(t, linear(t, x[0].rows_at(first, n), p[0]));
            };
            if (!in_loop) return {{y, rows(0, 11)}, {}};
            const Var z = t.make(11, 17);
            const Packing packing = kLanes.packing();
            Loop loop(t, packing);
            for (Index step = 0; step < packing.steps; ++step) {
              loop.begin_step(step);
              const Index first = packing.offsets[step];
              const Var part = rows(first, packing.rows(step));
              const Var copy = z.rows_at(first, packing.rows(step));
              copy_rows(part.value, copy.value);
              t.record([part, copy] { add_rows(copy.grad, part.grad); });
            }
            loop.end();
            return {{y, z}, {}};
          }};
}

TEST(Loop, AProductInsideIsTheProductOverAllRows) {
  expect_twins(product_case(true), product_case(false));
  EXPECT_EQ(check_case(product_case(true)), "");
}

TEST(Loop, WhatComesAfterTheLoopIsNotPartOfIt) {
  Parameters p;
  const ParameterId w = p.add(product("W", 3, 3));
  p.allocate();
  Threads alone;
  p.pack(alone, true);
  Gradients gradients(p);
  Tape tape(p, &gradients);
  const Var x = tape.make(11, 3);
  fill(x.value, 1.0f);
  {
    Loop loop(tape, kLanes.packing());
    EXPECT_EQ(tape.loop(), &loop);
    loop.begin_step(0);
    EXPECT_THROW(linear(tape, x, w), ShapeError);  // not the rows of the step
  }
  EXPECT_EQ(tape.loop(), nullptr);
  EXPECT_NO_THROW(linear(tape, x, w));
}

// --- Tapes
// -----------------------------------------------------------------------------------------

TEST(Tape, TwoAtOnceDontMeet) {
  const OpCase op = graph_case();
  const OpRun want = run_once(op);
  OpCheck check(op);
  Gradients first(check.parameters()), second(check.parameters());
  Tape a(check.parameters(), &first), b(check.parameters(), &second);
  OpRun got[2];
  Threads threads(2);
  threads.run(2, [&](Index i, int) {
    for (int k = 0; k < 20; ++k) {
      Tape& tape = i == 0 ? a : b;
      tape.reset();
      got[i] = check.run(tape);
    }
  });
  EXPECT_TRUE(test::same_bits(got[0], want));
  EXPECT_TRUE(test::same_bits(got[1], want));
}

TEST(Tape, KeepsItsMemoryFromRunToRun) {
  OpCheck check(graph_case());
  Gradients gradients(check.parameters());
  Tape tape(check.parameters(), &gradients);
  check.run(tape);
  const std::size_t bytes = tape.arena().high_water_bytes();
  for (int k = 0; k < 10; ++k) {
    tape.reset();
    check.run(tape);
  }
  EXPECT_EQ(tape.arena().high_water_bytes(), bytes);
}

TEST(Tape, BackwardTwiceAddsNothingMore) {
  OpCheck check(linear_case());
  Gradients gradients(check.parameters());
  Tape tape(check.parameters(), &gradients);
  check.run(tape);
  const Matrix w = gradients.matrix({0});
  const std::vector<float> before(w.data, w.data + w.rows * w.cols);
  tape.backward();
  EXPECT_TRUE(test::same_bits(before, std::vector<float>(w.data, w.data + w.rows * w.cols)));
}

// --- Refusals
// ---------------------------------------------------------------------------------------

class Refusals : public testing::Test {
 protected:
  Refusals() {
    p_.allocate();
    Threads alone;
    p_.pack(alone, true);
    gradients_.emplace(p_);
    tape_.emplace(p_, &*gradients_);
  }
  Var make(Index rows, Index cols) { return tape_->make(rows, cols); }
  // The call is refused and the message names `argument`.
  template <class Fn>
  void refused(const char* argument, const Fn& call) {
    try {
      call();
      ADD_FAILURE() << "not refused: " << argument;
    } catch (const ShapeError& e) {
      EXPECT_NE(std::string(e.what()).find(argument), std::string::npos) << e.what();
    }
  }
  Parameters p_;
  const ParameterId w_ = p_.add(product("W", 4, 3)), b_ = p_.add(bias("b", 4)),
                    short_ = p_.add(bias("short", 3)), u_ = p_.add(product("U", 6, 2)),
                    u_bias_ = p_.add(bias("u", 6));
  std::optional<Gradients> gradients_;
  std::optional<Tape> tape_;
};

TEST_F(Refusals, Products) {
  refused("W", [&] { linear(*tape_, make(5, 4), w_, b_); });
  refused("bias", [&] { linear(*tape_, make(5, 3), w_, short_); });
  refused("y", [&] { linear_into(*tape_, make(5, 3), make(5, 3), w_, b_); });
  refused("linear_onto", [&] { linear_onto(*tape_, make(4, 4), make(5, 3), w_); });
  refused("y", [&] { linear_onto(*tape_, make(5, 5), make(5, 3), w_); });
  const std::int32_t ids[5] = {};
  refused("t is [5,4], wanted [5,3]",
          [&] { linear_cross_entropy(*tape_, make(5, 4), w_, b_, ids, 0.0f); });
  refused("bias", [&] { linear_cross_entropy(*tape_, make(5, 3), w_, short_, ids, 0.0f); });
  refused("t", [&] { linear_log_softmax(*tape_, make(5, 4), w_, b_); });
  refused("bias", [&] { linear_log_softmax(*tape_, make(5, 3), w_, short_); });
}

TEST_F(Refusals, RowsAndElements) {
  refused("tanh", [&] { tanh_into(*tape_, make(5, 3), make(5, 4)); });
  refused("gather_rows", [&] { gather_rows_into(*tape_, make(5, 3), kGather.data(), make(2, 4)); });
  refused("add: b is [4,3], wanted [5,3]", [&] { add(*tape_, make(5, 3), make(4, 3)); });
}

TEST_F(Refusals, Cells) {
  refused("gi", [&] { gru_cell(*tape_, make(5, 7), make(5, 7), make(5, 2), make(5, 2)); });
  refused("gh", [&] { gru_cell(*tape_, make(5, 6), make(4, 6), make(5, 2), make(5, 2)); });
  refused("h_prev", [&] { gru_cell(*tape_, make(5, 6), make(5, 6), make(5, 3), make(5, 2)); });
  refused("out", [&] { gru_cell(*tape_, make(5, 6), make(5, 6), make(5, 2), make(4, 2)); });
  const auto state = [&](Index h_rows, Index c_rows, Index cols) {
    return CellState{make(h_rows, cols), make(c_rows, cols)};
  };
  refused("gi", [&] { lstm_cell(*tape_, make(5, 9), make(5, 9), state(5, 5, 2), state(5, 5, 2)); });
  refused("gh", [&] { lstm_cell(*tape_, make(5, 8), make(5, 9), state(5, 5, 2), state(5, 5, 2)); });
  refused("c_prev",
          [&] { lstm_cell(*tape_, make(5, 8), make(5, 8), state(5, 5, 3), state(5, 5, 2)); });
  refused("h", [&] { lstm_cell(*tape_, make(5, 8), make(5, 8), state(5, 5, 2), state(4, 5, 2)); });
  refused("c", [&] { lstm_cell(*tape_, make(5, 8), make(5, 8), state(5, 5, 2), state(5, 4, 2)); });
}

TEST_F(Refusals, Sequences) {
  const SequenceOptions options{kLanes.packing(), false};
  refused("gi", [&] { gru_sequence(*tape_, options, make(11, 7), u_, u_bias_, make(11, 2)); });
  refused("gi", [&] { gru_sequence(*tape_, options, make(10, 6), u_, u_bias_, make(11, 2)); });
  refused("out", [&] { gru_sequence(*tape_, options, make(11, 6), u_, u_bias_, make(10, 2)); });
  refused("U", [&] { gru_sequence(*tape_, options, make(11, 9), u_, u_bias_, make(11, 3)); });
  refused("the bias of U",
          [&] { gru_sequence(*tape_, options, make(11, 6), u_, b_, make(11, 2)); });
  refused("gi", [&] { lstm_sequence(*tape_, options, make(11, 6), u_, u_bias_, make(11, 2)); });
  refused("U", [&] { lstm_sequence(*tape_, options, make(11, 8), u_, u_bias_, make(11, 2)); });
}

}  // namespace
}  // namespace regard
