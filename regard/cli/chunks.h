// Input in chunks: many lines at once where they are at hand, one where the writer waits for its
// answer.
#pragma once

#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace regard::cli {

// True if reading standard input will not wait (data is there, or its end).
bool standard_input_ready();

// What follows an erroneous item is not read; the error is thrown once all items before it were
// handed out.
template <class Item>
class Chunks {
 public:
  // `next` reads an item, false at the end; `at_hand` says that it will not wait.
  Chunks(std::function<bool(Item&)> next, std::function<bool()> at_hand)
      : next_(std::move(next)), at_hand_(std::move(at_hand)) {}

  // The next chunk, at least one item; false at the end.
  bool read(std::vector<Item>& chunk) {
    chunk.clear();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    try {
      Item item;
      while (chunk.size() < kMost && (chunk.empty() || at_hand_()) && next_(item)) {
        chunk.push_back(std::move(item));
        item = {};
      }
    } catch (...) {
      if (chunk.empty()) throw;
      error_ = std::current_exception();
    }
    return !chunk.empty();
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::function<bool(Item&)> next_;
  std::function<bool()> at_hand_;
  std::exception_ptr error_;
};

}  // namespace regard::cli
