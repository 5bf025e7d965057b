#include "regard/kernels/gemm.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "regard/kernels/isa.h"
#include "regard/kernels/reference/gemm.h"

namespace regard {
namespace {

constexpr float kUntouched = -12345.5f;

// A small generator of its own, so that a test case is a function of its sizes.
struct Noise {
  std::uint64_t state;
  float operator()() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-31f;
  }
};

// A matrix inside a wider one, filled with noise; what surrounds it holds kUntouched.
struct Padded {
  Padded(Index rows, Index cols, Index gap, Noise& noise)
      : stride(cols + gap), memory(static_cast<size_t>(rows * stride + 3), kUntouched) {
    view = {memory.data() + 3, rows, cols, stride};
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < cols; ++c) view(r, c) = noise();
    }
  }
  Padded(const Padded& other) : stride(other.stride), memory(other.memory) {
    view = {memory.data() + 3, other.view.rows, other.view.cols, stride};
  }
  Padded& operator=(const Padded&) = delete;

  Index stride;
  std::vector<float> memory;
  Matrix view;
};

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0);
}

double largest_difference(const std::vector<float>& x, const std::vector<float>& y) {
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(x[i]) - y[i]));
  }
  return worst;
}

// The same memory: to the bit with a fused multiply-add, within rounding of K additions without.
void expect_same(const std::vector<float>& got, const std::vector<float>& want, Index k,
                 const std::string& what) {
  if (current_isa() == Isa::kSse4) {
    EXPECT_LE(largest_difference(got, want), 1e-6 * static_cast<double>(k + 1)) << what;
  } else {
    EXPECT_TRUE(same_bits(got, want)) << what << ", on " << executed_isa();
  }
}

template <class Fn>
void on_every_isa(Fn fn) {
  for (int i = 0; i < kIsaCount; ++i) {
    if (!has_isa(static_cast<Isa>(i))) continue;
    set_isa(static_cast<Isa>(i));
    ASSERT_EQ(executed_isa(), isa_name(static_cast<Isa>(i)));
    fn();
  }
  for (int i = 0; i < kIsaCount; ++i) {
    if (has_isa(static_cast<Isa>(i))) return set_isa(static_cast<Isa>(i));
  }
}

Matrix transposed(ConstMatrix m, std::vector<float>& memory) {
  memory.resize(static_cast<size_t>(m.rows * m.cols));
  Matrix t(memory.data(), m.cols, m.rows);
  for (Index r = 0; r < m.rows; ++r) {
    for (Index c = 0; c < m.cols; ++c) t(c, r) = m(r, c);
  }
  return t;
}

struct Size {
  Index m, n, k;
};

// Sizes around every boundary: tile heights, panels, the transposition's four columns.
std::vector<Size> sizes() {
  std::vector<Size> all;
  for (Index m : {1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 14, 15, 17, 28, 29, 43}) {
    for (Index n : {1, 15, 16, 17, 32, 33, 47, 64, 65, 79, 100}) {
      for (Index k : {1, 2, 3, 4, 7, 16, 29}) all.push_back({m, n, k});
    }
  }
  // More than one block over k, of panels, of rows.
  all.insert(all.end(),
             {{1, 33, 1809}, {3, 17, 4000}, {14, 33, 1300}, {30, 420, 700}, {280, 400, 330}});
  return all;
}

constexpr ChainStart kStarts[] = {ChainStart::kZero, ChainStart::kBias, ChainStart::kContinue};

std::string name(const Size& s, ChainStart start) {
  return std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k) +
         ", start " + std::to_string(static_cast<int>(start));
}

