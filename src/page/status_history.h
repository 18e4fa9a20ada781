// The last two minutes of the machine, for the graphs of the status page: counts of the engine,
// from which /metrics tells the same, and the program's memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "chat/assistant.h"

namespace smol::page {

// Any thread.
class StatusHistory {
 public:
  using Clock = std::chrono::steady_clock;

  struct Sample {
    double generated_per_second = 0, read_per_second = 0;
    double memory_bytes = 0;
  };

  // The stretch since the last note, if that is at least half a second ago.
  void note(Clock::time_point now, const chat::AssistantStats& stats, std::uint64_t memory_bytes);
  // The oldest first.
  std::vector<Sample> samples() const;

  Clock::time_point began() const noexcept { return began_; }

 private:
  static constexpr std::size_t kMost = 60;

  const Clock::time_point began_ = Clock::now();
  mutable std::mutex mutex_;
  std::deque<Sample> samples_;
  Clock::time_point noted_{};
  std::uint64_t generated_ = 0, read_ = 0;
};

}  // namespace smol::page
