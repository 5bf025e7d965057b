#include "regard/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace regard {
namespace {

TEST(Threads, EveryIndexRunsOnce) {
  for (const int count : {1, 2, 3, 8}) {
    Threads threads(count);
    for (const std::int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
      threads.run(n, [&](std::int64_t i, int) { ++runs[static_cast<std::size_t>(i)]; });
      for (const auto& r : runs) EXPECT_EQ(r, 1) << count << " threads, " << n << " indices";
    }
  }
}

TEST(Threads, AJobSeesWhatTheOneBeforeWrote) {
  Threads threads(3);
  std::vector<std::int64_t> values(500, 0);
  for (int round = 0; round < 200; ++round) {
    threads.run(500, [&](std::int64_t i, int) {
      // Read what another thread may have written in the last round; write only our own.
      values[static_cast<std::size_t>(i)] += 1;
    });
    std::int64_t sum = 0;
    for (const std::int64_t v : values) sum += v;
    ASSERT_EQ(sum, 500 * (round + 1));
  }
}

TEST(Threads, OneWorkerNumberIsNeverUsedByTwoTasksAtOnce) {
  Threads threads(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> worst{0};
  threads.run(400, [&](std::int64_t, int worker) {
    ASSERT_GE(worker, 0);
    ASSERT_LT(worker, 4);
    const int now = ++busy[static_cast<std::size_t>(worker)];
    if (now > 1) worst = now;
    std::this_thread::yield();
    --busy[static_cast<std::size_t>(worker)];
  });
  EXPECT_EQ(worst, 0);
}

TEST(Threads, TasksReallyRunAtTheSameTime) {
  Threads threads(2);
  std::atomic<int> arrived{0};
  // Each waits for the other: one thread alone would never end.
  threads.run(2, [&](std::int64_t, int) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Threads, OneIsTheCallerAlone) {
  Threads threads;
  EXPECT_EQ(threads.count(), 1);
  threads.run(5, [caller = std::this_thread::get_id()](std::int64_t, int worker) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(worker, 0);
  });
}

TEST(Threads, FewerThanOneIsOne) {
  EXPECT_EQ(Threads(0).count(), 1);
  EXPECT_EQ(Threads(-3).count(), 1);
}

TEST(Threads, AnExceptionArrivesAfterAllTasksAndTheTeamGoesOn) {
  for (const int count : {1, 3}) {
    Threads threads(count);
    std::atomic<int> runs{0};
    try {
      threads.run(50, [&](std::int64_t i, int) {
        ++runs;
        if (i % 10 == 3) throw std::runtime_error("task " + std::to_string(i));
      });
      FAIL() << "no exception with " << count << " threads";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 5), "task ");
    }
    EXPECT_EQ(runs, 50);
    runs = 0;
    threads.run(20, [&](std::int64_t, int) { ++runs; });
    EXPECT_EQ(runs, 20);
  }
}

TEST(Threads, TwoTeamsWorkSideBySide) {
  std::atomic<std::int64_t> sum{0};
  Threads outer(2);
  outer.run(2, [&](std::int64_t, int) {
    Threads inner(2);
    inner.run(100, [&](std::int64_t i, int) { sum += i; });
  });
  EXPECT_EQ(sum, 2 * 4950);
}

}  // namespace
}  // namespace regard