TEST(Gemm, GivesTheBitsOfOneChainPerElementOnEveryInstructionSet) {
  for (const Size& s : sizes()) {
    Noise noise{static_cast<std::uint64_t>(s.m * 1000003 + s.n * 1009 + s.k)};
    const Index gap = (s.m + s.n + s.k) % 4;
    const Padded a(s.m, s.k, gap, noise), b(s.k, s.n, gap, noise), c(s.m, s.n, gap, noise);
    const Padded bias(1, s.n, 0, noise);
    const ConstVector bias_view(bias.view.data, s.n);
    std::vector<float> bt_memory;
    const ConstMatrix bt = transposed(b.view, bt_memory);
    for (ChainStart start : kStarts) {
      Padded want(c);
      reference::gemm<float>(a.view, b.view, start, bias_view, want.view);
      on_every_isa([&] {
        std::vector<float> packed(static_cast<size_t>(packed_size(s.k, s.n)), kUntouched);
        std::vector<float> packed_too(packed);
        const PackedMatrix p = pack(b.view, packed.data());
        pack_transposed(bt, packed_too.data());
        EXPECT_TRUE(same_bits(packed, packed_too)) << name(s, start) << " on " << executed_isa();
        Padded got(c);
        gemm(a.view, p, start, bias_view, got.view);
        expect_same(got.memory, want.memory, s.k, name(s, start));
      });
    }
  }
}

TEST(Gemm, ProductsThatPackInTheCallGiveTheSameBits) {
  Arena arena;
  for (const Size& s : sizes()) {
    Noise noise{static_cast<std::uint64_t>(s.m * 1000003 + s.n * 1009 + s.k + 7)};
    const Index gap = (s.m + s.n + s.k) % 3;
    const Padded a(s.m, s.k, gap, noise), b(s.k, s.n, gap, noise), c(s.m, s.n, gap, noise);
    std::vector<float> at_memory, bt_memory;
    const ConstMatrix at = transposed(a.view, at_memory), bt = transposed(b.view, bt_memory);
    for (ChainStart start : {ChainStart::kZero, ChainStart::kContinue}) {
      Padded want(c);
      reference::gemm<float>(a.view, b.view, start, {}, want.view);
      on_every_isa([&] {
        Padded x(c), y(c), z(c);
        gemm_a_b(a.view, b.view, start, x.view, arena);
        gemm_a_bt(a.view, bt, start, y.view, arena);
        gemm_at_b(at, b.view, start, z.view, arena);
        expect_same(x.memory, want.memory, s.k, "a b, " + name(s, start));
        expect_same(y.memory, want.memory, s.k, "a bt, " + name(s, start));
        expect_same(z.memory, want.memory, s.k, "at b, " + name(s, start));
      });
    }
  }
  EXPECT_EQ(arena.mark().used, 0u);
}

TEST(Gemm, LargeProductsInManyBlocksHaveTheSameBits) {
  const Size s{1000, 401, 650};
  Noise noise{31};
  const Padded a(s.m, s.k, 0, noise), b(s.k, s.n, 0, noise), c(s.m, s.n, 0, noise);
  std::vector<float> at_memory, bt_memory;
  const ConstMatrix at = transposed(a.view, at_memory), bt = transposed(b.view, bt_memory);
  Arena arena;
  on_every_isa([&] {
    if (current_isa() == Isa::kScalar || current_isa() == Isa::kSse4) return;
    std::vector<float> packed(static_cast<size_t>(packed_size(s.k, s.n)));
    Padded w(c), x(c), y(c), z(c);
    gemm(a.view, pack(b.view, packed.data()), ChainStart::kContinue, {}, w.view);
    gemm_a_b(a.view, b.view, ChainStart::kContinue, x.view, arena);
    gemm_a_bt(a.view, bt, ChainStart::kContinue, y.view, arena);
    gemm_at_b(at, b.view, ChainStart::kContinue, z.view, arena);
    EXPECT_TRUE(same_bits(w.memory, x.memory)) << executed_isa();
    EXPECT_TRUE(same_bits(w.memory, y.memory)) << executed_isa();
    EXPECT_TRUE(same_bits(w.memory, z.memory)) << executed_isa();
    for (Index row : {0, 499, 999}) {
      Padded want(c);
      reference::gemm<float>(a.view.row_slice(row, 1), b.view, ChainStart::kContinue, {},
                             want.view.row_slice(row, 1));
      EXPECT_EQ(0, std::memcmp(w.view.row(row), want.view.row(row), sizeof(float) * 401)) << row;
    }
  });
}

