// Linear and Recurrent: which parameters they name, and that steps, sequences and blocks agree.
#include "regard/nn/layers.h"

#include <gtest/gtest.h>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/shape_check.h"
#include "regard/base/error.h"
#include "regard/kernels/packed_rows_test_util.h"
#include "regard/kernels/rows.h"

namespace regard {
namespace {

using test::PackedLengths;

Var filled(Tape& tape, Index rows, Index cols, std::uint64_t key) {
  const Var x = tape.make(rows, cols);
  const std::vector<float> values = test::random_floats(rows * cols, key);
  std::copy(values.begin(), values.end(), x.value.data);
  return x;
}

std::vector<float> numbers(ConstMatrix m) {
  std::vector<float> out;
  for (Index r = 0; r < m.rows; ++r) out.insert(out.end(), m.row(r), m.row(r) + m.cols);
  return out;
}

std::vector<std::string> names(const Parameters& p) {
  std::vector<std::string> out;
  for (const ParameterInfo& info : p.infos())
    out.push_back(info.name + extents(info.rows, info.cols));
  return out;
}

void start(Parameters& p) {
  p.allocate();
  p.initialise(5);
  Threads alone;
  p.pack(alone, true);
}

TEST(Linear, NamesItsWeightAndBias) {
  Parameters p;
  Linear::make(p, "a", 3, 4);
  const Linear plain = Linear::make(p, "b", 3, 4, false);
  EXPECT_EQ(names(p), (std::vector<std::string>{"a.weight[4,3]", "a.bias[1,4]", "b.weight[4,3]"}));
  EXPECT_FALSE(plain.bias);
  EXPECT_THROW(Linear::make(p, "a", 3, 4), ConfigError);
}

TEST(Recurrent, NamesAMatrixForEachInputBlock) {
  Parameters p;
  Recurrent::make(p, "g", RecurrentKind::kGru, 4, {{"embedding", 3}, {"context", 5}});
  Recurrent::make(p, "l", RecurrentKind::kLstm, 4, {{"below", 3}});
  EXPECT_EQ(names(p), (std::vector<std::string>{
                          "g.input.embedding[12,3]", "g.input.context[12,5]", "g.input_bias[1,12]",
                          "g.state[12,4]", "g.state_bias[1,12]", "l.input.below[16,3]",
                          "l.input_bias[1,16]", "l.state[16,4]", "l.state_bias[1,16]"}));
  // The forget gate starts open: the second of i, f, g, o.
  start(p);
  EXPECT_EQ(p.vector(p.find("l.input_bias"))[3], 0.0f);
  EXPECT_EQ(p.vector(p.find("l.input_bias"))[4], 1.0f);
  EXPECT_EQ(p.vector(p.find("l.input_bias"))[8], 0.0f);
}

TEST(Recurrent, StepsGiveTheBitsOfTheSequence) {
  const PackedLengths lanes({3, 3, 1});
  const Packing packing = lanes.packing();
  for (const RecurrentKind kind : {RecurrentKind::kGru, RecurrentKind::kLstm}) {
    Parameters p;
    const Recurrent layer = Recurrent::make(p, "r", kind, 9, {{"x", 5}});
    start(p);
    Tape tape(p, nullptr);
    const Var gi = layer.input(tape, filled(tape, 7, 5, 1));
    const Var whole = tape.make(7, 9);
    layer.sequence(tape, {packing, false}, gi, whole);
    CellState state = layer.make_state(tape, 3);
    EXPECT_EQ(state.c.empty(), kind == RecurrentKind::kGru);
    fill(state.h.value, 0.0f);
    if (!state.c.empty()) fill(state.c.value, 0.0f);
    for (Index t = 0; t < packing.steps; ++t) {
      const Index n = packing.rows(t);
      const CellState before{state.h.rows_at(0, n),
                             state.c.empty() ? Var{} : state.c.rows_at(0, n)};
      state = layer.make_state(tape, n);
      layer.step(tape, gi.rows_at(packing.offsets[t], n), before, state);
      EXPECT_EQ(numbers(state.h.value), numbers(whole.value.row_slice(packing.offsets[t], n)));
    }
  }
}

TEST(Recurrent, BlocksAreOneProductOverTheirConcatenation) {
  Parameters split, joined;
  const Recurrent a = Recurrent::make(split, "r", RecurrentKind::kGru, 4, {{"x", 3}, {"y", 5}});
  const Recurrent b = Recurrent::make(joined, "r", RecurrentKind::kGru, 4, {{"xy", 8}});
  start(split);
  joined.allocate();
  for (Index g = 0; g < 12; ++g) {
    for (Index k = 0; k < 8; ++k) {
      joined.value(joined.find("r.input.xy"))(g, k) =
          k < 3 ? split.value(split.find("r.input.x"))(g, k)
                : split.value(split.find("r.input.y"))(g, k - 3);
    }
  }
  Threads alone;
  joined.pack(alone, true);
  Tape left(split, nullptr), right(joined, nullptr);
  const Var xy = filled(right, 6, 8, 2);
  const Var gi = a.input(left, {xy.value.col_slice(0, 3), {}});
  a.input_onto(left, gi, {xy.value.col_slice(3, 5), {}}, 1);
  EXPECT_EQ(numbers(gi.value), numbers(b.input(right, xy).value));
}

}  // namespace
}  // namespace regard
