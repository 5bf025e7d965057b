// Buffer: owned memory, aligned to 64 bytes, not initialised unless asked for.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "regard/tensor/view.h"

namespace regard {

inline constexpr std::size_t kAlignment = 64;

// `bytes` bytes at a multiple of 64, to be freed by std::free. From 4 MiB on they start at a page
// of 2 MiB, and the system is asked for such pages: large products then miss fewer address
// translations. Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes);

// Owns `size` elements of a trivial type. Movable, not copyable. Throws std::bad_alloc.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Index size)
      : data_(static_cast<T*>(allocate_aligned(sizeof(T) * static_cast<std::size_t>(size)))),
        size_(size) {}
  static Buffer zeros(Index size) {
    Buffer b(size);
    b.fill_zero();
    return b;
  }

  void fill_zero() {
    if (size_ > 0) std::memset(data_.get(), 0, sizeof(T) * static_cast<std::size_t>(size_));
  }
  // Grows to at least `size` elements; the contents are lost when it grows.
  void reserve(Index size) {
    if (size > size_) *this = Buffer(size);
  }

  T* data() const { return data_.get(); }
  Index size() const { return size_; }
  T& operator[](Index i) const {
    REGARD_ASSERT(i >= 0 && i < size_);
    return data_.get()[i];
  }
  VectorView<T> view() const { return {data_.get(), size_}; }
  MatrixView<T> matrix(Index rows, Index cols) const {
    REGARD_ASSERT(rows * cols <= size_);
    return {data_.get(), rows, cols};
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  Index size_ = 0;
};

}  // namespace regard
