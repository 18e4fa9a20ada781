// Wakes a thread that waits, from any other: a ring is never lost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace smol::engine {

class Bell {
 public:
  using Clock = std::chrono::steady_clock;

  void ring() noexcept {
    const std::lock_guard lock(mutex_);
    rung_ = true;
    rang_.notify_one();
  }

  // Returns after a ring since the last call, or at `until`; without one, only after a ring.
  void wait(std::optional<Clock::time_point> until) {
    std::unique_lock lock(mutex_);
    const auto rung = [this] { return rung_; };
    if (until) {
      rang_.wait_until(lock, *until, rung);
    } else {
      rang_.wait(lock, rung);
    }
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable rang_;
  bool rung_ = false;
};

}  // namespace smol::engine
