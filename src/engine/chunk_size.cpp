#include "engine/chunk_size.h"

#include <algorithm>

namespace smol::engine {
namespace {

constexpr std::size_t kFirst = 16;  // before the speed is known
constexpr std::size_t kStep = 16;   // sizes are multiples: kernels work on blocks of tokens
constexpr std::chrono::nanoseconds kTarget = std::chrono::milliseconds(200);

}  // namespace

ChunkSize::ChunkSize(std::size_t fixed, std::size_t max) noexcept
    : fixed_(fixed != 0), max_(max), size_(std::min(fixed != 0 ? fixed : kFirst, max)) {}

void ChunkSize::took(std::size_t n_tokens, std::chrono::nanoseconds time) noexcept {
  if (fixed_) {
    return;
  }
  const double seconds = std::max(1e-9, std::chrono::duration<double>(time).count());
  const double target = std::chrono::duration<double>(kTarget).count();
  const double wanted = static_cast<double>(n_tokens) / seconds * target;
  const double limited = std::min(wanted, static_cast<double>(max_));
  const auto rounded = static_cast<std::size_t>(limited) / kStep * kStep;
  size_ = std::clamp(rounded, std::min(kStep, max_), max_);
}

}  // namespace smol::engine
