#include "regard/tensor/arena.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace regard {
namespace {

TEST(Arena, PiecesAreAlignedAndDoNotOverlap) {
  Arena arena(256);
  float* a = arena.array<float>(3);
  float* b = arena.array<float>(100);
  float* c = arena.array<float>(1000);
  for (float* p : {a, b, c}) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % kAlignment, 0u);
  for (int i = 0; i < 3; ++i) a[i] = 1.0f;
  for (int i = 0; i < 100; ++i) b[i] = 2.0f;
  for (int i = 0; i < 1000; ++i) c[i] = 3.0f;
  EXPECT_EQ(a[2], 1.0f);
  EXPECT_EQ(b[99], 2.0f);
}

TEST(Arena, ReusesItsBlocksAfterReset) {
  Arena arena(256);
  arena.array<float>(1000);
  float* first = arena.array<float>(1000);
  const std::size_t high = arena.high_water_bytes();
  arena.reset();
  arena.array<float>(1000);
  EXPECT_EQ(arena.array<float>(1000), first);
  EXPECT_EQ(arena.high_water_bytes(), high);
}

TEST(Arena, AScopeGivesBackWhatItTook) {
  Arena arena;
  arena.array<float>(10);
  float* inside = nullptr;
  {
    ArenaScope scope(arena);
    inside = arena.array<float>(10);
  }
  EXPECT_EQ(arena.array<float>(10), inside);
}

TEST(MatrixView, SlicesShareMemory) {
  Buffer<float> b = Buffer<float>::zeros(12);
  Matrix m = b.matrix(3, 4);
  m.row_slice(1, 2).col_slice(2, 2)(1, 0) = 5.0f;
  EXPECT_EQ(m(2, 2), 5.0f);
  EXPECT_FALSE(m.col_slice(0, 2).contiguous());
}

}  // namespace
}  // namespace regard
