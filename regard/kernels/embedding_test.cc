#include "regard/kernels/embedding.h"

#include <type_traits>

#include "regard/kernels/op_case_test_util.h"
#include "regard/kernels/reference/embedding.h"

namespace regard {
namespace {

using test::Buffers;
using test::check_op;
using test::Guarded;

constexpr Index kTokens = 6, kRows = 9;
constexpr std::int32_t kIds[kRows] = {3, 0, 3, 5, 1, 3, 0, 5, 3};

struct EmbeddingOp {
  Index width;

  template <class T>
  Buffers<T> forward(const Buffers<T>& in) const {
    const Guarded<T> table(kTokens, width, in[0]);
    Guarded<T> y(kRows, width);
    if constexpr (std::is_same_v<T, float>) {
      embedding_forward(table.view(), kIds, y.view());
    } else {
      reference::embedding_forward<T>(table.view(), kIds, y.view());
    }
    return {y.values()};
  }
  template <class T>
  void backward(const Buffers<T>&, const Buffers<T>& d_out, Buffers<T>& d_in) const {
    const Guarded<T> d_y(kRows, width, d_out[0]);
    Guarded<T> d_table(kTokens, width, d_in[0]);
    if constexpr (std::is_same_v<T, float>) {
      embedding_backward(d_y.view(), kIds, d_table.view());
    } else {
      reference::embedding_backward<T>(d_y.view(), kIds, d_table.view());
    }
    d_in[0] = d_table.values();
  }
};

TEST(Embedding, AgreesWithTheReferenceForwardAndBackward) {
  for (const Index width : test::kLengths) {
    EXPECT_EQ(check_op(EmbeddingOp{width}, {test::random_values(kTokens * width, 5)}), "");
  }
}

TEST(Embedding, BackwardTouchesOnlyTheRowsThatWereRead) {
  const Index width = 17;
  std::vector<float> d_table(static_cast<std::size_t>(kTokens * width), 0.5f);
  const std::vector<float> d_y(static_cast<std::size_t>(kRows * width), 1.0f);
  embedding_backward(ConstMatrix(d_y.data(), kRows, width), kIds,
                     Matrix(d_table.data(), kTokens, width));
  const float want[kTokens] = {2.5f, 1.5f, 0.5f, 4.5f, 0.5f, 2.5f};
  for (Index token = 0; token < kTokens; ++token) {
    for (Index j = 0; j < width; ++j) {
      EXPECT_EQ(d_table[static_cast<std::size_t>(token * width + j)], want[token]);
    }
  }
}

}  // namespace
}  // namespace regard