TEST(Gemm, IsCloseToTheProductInDouble) {
  const Size s{21, 50, 700};
  Noise noise{5};
  const Padded a(s.m, s.k, 1, noise), b(s.k, s.n, 0, noise), c(s.m, s.n, 2, noise);
  std::vector<double> ad(a.memory.begin(), a.memory.end()), bd(b.memory.begin(), b.memory.end());
  std::vector<double> cd(c.memory.begin(), c.memory.end());
  reference::gemm<double>({ad.data() + 3, s.m, s.k, a.stride}, {bd.data() + 3, s.k, s.n, b.stride},
                          ChainStart::kContinue, {}, {cd.data() + 3, s.m, s.n, c.stride});
  on_every_isa([&] {
    std::vector<float> packed(static_cast<size_t>(packed_size(s.k, s.n)));
    Padded got(c);
    gemm(a.view, pack(b.view, packed.data()), ChainStart::kContinue, {}, got.view);
    for (size_t i = 0; i < got.memory.size(); ++i) EXPECT_NEAR(got.memory[i], cd[i], 1e-4);
  });
}

TEST(Gemm, ARowAloneHasTheBitsThatItHasInABatch) {
  const Index n = 83, k = 37;
  Noise noise{11};
  const Padded a(60, k, 0, noise), b(k, n, 0, noise);
  on_every_isa([&] {
    std::vector<float> packed(static_cast<size_t>(packed_size(k, n)));
    const PackedMatrix p = pack(b.view, packed.data());
    std::vector<float> batch(static_cast<size_t>(60 * n)), alone(static_cast<size_t>(n));
    gemm(a.view, p, ChainStart::kZero, {}, {batch.data(), 60, n});
    for (Index r = 0; r < 60; ++r) {
      gemm(a.view.row_slice(r, 1), p, ChainStart::kZero, {}, {alone.data(), 1, n});
      EXPECT_EQ(0, std::memcmp(alone.data(), batch.data() + r * n, sizeof(float) * 83)) << r;
    }
  });
}

TEST(Gemm, AChainGoesOnOverTwoProducts) {
  const Index m = 19, n = 40, k = 31, first = 12;
  Noise noise{13};
  const Padded a(m, k, 0, noise), b(k, n, 0, noise), bias(1, n, 0, noise), c(m, n, 0, noise);
  on_every_isa([&] {
    std::vector<float> packed(static_cast<size_t>(packed_size(k, n)));
    Padded whole(c), parts(c);
    const ConstVector bias_view(bias.view.data, n);
    gemm(a.view, pack(b.view, packed.data()), ChainStart::kBias, bias_view, whole.view);
    gemm(a.view.col_slice(0, first), pack(b.view.row_slice(0, first), packed.data()),
         ChainStart::kBias, bias_view, parts.view);
    gemm(a.view.col_slice(first, k - first),
         pack(b.view.row_slice(first, k - first), packed.data()), ChainStart::kContinue, {},
         parts.view);
    EXPECT_TRUE(same_bits(whole.memory, parts.memory)) << executed_isa();
  });
}

TEST(Gemm, WithoutInnerDimensionTheStartValueStays) {
  Noise noise{17};
  const Padded c(5, 21, 1, noise), bias(1, 21, 0, noise);
  const ConstMatrix a(nullptr, 5, 0), b(nullptr, 0, 21);
  on_every_isa([&] {
    std::vector<float> packed(static_cast<size_t>(packed_size(0, 21)));
    for (ChainStart start : kStarts) {
      Padded want(c), got(c);
      reference::gemm<float>(a, b, start, {bias.view.data, 21}, want.view);
      gemm(a, pack(b, packed.data()), start, {bias.view.data, 21}, got.view);
      EXPECT_TRUE(same_bits(got.memory, want.memory));
    }
    Arena arena;
    Padded got(c);
    gemm_at_b({nullptr, 0, 5}, b, ChainStart::kContinue, got.view, arena);
    EXPECT_TRUE(same_bits(got.memory, c.memory));
  });
}

