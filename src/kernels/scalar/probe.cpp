#include "kernels/probe.h"

#include <array>
#include <cstring>
#include <utility>

namespace smol::kernels {

namespace {

constexpr std::size_t kAccumulators = 8;
constexpr std::size_t kGroup = 64;

std::uint64_t read_all(std::span<const std::byte> bytes) noexcept {
  std::array<std::uint64_t, kGroup / sizeof(std::uint64_t)> sums{};
  for (std::size_t i = 0; i + kGroup <= bytes.size(); i += kGroup) {
    std::array<std::uint64_t, kGroup / sizeof(std::uint64_t)> loaded{};
    std::memcpy(loaded.data(), bytes.data() + i, kGroup);
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      sums[lane] |= loaded[lane];
    }
  }
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) {
    all |= sum;
  }
  return all;
}

[[gnu::always_inline]] inline void add_product(std::uint32_t& sum, std::uint32_t a,
                                               std::uint32_t& b) noexcept {
  sum += a * b;
  // Both may be anything from here on: no product is shared or moves out of the loop.
  asm volatile("" : "+r"(sum), "+r"(b));
}

// Each sum by its own constant index, or g++ 12 keeps them in memory.
template <std::size_t... kIndex>
std::uint64_t int8_products(std::size_t rounds, std::index_sequence<kIndex...> /*sums*/) noexcept {
  std::uint32_t sums[sizeof...(kIndex)] = {};
  std::uint32_t a = 3;
  std::uint32_t b = 5;
  asm volatile("" : "+r"(a));  // a constant is not multiplied with
  for (std::size_t round = 0; round < rounds; ++round) {
    (add_product(sums[kIndex], a, b), ...);
  }
  return (std::uint64_t{sums[kIndex]} + ...);
}

std::uint64_t int8_products(std::size_t rounds) noexcept {
  return int8_products(rounds, std::make_index_sequence<kAccumulators>{});
}

}  // namespace

const Probe& scalar_probe() noexcept {
  static constexpr Probe kProbe{.isa = "scalar",
                                .read_all = read_all,
                                .int8_products = int8_products,
                                .products_per_round = kAccumulators};
  return kProbe;
}

}  // namespace smol::kernels
