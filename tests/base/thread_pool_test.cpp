#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace smol {
namespace {

TEST(ThreadPool, RunsOnceOnEachWorker) {
  for (const std::size_t threads : {1U, 2U, 5U}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<int> calls(threads, 0);
    pool.run([&](std::size_t worker) { ++calls[worker]; });
    EXPECT_EQ(calls, std::vector<int>(threads, 1));
  }
}

TEST(ThreadPool, RunWaitsForAllWorkers) {
  ThreadPool pool(4);
  std::size_t sum = 0;
  for (int step = 0; step < 500; ++step) {
    std::vector<std::size_t> parts(4, 0);
    pool.run([&](std::size_t worker) { parts[worker] = worker + 1; });
    sum += std::accumulate(parts.begin(), parts.end(), std::size_t{0});
  }
  EXPECT_EQ(sum, 5000U);
}

TEST(ThreadPool, ForEachHandsOutEveryIndexOnce) {
  ThreadPool pool(3);
  for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
    std::vector<int> calls(count, 0);
    pool.for_each(count, [&](std::size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
}

void expect_whole_ranges(ThreadPool& pool, std::size_t count) {
  constexpr std::size_t kLeast = 8;
  std::vector<int> calls(count, 0);
  std::atomic<bool> all_long{true};
  pool.for_ranges(count, kLeast, [&](std::size_t begin, std::size_t end) {
    all_long = all_long && (end - begin >= kLeast || end == count);
    for (std::size_t i = begin; i < end; ++i) {
      ++calls[i];
    }
  });
  EXPECT_EQ(calls, std::vector<int>(count, 1));
  EXPECT_TRUE(all_long);
}

TEST(ThreadPool, ForRangesHandsOutEveryIndexOnceAndNoRangeBelowTheLeastButTheLast) {
  for (const std::size_t threads : {1U, 3U}) {
    ThreadPool pool(threads);
    for (const std::size_t count : {0U, 1U, 7U, 8U, 1000U}) {
      expect_whole_ranges(pool, count);
    }
  }
}

TEST(ThreadPool, StepsSeeWhatEarlierStepsWrote) {
  ThreadPool pool(4);
  std::vector<int> values(64, 0);
  for (int step = 0; step < 200; ++step) {
    // Each index writes what another worker may have written before.
    pool.for_each(values.size(), [&](std::size_t i) { values[i] = values[i] + 1; });
  }
  EXPECT_EQ(values, std::vector<int>(64, 200));
}

TEST(ThreadPool, EndsWithoutEverHavingWorked) {
  const ThreadPool pool(3);
  EXPECT_EQ(pool.size(), 3U);
}

TEST(DefaultThreadCount, IsAtLeastOne) {
  EXPECT_GE(default_thread_count(), 1U);
}

}  // namespace
}  // namespace smol