TEST(Gemm, EmptyOutputsAreLeftAlone) {
  Noise noise{19};
  const Padded a(3, 4, 0, noise), b(4, 20, 0, noise);
  Arena arena;
  on_every_isa([&] {
    std::vector<float> packed(static_cast<size_t>(packed_size(4, 20)));
    gemm({a.view.data, 0, 4}, pack(b.view, packed.data()), ChainStart::kZero, {}, {nullptr, 0, 20});
    gemm(a.view, pack({nullptr, 4, 0}, packed.data()), ChainStart::kZero, {}, {nullptr, 3, 0});
    gemm_a_b({a.view.data, 0, 4}, b.view, ChainStart::kZero, {nullptr, 0, 20}, arena);
    gemm_a_bt(a.view, {nullptr, 0, 4}, ChainStart::kZero, {nullptr, 3, 0}, arena);
    gemm_at_b({nullptr, 4, 0}, b.view, ChainStart::kZero, {nullptr, 0, 20}, arena);
  });
}

TEST(Gemm, NaNAndInfinityStayInTheirRowAndColumn) {
  const Index m = 16, n = 40, k = 10;
  Noise noise{23};
  Padded a(m, k, 0, noise), b(k, n, 0, noise);
  a.view(3, 4) = std::numeric_limits<float>::quiet_NaN();
  b.view(2, 37) = std::numeric_limits<float>::infinity();
  on_every_isa([&] {
    std::vector<float> packed(static_cast<size_t>(packed_size(k, n)));
    std::vector<float> c(static_cast<size_t>(m * n));
    gemm(a.view, pack(b.view, packed.data()), ChainStart::kZero, {}, {c.data(), m, n});
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        const float x = c[static_cast<size_t>(i * n + j)];
        EXPECT_EQ(std::isnan(x), i == 3) << i << ' ' << j;
        if (i != 3) {
          EXPECT_EQ(std::isinf(x), j == 37) << i << ' ' << j;
        }
      }
    }
  });
}

TEST(Gemm, AZeroKeepsTheSignOfItsChain) {
  const float a[] = {-0.0f, 0.0f}, b[] = {1.0f, 1.0f}, minus_zero[] = {-0.0f};
  on_every_isa([&] {
    for (Index k : {1, 2}) {
      std::vector<float> packed(static_cast<size_t>(packed_size(k, 1)));
      float c = 1.0f;
      gemm({a, 1, k}, pack({b, k, 1}, packed.data()), ChainStart::kBias, {minus_zero, 1},
           {&c, 1, 1});
      // -0 + -0 is -0; the next product, +0, would make it +0, as a padded k would.
      EXPECT_EQ(std::bit_cast<std::uint32_t>(c), k == 1 ? 0x80000000u : 0u) << executed_isa();
    }
  });
}

TEST(Gemm, TheComparisonCatchesAnotherOrderOfSummation) {
  const Size s{7, 33, 64};
  Noise noise{29};
  const Padded a(s.m, s.k, 0, noise), b(s.k, s.n, 0, noise), c(s.m, s.n, 0, noise);
  Padded want(c), broken(c);
  reference::gemm<float>(a.view, b.view, ChainStart::kZero, {}, want.view);
  // Even k and odd k apart: as exact, and not the same bits.
  for (Index i = 0; i < s.m; ++i) {
    for (Index j = 0; j < s.n; ++j) {
      float sum[2] = {0.0f, 0.0f};
      for (Index k = 0; k < s.k; ++k) sum[k % 2] = std::fma(a.view(i, k), b.view(k, j), sum[k % 2]);
      broken.view(i, j) = sum[0] + sum[1];
    }
  }
  EXPECT_FALSE(same_bits(broken.memory, want.memory));
  EXPECT_LE(largest_difference(broken.memory, want.memory), 1e-5);
}

}  // namespace
}  // namespace regard
