// Arena: memory that is taken piece by piece and given back all at once, or back to a mark.
#pragma once

#include <cstddef>
#include <vector>

#include "regard/tensor/buffer.h"

namespace regard {

// A stack of blocks. Pieces are aligned to 64 bytes and keep their address until reset() or
// rewind(). After a reset the blocks are kept, so a loop that needs the same amount each time
// allocates once. Not thread-safe.
class Arena {
 public:
  explicit Arena(std::size_t first_block_bytes = std::size_t{1} << 20)
      : next_block_bytes_(first_block_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory. Throws std::bad_alloc.
  void* allocate(std::size_t bytes);

  template <class T>
  T* array(Index n) {
    return static_cast<T*>(allocate(sizeof(T) * static_cast<std::size_t>(n)));
  }
  Matrix matrix(Index rows, Index cols) { return {array<float>(rows * cols), rows, cols}; }
  Matrix zero_matrix(Index rows, Index cols) {
    Matrix m = matrix(rows, cols);
    if (!m.empty()) std::memset(m.data, 0, sizeof(float) * static_cast<std::size_t>(rows * cols));
    return m;
  }

  struct Mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };
  Mark mark() const { return {block_, used_}; }
  // Gives back everything that was taken after the mark.
  void rewind(Mark m) {
    block_ = m.block;
    used_ = m.used;
  }
  void reset() { rewind({}); }

  // The most bytes in use at once since construction, whole blocks before the last counted in full.
  std::size_t high_water_bytes() const { return high_water_; }

 private:
  std::vector<Buffer<std::byte>> blocks_;
  std::size_t block_ = 0;  // index of the block in use
  std::size_t used_ = 0;   // bytes taken of it
  std::size_t next_block_bytes_;
  std::size_t high_water_ = 0;
};

// Gives back to the mark at the end of a scope.
class ArenaScope {
 public:
  explicit ArenaScope(Arena& arena) : arena_(arena), mark_(arena.mark()) {}
  ~ArenaScope() { arena_.rewind(mark_); }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  Arena& arena_;
  Arena::Mark mark_;
};

}  // namespace regard
