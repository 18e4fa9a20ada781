#include "kernels/probe.h"

#include <array>
#include <cstring>

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

std::uint64_t int8_products(std::size_t rounds) noexcept {
  std::array<std::int32_t, kAccumulators> sums{};
  std::int32_t a = 3;
  std::int32_t b = 5;
  for (std::size_t round = 0; round < rounds; ++round) {
    // The operands may be anything from here on: nothing moves out of the loop.
    asm volatile("" : "+r"(a), "+r"(b));
    for (std::int32_t& sum : sums) {
      sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                      static_cast<std::uint32_t>(a * b));
      asm volatile("" : "+r"(sum));
    }
  }
  std::uint64_t all = 0;
  for (const std::int32_t sum : sums) {
    all += static_cast<std::uint32_t>(sum);
  }
  return all;
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
