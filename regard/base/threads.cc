#include "regard/base/threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace regard {

// Workers sleep between jobs. A job is a shared counter of indices; the caller works too and then
// waits until every worker has left the job, so that nothing of it outlives run().
struct Threads::Team {
  std::mutex mutex;
  std::condition_variable start, done;
  std::uint64_t generation = 0;
  bool stop = false;
  int busy = 0;
  std::int64_t size = 0;
  std::atomic<std::int64_t> next{0};
  const std::function<void(std::int64_t, int)>* task = nullptr;
  std::exception_ptr error;
  std::vector<std::thread> workers;

  void work(int worker) {
    for (;;) {
      const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= size) return;
      try {
        (*task)(i, worker);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  }

  void loop(int worker) {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      start.wait(lock, [&] { return stop || generation != seen; });
      if (stop) return;
      seen = generation;
      lock.unlock();
      work(worker);
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }

  void shut_down() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stop = true;
    }
    start.notify_all();
    for (std::thread& t : workers) t.join();
  }
};

Threads::Threads(int count) : count_(std::max(count, 1)) {
  if (count_ == 1) return;
  team_ = std::make_unique<Team>();
  try {
    for (int i = 1; i < count_; ++i) {
      team_->workers.emplace_back([team = team_.get(), i] { team->loop(i); });
    }
  } catch (...) {
    team_->shut_down();
    throw;
  }
}

Threads::~Threads() {
  if (team_) team_->shut_down();
}

void Threads::run(std::int64_t n, const std::function<void(std::int64_t, int)>& task) {
  if (!team_ || n <= 1) {
    std::exception_ptr error;
    for (std::int64_t i = 0; i < n; ++i) {
      try {
        task(i, 0);
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
  Team& team = *team_;
  {
    std::lock_guard<std::mutex> lock(team.mutex);
    team.task = &task;
    team.size = n;
    team.next.store(0, std::memory_order_relaxed);
    team.error = nullptr;
    team.busy = count_ - 1;
    ++team.generation;
  }
  team.start.notify_all();
  team.work(0);
  std::unique_lock<std::mutex> lock(team.mutex);
  team.done.wait(lock, [&] { return team.busy == 0; });
  if (team.error) std::rethrow_exception(team.error);
}

}  // namespace regard
