// How many tokens of a prompt one step takes: large for speed, but so that a step ends within about
// 0.2 s, as cancelling and progress wait for its end.
#pragma once

#include <chrono>
#include <cstddef>

namespace smol::engine {

class ChunkSize {
 public:
  // `fixed` 0: chosen from the measured speed. Requires: max >= 1.
  ChunkSize(std::size_t fixed, std::size_t max) noexcept;

  std::size_t size() const noexcept { return size_; }

  // A step of `n_tokens` took this long.
  void took(std::size_t n_tokens, std::chrono::nanoseconds time) noexcept;

 private:
  bool fixed_;
  std::size_t max_;
  std::size_t size_;
};

}  // namespace smol::engine
