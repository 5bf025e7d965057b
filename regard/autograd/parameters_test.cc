// Parameters: layout, start values, packed forms; gradients of tables and their reduction.
#include "regard/autograd/parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "regard/base/error.h"
#include "regard/kernels/op_case_test_util.h"

namespace regard {
namespace {

Parameters make_all() {
  Parameters p;
  p.add({"zero", 1, 5});
  p.add({"one", 1, 5, Use::kVector, Init::kOne});
  p.add({"glorot", 30, 20, Use::kProduct, Init::kGlorot});
  p.add({"gated", 30, 20, Use::kProduct, Init::kGlorot, 3});
  p.add({"orthogonal", 24, 8, Use::kProduct, Init::kOrthogonalPerGate, 3});
  p.add({"forget", 1, 12, Use::kVector, Init::kForgetGateOne, 4});
  p.add({"table", 90, 7, Use::kTable, Init::kEmbedding});
  p.add({"tied", 90, 7, Use::kTableAndProduct, Init::kEmbedding});
  p.allocate();
  return p;
}

std::vector<float> numbers(const Parameters& p, const char* name) {
  const Matrix w = p.value(p.find(name));
  return {w.data, w.data + w.rows * w.cols};
}

TEST(Parameters, StartAtMultiplesOfSixteenWithZerosBetween) {
  Parameters p = make_all();
  p.initialise(3);
  std::vector<bool> used(static_cast<size_t>(p.size()), false);
  for (const ParameterInfo& info : p.infos()) {
    EXPECT_EQ(info.offset % 16, 0) << info.name;
    for (Index k = 0; k < info.rows * info.cols; ++k)
      used[static_cast<size_t>(info.offset + k)] = true;
  }
  for (size_t k = 0; k < used.size(); ++k) {
    if (!used[k]) {
      EXPECT_EQ(p.data()[k], 0.0f);
    }
  }
}

TEST(Parameters, StartValuesAreWhatTheirNamesSay) {
  Parameters p = make_all();
  p.initialise(3);
  EXPECT_EQ(numbers(p, "zero"), std::vector<float>(5, 0.0f));
  EXPECT_EQ(numbers(p, "one"), std::vector<float>(5, 1.0f));
  EXPECT_EQ(numbers(p, "forget"), (std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  for (const auto& [name, limit] : {std::pair{"glorot", std::sqrt(6.0 / 50)},
                                    {"gated", std::sqrt(6.0 / 30)},
                                    {"table", 1.0},
                                    {"tied", std::sqrt(3.0 / 7)}}) {
    double largest = 0.0, sum = 0.0;
    for (float x : numbers(p, name)) {
      largest = std::max(largest, std::fabs(static_cast<double>(x)));
      sum += static_cast<double>(x);
    }
    EXPECT_LE(largest, limit);
    EXPECT_GT(largest, 0.97 * limit);
    EXPECT_LT(std::fabs(sum / static_cast<double>(numbers(p, name).size())), 0.1 * limit);
  }
  const Matrix q = p.value(p.find("orthogonal"));
  for (Index gate = 0; gate < 3; ++gate) {
    for (Index a = 0; a < 8; ++a) {
      for (Index b = 0; b <= a; ++b) {
        double dot = 0.0;
        for (Index c = 0; c < 8; ++c)
          dot += static_cast<double>(q(8 * gate + a, c)) * static_cast<double>(q(8 * gate + b, c));
        EXPECT_NEAR(dot, a == b ? 1.0 : 0.0, 1e-6);
      }
    }
  }
}

TEST(Parameters, StartValuesDependOnSeedAndNameAlone) {
  Parameters a = make_all(), b, c = make_all();
  b.add({"gated", 30, 20, Use::kProduct, Init::kGlorot, 3});  // alone, so at another place
  b.allocate();
  a.initialise(3);
  b.initialise(3);
  c.initialise(4);
  EXPECT_EQ(numbers(a, "gated"), numbers(b, "gated"));
  EXPECT_NE(numbers(a, "gated"), numbers(c, "gated"));
  EXPECT_NE(numbers(a, "gated"), numbers(a, "glorot"));
}

TEST(Parameters, ANameIsTakenOnce) {
  Parameters p;
  p.add({"w", 2, 2});
  EXPECT_THROW(p.add({"w", 3, 3}), ConfigError);
  EXPECT_TRUE(p.find("w"));
  EXPECT_FALSE(p.find("v"));
}

TEST(Parameters, PackedFormsFollowTheValuesOnAnyThreads) {
  Parameters p = make_all();
  p.initialise(3);
  for (const int count : {1, 3}) {
    Threads threads(count);
    p.pack(threads, false);
    const ParameterId id = p.find("glorot");
    EXPECT_EQ(p.packed_back(id).data, nullptr);
    EXPECT_EQ(p.packed(p.find("table")).data, nullptr);
    EXPECT_EQ(p.packed(id).k, 20);
    EXPECT_EQ(p.packed(id).n, 30);
    EXPECT_EQ(p.packed(id).data[0], p.value(id)(0, 0));
    EXPECT_EQ(p.packed(id).data[1], p.value(id)(1, 0));  // the transpose
    p.pack(threads, true);
    EXPECT_EQ(p.packed_back(id).k, 30);
    EXPECT_EQ(p.packed_back(id).data[1], p.value(id)(0, 1));
    p.value(id)(0, 0) += 1.0f;
    p.pack(threads, true);
    EXPECT_EQ(p.packed(id).data[0], p.value(id)(0, 0));
  }
}

// A gradient block with random numbers in the dense part and in some rows of the table.
void fill(const Parameters& p, Gradients& g, std::uint64_t key,
          const std::vector<std::int32_t>& rows) {
  g.clear();
  g.touch(p.find("table"), rows.data(), static_cast<Index>(rows.size()));
  for (const ParameterInfo& info : p.infos()) {
    const Matrix d = g.matrix(p.find(info.name));
    const std::vector<float> x = test::random_floats(info.rows * info.cols, mix(key, info.name));
    if (info.use != Use::kTable) std::copy(x.begin(), x.end(), d.data);
    for (size_t i = 0; info.use == Use::kTable && i < rows.size(); ++i) {
      std::copy(x.begin() + rows[i] * info.cols, x.begin() + (rows[i] + 1) * info.cols,
                d.row(rows[i]));
    }
  }
}

TEST(Gradients, ReduceIsAFixedTreeWhateverTheThreads) {
  const Parameters p = make_all();
  std::vector<float> want;
  for (const int count : {1, 2, 4}) {
    Threads threads(count);
    std::vector<std::unique_ptr<Gradients>> shards;
    std::vector<Gradients*> pointers;
    const std::vector<std::vector<std::int32_t>> rows = {{1, 4}, {}, {4, 0, 4}, {8}, {1}};
    for (size_t s = 0; s < rows.size(); ++s) {
      shards.push_back(std::make_unique<Gradients>(p));
      pointers.push_back(shards.back().get());
      fill(p, *shards.back(), s, rows[s]);
    }
    const auto at = [&](size_t s, const char* name, Index k) {
      return shards[s]->matrix(p.find(name)).data[k];
    };
    const float dense =
        ((at(0, "glorot", 5) + at(1, "glorot", 5)) + (at(2, "glorot", 5) + at(3, "glorot", 5))) +
        at(4, "glorot", 5);
    const float row = at(0, "table", 7) + at(4, "table", 7);
    Gradients::reduce(pointers, threads);
    EXPECT_EQ(at(0, "glorot", 5), dense);
    EXPECT_EQ(at(0, "table", 7), row);
    EXPECT_NE(at(0, "table", 8 * 7), 0.0f);
    EXPECT_EQ(at(0, "table", 3 * 7), 0.0f);
    const std::vector<float> got(shards[0]->data(), shards[0]->data() + p.size());
    if (want.empty()) want = got;
    EXPECT_TRUE(test::same_bits(got, want));
    // Rows that came from other shards are cleared too.
    shards[0]->clear();
    for (Index k = 0; k < p.size(); ++k) ASSERT_EQ(shards[0]->data()[k], 0.0f) << k;
  }
}

}  // namespace
}  // namespace regard
