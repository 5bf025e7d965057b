// A team of threads that runs index ranges. The library starts no thread by itself: callers hand
// one in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace regard {

// `Threads(1)` is the caller alone and starts nothing.
class Threads {
 public:
  explicit Threads(int count = 1);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const noexcept { return count_; }

  // Runs task(i) for each 0 <= i < n, in any order, on the team (the caller is one of it), and
  // waits for all. Which thread runs which i is not fixed: tasks own what they write. The first
  // exception of a task reaches the caller after all others have ended. `worker` in task(i, worker)
  // is in [0, count) and no two tasks at once share one. Not re-entrant; one caller at a time.
  void run(std::int64_t n, const std::function<void(std::int64_t i, int worker)>& task);

 private:
  struct Team;
  int count_;
  std::unique_ptr<Team> team_;
};

}  // namespace regard
