#include "page/status_history.h"

namespace smol::page {
namespace {

constexpr std::chrono::milliseconds kShortest{500};
constexpr std::chrono::seconds kLongest{10};  // a longer gap says nothing of now

}  // namespace

void StatusHistory::note(Clock::time_point now, const chat::AssistantStats& stats,
                         std::uint64_t memory_bytes) {
  const std::lock_guard lock(mutex_);
  const Clock::duration gap = now - noted_;
  if (gap < kShortest) {
    return;
  }
  const std::uint64_t read = stats.prompt_tokens - stats.cached_tokens;
  Sample sample;
  sample.memory_bytes = static_cast<double>(memory_bytes);
  if (gap < kLongest) {
    const double seconds = std::chrono::duration<double>(gap).count();
    sample.generated_per_second =
        static_cast<double>(stats.generated_tokens - generated_) / seconds;
    sample.read_per_second = read > read_ ? static_cast<double>(read - read_) / seconds : 0;
  }
  noted_ = now;
  generated_ = stats.generated_tokens;
  read_ = read;
  samples_.push_back(sample);
  if (samples_.size() > kMost) {
    samples_.pop_front();
  }
}

std::vector<StatusHistory::Sample> StatusHistory::samples() const {
  const std::lock_guard lock(mutex_);
  return {samples_.begin(), samples_.end()};
}

}  // namespace smol::page
