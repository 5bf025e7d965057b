// Borrowed views of row-major memory: a pointer, extents and a row stride.
#pragma once

#include <cstdint>

#include "regard/base/assert.h"

namespace regard {

using Index = std::int64_t;

// A matrix [rows, cols] whose rows are contiguous and `stride` floats apart (stride >= cols).
template <class T>
struct MatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  constexpr MatrixView() = default;
  constexpr MatrixView(T* d, Index r, Index c) : data(d), rows(r), cols(c), stride(c) {}
  constexpr MatrixView(T* d, Index r, Index c, Index s) : data(d), rows(r), cols(c), stride(s) {}
  // A view of mutable memory is also one of constant memory.
  constexpr operator MatrixView<const T>() const { return {data, rows, cols, stride}; }

  constexpr T* row(Index r) const {
    REGARD_ASSERT(r >= 0 && r <= rows);
    return data + r * stride;
  }
  constexpr T& operator()(Index r, Index c) const { return row(r)[c]; }
  constexpr bool empty() const { return rows == 0 || cols == 0; }
  constexpr bool contiguous() const { return stride == cols || rows <= 1; }
  // Rows [first, first + count) and columns [first, first + count) of this view.
  constexpr MatrixView row_slice(Index first, Index count) const {
    REGARD_ASSERT(first >= 0 && count >= 0 && first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  constexpr MatrixView col_slice(Index first, Index count) const {
    REGARD_ASSERT(first >= 0 && count >= 0 && first + count <= cols);
    return {data + first, rows, count, stride};
  }
};

using Matrix = MatrixView<float>;
using ConstMatrix = MatrixView<const float>;

// A vector of `size` contiguous elements; `data` may be null where a declaration says so.
template <class T>
struct VectorView {
  T* data = nullptr;
  Index size = 0;

  constexpr VectorView() = default;
  constexpr VectorView(T* d, Index n) : data(d), size(n) {}
  constexpr operator VectorView<const T>() const { return {data, size}; }
  constexpr T& operator[](Index i) const {
    REGARD_ASSERT(i >= 0 && i < size);
    return data[i];
  }
  constexpr T* begin() const { return data; }
  constexpr T* end() const { return data + size; }
  constexpr explicit operator bool() const { return data != nullptr; }
};

using Vector = VectorView<float>;
using ConstVector = VectorView<const float>;

}  // namespace regard
