// xoshiro256** (Blackman and Vigna 2018, arXiv:1805.01407), its state filled by splitmix64 from the
// seed.
#pragma once

#include <array>
#include <cstdint>

namespace smol::engine {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept;
  std::uint64_t next() noexcept;
  // Uniform in [0, 1): the upper 53 bits of next().
  double uniform() noexcept;

 private:
  std::array<std::uint64_t, 4> state_{};
};

// A seed from the system's entropy.
std::uint64_t random_seed();

}  // namespace smol::engine
