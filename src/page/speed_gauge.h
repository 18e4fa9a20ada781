// Tokens a second, over the last two seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <utility>

namespace smol::page {

// One thread at a time.
class SpeedGauge {
 public:
  using Clock = std::chrono::steady_clock;

  // `tokens`: all so far.
  void note(Clock::time_point now, std::int64_t tokens) {
    samples_.emplace_back(now, tokens);
    while (samples_.size() > 2 && now - samples_.front().first > std::chrono::seconds(2)) {
      samples_.pop_front();
    }
  }

  // 0 where too little was noted.
  double tokens_per_second() const {
    if (samples_.size() < 2) {
      return 0;
    }
    const auto& [begin, before] = samples_.front();
    const auto& [end, after] = samples_.back();
    const std::chrono::duration<double> time = end - begin;
    return time.count() > 0 ? static_cast<double>(after - before) / time.count() : 0;
  }

  void reset() { samples_.clear(); }

 private:
  std::deque<std::pair<Clock::time_point, std::int64_t>> samples_;
};

}  // namespace smol::page
