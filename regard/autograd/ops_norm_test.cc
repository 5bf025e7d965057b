// Layer norm, the rectifier and constant rows as one OpCase each, and what they refuse.
#include "regard/autograd/ops_norm.h"

#include <gtest/gtest.h>

#include "regard/autograd/op_case_test_util.h"
#include "regard/autograd/ops.h"
#include "regard/base/error.h"

namespace regard {
namespace {

using test::check_case;
using test::OpCase;

using Inputs = std::vector<Var>;
using Ids = std::vector<ParameterId>;

ParameterInfo vector_of(const char* name, Index n) { return {name, 1, n}; }

const std::vector<std::uint32_t> kRows = {3, 0, 3, 1, 2};
std::vector<float> kTable = test::random_floats(4 * 19, 77);

// Numbers of magnitude 0.5 to 1: inputs of at most 0.4 leave each sum on one side of zero, central
// differences included.
std::vector<float> sides() {
  std::vector<float> x = test::random_floats(5 * 19, 78);
  for (float& v : x) v = std::copysign(0.5f + 0.5f * std::fabs(v), v);
  return x;
}
std::vector<float> kSides = sides();

OpCase layer_norm_case(Index width) {
  return {"layer_norm",
          {{5, width, -2.0, 2.0}},
          {vector_of("gain", width), vector_of("bias", width)},
          [](Tape& t, const Inputs& x, const Ids& p) -> OpCase::Built {
            return {{layer_norm(t, x[0], p[0], p[1])}, {}};
          }};
}
// A constant input needs no gradient, but the gain and the bias do.
OpCase layer_norm_of_constant_case() {
  return {"layer_norm of a constant",
          {},
          {vector_of("gain", 19), vector_of("bias", 19)},
          [](Tape& t, const Inputs&, const Ids& p) -> OpCase::Built {
            const Var y = layer_norm(t, Tape::constant({kTable.data(), 4, 19}), p[0], p[1]);
            return {{y, layer_norm(t, y, p[0], p[1])}, {}};
          }};
}
OpCase relu_case() {
  return {
      "relu", {{5, 19, -0.4, 0.4}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
        const Var moved = add(t, x[0], Tape::constant({kSides.data(), 5, 19}));
        return {{relu(t, moved), relu(t, Tape::constant({kSides.data(), 5, 19}))}, {}};
      }};
}
OpCase add_table_rows_case() {
  return {
      "add_table_rows", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
        const ConstMatrix table(kTable.data(), 4, 19);
        return {{add_table_rows(t, x[0], table, kRows.data())}, {}};
      }};
}

OpCase scaled_case() {
  return {"scaled", {{5, 19}}, {}, [](Tape& t, const Inputs& x, const Ids&) -> OpCase::Built {
            const Var constant = Tape::constant({kSides.data(), 5, 19});
            return {{scaled(t, x[0], -1.75f), scaled(t, constant, 2.0f)}, {}};
          }};
}

TEST(OpsNorm, GradientsMatchCentralDifferencesAndBitsAreTheSameEverywhere) {
  for (const OpCase& op : {layer_norm_case(19), layer_norm_case(16), layer_norm_of_constant_case(),
                           relu_case(), add_table_rows_case(), scaled_case()}) {
    EXPECT_EQ(check_case(op), "");
  }
}

TEST(OpsNorm, TheRectifierMeetsBothSides) {
  const auto negative = std::count_if(kSides.begin(), kSides.end(), [](float x) { return x < 0; });
  EXPECT_GT(negative, 20);
  EXPECT_LT(negative, 75);
}

TEST(OpsNorm, ScaledIsAProductWithANumber) {
  Parameters p;
  p.allocate();
  Tape tape(p, nullptr);
  const Var y = scaled(tape, Tape::constant({kSides.data(), 5, 19}), 3.0f);
  for (size_t k = 0; k < kSides.size(); ++k) EXPECT_EQ(y.value.data[k], 3.0f * kSides[k]);
}

TEST(OpsNorm, RowsOfTheTableAreAddedAtTheirPlaces) {
  Parameters p;
  p.allocate();
  Tape tape(p, nullptr);
  const std::vector<float> values = test::random_floats(5 * 19, 1);
  const Var x = tape.make(5, 19);
  std::copy(values.begin(), values.end(), x.value.data);
  const ConstMatrix table(kTable.data(), 4, 19);
  const Var y = add_table_rows(tape, x, table, kRows.data());
  for (Index r = 0; r < 5; ++r) {
    for (Index j = 0; j < 19; ++j)
      EXPECT_EQ(y.value(r, j), x.value(r, j) + table(kRows[static_cast<size_t>(r)], j));
  }
}

TEST(OpsNorm, ExtentsThatDisagreeAreRefused) {
  Parameters p;
  const ParameterId right = p.add(vector_of("right", 4)), wrong = p.add(vector_of("wrong", 3));
  p.allocate();
  Tape tape(p, nullptr);
  const Var x = tape.make(2, 4);
  std::fill_n(x.value.data, 8, 0.0f);
  EXPECT_NO_THROW(layer_norm(tape, x, right, right));
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const ShapeError& e) {
      return e.what();
    }
    return "not refused";
  };
  EXPECT_EQ(message([&] { layer_norm(tape, x, wrong, right); }),
            "layer_norm: gain is [1,3], wanted [1,4]");
  EXPECT_EQ(message([&] { layer_norm(tape, x, right, wrong); }),
            "layer_norm: bias is [1,3], wanted [1,4]");
  const ConstMatrix table(kTable.data(), 3, 4), narrow(kTable.data(), 3, 3);
  const std::uint32_t rows[] = {2, 3};
  EXPECT_EQ(message([&] { add_table_rows(tape, x, narrow, rows); }),
            "add_table_rows: table is [3,3], wanted [3,4]");
  EXPECT_EQ(message([&] { add_table_rows(tape, x, table, rows); }),
            "add_table_rows: row 1 asks for row 3 of a table that has 3");
}

}  // namespace
}  // namespace regard
