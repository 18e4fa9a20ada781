#include "engine/step_speed.h"

#include <algorithm>

namespace smol::engine {
namespace {

constexpr std::size_t kFirstChunk = 16;  // before the speed is known
constexpr std::size_t kStep = 16;        // kernels work on blocks of tokens
constexpr std::size_t kLeastChunk = 4;   // beside answers
constexpr double kAloneSeconds = 1.0;    // of a step that only reads one prompt
constexpr double kSharedSeconds = 0.4;   // of a step of several requests
constexpr double kShare = 0.9;           // of a step's time that reading may add to it
constexpr double kShareOfMore = 0.05;    // for each request beyond two
constexpr double kForget = 0.95;         // weight of the time before, a step later
constexpr double kReadingFollows = 0.3;  // weight of the latest speed of reading
// A guess where only one number of tokens was seen: what one token more adds to a step.
constexpr double kAssumedSlope = 0.05;
constexpr double kGuessWeight = 0.05;
constexpr double kGuessDistance = 8;

std::size_t whole(double tokens) noexcept {
  constexpr double kMost = 1 << 20;
  return static_cast<std::size_t>(std::clamp(tokens, 0.0, kMost));
}

}  // namespace

void StepSpeed::Line::add(double tokens, double seconds) noexcept {
  weight = weight * kForget + 1;
  n = n * kForget + tokens;
  nn = nn * kForget + tokens * tokens;
  t = t * kForget + seconds;
  nt = nt * kForget + tokens * seconds;
}

// Least squares, with one guess added at some distance so that the slope is always defined.
double StepSpeed::Line::at(double tokens) const noexcept {
  if (weight == 0) {
    return 0;
  }
  const double mean_n = n / weight;
  const double mean_t = t / weight;
  const double base = mean_t / (1 + kAssumedSlope * mean_n);
  const double spread = std::max(nn / weight - mean_n * mean_n, 0.0);
  const double together = nt / weight - mean_n * mean_t;
  const double guess = kGuessWeight * kGuessDistance * kGuessDistance / weight;
  const double slope = (together + guess * kAssumedSlope * base) / (spread + guess);
  return std::max(mean_t + std::max(slope, 0.0) * (tokens - mean_n), mean_t * kAssumedSlope);
}

void StepSpeed::took(std::size_t n_writing, std::size_t n_reading,
                     std::chrono::nanoseconds time) noexcept {
  const double seconds = std::max(1e-9, std::chrono::duration<double>(time).count());
  if (n_reading == 0) {
    writing_.add(static_cast<double>(n_writing), seconds);
    return;
  }
  const double rest = n_writing == 0 ? seconds : seconds - writing_seconds(n_writing);
  const double per_token = std::max(rest, seconds * 0.05) / static_cast<double>(n_reading);
  reading_seconds_ = reading_seconds_ == 0
                         ? per_token
                         : reading_seconds_ * (1 - kReadingFollows) + per_token * kReadingFollows;
}

std::size_t StepSpeed::chunk(std::size_t n_prompts, std::size_t n_answers,
                             std::size_t n_writing) const noexcept {
  if (reading_seconds_ == 0) {
    return kFirstChunk;
  }
  if (n_writing == 0) {
    const double target = n_prompts == 1 ? kAloneSeconds : kSharedSeconds;
    return std::max(whole(target / reading_seconds_) / kStep, std::size_t{1}) * kStep;
  }
  const double writing = writing_seconds(n_writing);
  const double share = kShare + kShareOfMore * static_cast<double>(n_prompts + n_answers - 2);
  const double allowed = std::min(share * writing, std::max(kSharedSeconds - writing, 0.0));
  return std::max(whole(allowed / reading_seconds_), kLeastChunk);
}

double StepSpeed::writing_seconds(std::size_t n_writing) const noexcept {
  return writing_.at(static_cast<double>(n_writing));
}

double StepSpeed::relative_cost(std::size_t base, std::size_t n) const noexcept {
  const double before = writing_seconds(base);
  if (before == 0) {
    return 1 + kAssumedSlope * static_cast<double>(n - base);
  }
  return std::max(writing_seconds(n) / before, 1.0);
}

}  // namespace smol::engine
