// What the server measures, and the text in which Prometheus reads it (exposition format 0.0.4).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "chat/assistant.h"

namespace smol::server {

// Any thread.
class Histogram {
 public:
  // Upper bounds in seconds, ascending; a last bucket without a bound is added. They must outlive
  // it.
  explicit Histogram(std::span<const double> bounds);

  void observe(std::chrono::nanoseconds value) noexcept;
  std::string text(std::string_view name, std::string_view help) const;

 private:
  static constexpr std::size_t kMostBuckets = 20;

  std::span<const double> bounds_;
  std::array<std::atomic<std::uint64_t>, kMostBuckets> counts_{};
  std::atomic<std::int64_t> sum_ns_{0};
};

// Any thread.
class Metrics {
 public:
  Metrics();

  void count_request(std::string_view route, int status);
  // `stats`: nothing while the model is loaded.
  std::string text(const chat::AssistantStats* stats) const;

  Histogram time_to_first_token, time_between_tokens, queue_wait;
  std::atomic<std::int64_t> connections{0};
  std::atomic<std::uint64_t> clients_left{0}, slow_readers{0};

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;  // by route and status
  double started_;                                                 // seconds since 1970
};

// The times of one turn: on the thread that its events come on.
class TurnMeter {
 public:
  explicit TurnMeter(Metrics& metrics)
      : metrics_(metrics), begin_(std::chrono::steady_clock::now()) {}

  void token() noexcept;
  void finished(const chat::TurnUsage& usage) noexcept;

 private:
  Metrics& metrics_;
  std::chrono::steady_clock::time_point begin_, last_{};
};

}  // namespace smol::server
