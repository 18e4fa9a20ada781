#include "server/metrics.h"

#include <algorithm>

#include "base/check.h"
#include "base/json.h"
#include "base/resident_memory.h"

namespace smol::server {
namespace {

constexpr std::array<double, 14> kFirstTokenBounds{0.05, 0.1, 0.2, 0.5, 1,   2,   5,
                                                   10,   20,  30,  60,  120, 300, 600};
constexpr std::array<double, 12> kBetweenBounds{0.005, 0.01, 0.02, 0.03, 0.05, 0.075,
                                                0.1,   0.15, 0.25, 0.5,  1,    5};
constexpr std::array<double, 12> kQueueBounds{0.001, 0.01, 0.05, 0.1, 0.5, 1,
                                              5,     10,   30,   60,  120, 300};

std::string value_text(double value) {
  return Json(value).dump();
}

std::string headed(std::string_view name, std::string_view help, std::string_view type) {
  const std::string full = "smolbot_" + std::string(name);
  return "# HELP " + full + " " + std::string(help) + "\n# TYPE " + full + " " + std::string(type) +
         "\n";
}

std::string single(std::string_view name, std::string_view help, double value) {
  const std::string_view type = name.ends_with("_total") ? "counter" : "gauge";
  return headed(name, help, type) + "smolbot_" + std::string(name) + " " + value_text(value) + "\n";
}

struct Line {
  std::string_view name, help;
  double value;
};

std::string stats_text(const chat::AssistantStats& stats) {
  const auto real = [](auto value) { return static_cast<double>(value); };
  const std::array<Line, 17> lines{{
      {"turns_running", "Turns that are read or answered.", real(stats.running)},
      {"turns_waiting", "Turns in the queue.", real(stats.waiting)},
      {"turns_paused", "Turns that were paused.", real(stats.paused)},
      {"kv_bytes", "Bytes of keys and values in use.", real(stats.kv_bytes)},
      {"kv_bytes_max", "Bytes of keys and values there may be.", real(stats.kv_bytes_max)},
      {"prefix_cache_bytes", "Of kv_bytes, those kept for later prompts only.",
       real(stats.cached_prefix_bytes)},
      {"prompt_tokens_total", "Tokens of prompts.", real(stats.prompt_tokens)},
      {"cached_tokens_total", "Of the prompts' tokens, those not computed again.",
       real(stats.cached_tokens)},
      {"generated_tokens_total", "Tokens of answers.", real(stats.generated_tokens)},
      {"computed_tokens_total", "Tokens that went through the model, drafts included.",
       real(stats.computed_tokens)},
      {"drafted_tokens_total", "Tokens drafted by prompt lookup.", real(stats.drafted_tokens)},
      {"accepted_tokens_total", "Of the drafted tokens, those kept.", real(stats.accepted_tokens)},
      {"turns_finished_total", "Turns that came to their end.", real(stats.finished)},
      {"turns_cancelled_total", "Turns that were cancelled.", real(stats.cancelled)},
      {"turns_failed_total", "Turns that failed.", real(stats.failed)},
      {"prompt_tokens_per_second", "Speed of reading, lately.", stats.prompt_tokens_per_second},
      {"generated_tokens_per_second",
       "Speed of the steps that write, lately, without the pauses between them.",
       stats.generated_tokens_per_second},
  }};
  std::string out;
  for (const Line& line : lines) {
    out += single(line.name, line.help, line.value);
  }
  return out;
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds) : bounds_(bounds) {
  SMOL_CHECK(bounds.size() < kMostBuckets);
}

void Histogram::observe(std::chrono::nanoseconds value) noexcept {
  const double seconds = std::chrono::duration<double>(value).count();
  const auto bucket = std::ranges::lower_bound(bounds_, seconds) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(value.count(), std::memory_order_relaxed);
}

std::string Histogram::text(std::string_view name, std::string_view help) const {
  const std::string full = "smolbot_" + std::string(name);
  std::string out = headed(name, help, "histogram");
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= bounds_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    const std::string bound = i < bounds_.size() ? value_text(bounds_[i]) : "+Inf";
    out.append(full).append("_bucket{le=\"").append(bound).append("\"} ");
    out.append(std::to_string(total)).append("\n");
  }
  const auto sum = std::chrono::nanoseconds(sum_ns_.load(std::memory_order_relaxed));
  out += full + "_sum " + value_text(std::chrono::duration<double>(sum).count()) + "\n";
  return out + full + "_count " + std::to_string(total) + "\n";
}

Metrics::Metrics()
    : time_to_first_token(kFirstTokenBounds),
      time_between_tokens(kBetweenBounds),
      queue_wait(kQueueBounds),
      started_(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
                   .count()) {}

void Metrics::count_request(std::string_view route, int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
}

std::string Metrics::text(const chat::AssistantStats* stats) const {
  std::string out = headed("requests_total", "Requests by route and status.", "counter");
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, count] : requests_) {
      out += "smolbot_requests_total{route=\"" + key.first + "\",status=\"" +
             std::to_string(key.second) + "\"} " + std::to_string(count) + "\n";
    }
  }
  out += single("connections", "Open connections.", static_cast<double>(connections.load()));
  out += single("clients_left_total", "Clients that left before their answer ended.",
                static_cast<double>(clients_left.load()));
  out += single("slow_readers_total", "Clients dropped since they did not read.",
                static_cast<double>(slow_readers.load()));
  out += single("start_time_seconds", "When the server started, in seconds since 1970.", started_);
  out += single("resident_memory_bytes", "Memory that the program holds.",
                static_cast<double>(resident_bytes()));
  out += time_to_first_token.text("time_to_first_token_seconds",
                                  "From the start of a turn to its first token.");
  out +=
      time_between_tokens.text("time_between_tokens_seconds", "Between two pieces of an answer.");
  out += queue_wait.text("queue_wait_seconds", "From the start of a turn to its first step.");
  return stats == nullptr ? out : out + stats_text(*stats);
}

void TurnMeter::token() noexcept {
  const auto now = std::chrono::steady_clock::now();
  const bool is_first = last_ == std::chrono::steady_clock::time_point{};
  (is_first ? metrics_.time_to_first_token : metrics_.time_between_tokens)
      .observe(now - (is_first ? begin_ : last_));
  last_ = now;
}

void TurnMeter::finished(const chat::TurnUsage& usage) noexcept {
  metrics_.queue_wait.observe(usage.queue_time);
}

}  // namespace smol::server
