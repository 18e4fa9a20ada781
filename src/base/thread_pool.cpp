#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/cpu_info.h"
#include "base/error.h"

namespace smol {

namespace {

// About the time between two steps of one token: longer waits belong to the kernel.
constexpr std::chrono::microseconds kSpin{30};
constexpr int kPausesPerClockRead = 32;

void pause_core() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A short spin; true as soon as `value` differs from `old`.
bool changes_soon(const std::atomic<std::uint32_t>& value, std::uint32_t old) noexcept {
  for (int i = 0; i < kPausesPerClockRead; ++i) {
    if (value.load(std::memory_order_acquire) != old) {
      return true;
    }
    pause_core();
  }
  return false;
}

// How many threads can run all the time. More of them must not spin: one that waits would only keep
// another from working, or use up the quota of all.
std::size_t usable_cpus(const CpuInfo& info) noexcept {
  const std::size_t quota =
      info.cpu_quota ? static_cast<std::size_t>(*info.cpu_quota) : info.allowed_cpus;
  return std::min(info.allowed_cpus, quota);
}

// Spins for at most `limit`, then sleeps until `value` differs from `old`.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                     std::chrono::microseconds limit) noexcept {
  if (limit.count() > 0) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    do {
      if (changes_soon(value, old)) {
        return;
      }
    } while (std::chrono::steady_clock::now() < deadline);
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

struct ThreadPool::State {
  static constexpr std::size_t kLine = 64;

  alignas(kLine) std::atomic<std::uint32_t> epoch{0};  // one more for each step
  // Written by the caller while no step runs; `epoch` publishes them.
  bool stopping = false;
  const std::function<void(std::size_t)>* work = nullptr;
  std::chrono::microseconds spin{0};
  std::vector<std::thread> workers;

  alignas(kLine) std::atomic<std::uint32_t> busy{0};  // workers still in the step
  alignas(kLine) std::atomic<std::size_t> next{0};    // the next index to hand out

  void serve(std::size_t worker) noexcept {
    for (std::uint32_t seen = 0;; ++seen) {
      wait_for_change(epoch, seen, spin);
      if (stopping) {
        return;
      }
      (*work)(worker);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        busy.notify_one();
      }
    }
  }

  void start_step() noexcept {
    busy.store(static_cast<std::uint32_t>(workers.size()), std::memory_order_relaxed);
    epoch.fetch_add(1, std::memory_order_release);
    epoch.notify_all();
  }

  void wait_until_idle() noexcept {
    for (std::uint32_t left = busy.load(std::memory_order_acquire); left != 0;
         left = busy.load(std::memory_order_acquire)) {
      wait_for_change(busy, left, spin);
    }
  }

  void stop() noexcept {
    stopping = true;
    epoch.fetch_add(1, std::memory_order_release);
    epoch.notify_all();
    for (std::thread& worker : workers) {
      worker.join();
    }
  }
};

ThreadPool::ThreadPool(std::size_t n_threads) : state_(std::make_unique<State>()) {
  SMOL_CHECK(n_threads >= 1);
  if (n_threads <= usable_cpus(query_cpu_info())) {
    state_->spin = kSpin;
  }
  state_->workers.reserve(n_threads - 1);
  try {
    for (std::size_t worker = 1; worker < n_threads; ++worker) {
      state_->workers.emplace_back([state = state_.get(), worker] { state->serve(worker); });
    }
  } catch (const std::system_error& error) {
    const std::size_t n_started = state_->workers.size() + 1;
    state_->stop();
    throw Error(ErrorCode::Exhausted, "threads: expected " + std::to_string(n_threads) +
                                          ", found " + std::to_string(n_started) + ": " +
                                          error.what());
  }
}

ThreadPool::~ThreadPool() {
  state_->stop();
}

std::size_t ThreadPool::size() const noexcept {
  return state_->workers.size() + 1;
}

void ThreadPool::run(const std::function<void(std::size_t)>& work) {
  if (state_->workers.empty()) {
    work(0);
    return;
  }
  state_->work = &work;
  state_->start_step();
  work(0);
  state_->wait_until_idle();
}

void ThreadPool::for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count <= 1 || state_->workers.empty()) {
    for (std::size_t i = 0; i < count; ++i) {
      work(i);
    }
    return;
  }
  state_->next.store(0, std::memory_order_relaxed);
  const auto take_all = [state = state_.get(), count, &work](std::size_t) {
    for (std::size_t i = state->next.fetch_add(1, std::memory_order_relaxed); i < count;
         i = state->next.fetch_add(1, std::memory_order_relaxed)) {
      work(i);
    }
  };
  run(std::cref(take_all));
}

void ThreadPool::for_ranges(std::size_t count, std::size_t least,
                            const std::function<void(std::size_t, std::size_t)>& work) {
  if (count <= least || state_->workers.empty()) {
    if (count > 0) {
      work(0, count);
    }
    return;
  }
  state_->next.store(0, std::memory_order_relaxed);
  const std::size_t parts = 2 * size();
  const auto take_all = [state = state_.get(), count, least, parts, &work](std::size_t) {
    std::size_t begin = state->next.load(std::memory_order_relaxed);
    while (begin < count) {
      const std::size_t end = std::min(begin + std::max((count - begin) / parts, least), count);
      if (state->next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) {
        work(begin, end);
        begin = state->next.load(std::memory_order_relaxed);
      }
    }
  };
  run(std::cref(take_all));
}

std::size_t default_thread_count() {
  const CpuInfo info = query_cpu_info();
  return std::max<std::size_t>(std::min(info.physical_cores, usable_cpus(info)), 1);
}

}  // namespace smol
