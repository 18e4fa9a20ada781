#include "kernels/probe.h"

#include <array>
#include <immintrin.h>
#include <utility>

#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace smol::kernels {

namespace {

constexpr std::size_t kGroup = 64;

std::uint64_t or_of_lanes(__m512i x) noexcept {
  std::array<std::uint64_t, 8> lanes{};
  _mm512_storeu_si512(lanes.data(), x);
  std::uint64_t all = 0;
  for (const std::uint64_t lane : lanes) {
    all |= lane;
  }
  return all;
}

std::uint64_t read_all(std::span<const std::byte> bytes) noexcept {
  __m512i even = _mm512_setzero_si512();
  __m512i odd = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 2 * kGroup <= bytes.size(); i += 2 * kGroup) {
    even = _mm512_or_si512(even, _mm512_loadu_si512(bytes.data() + i));
    odd = _mm512_or_si512(odd, _mm512_loadu_si512(bytes.data() + i + kGroup));
  }
  if (i + kGroup <= bytes.size()) {
    even = _mm512_or_si512(even, _mm512_loadu_si512(bytes.data() + i));
  }
  return or_of_lanes(_mm512_or_si512(even, odd));
}

constexpr std::size_t kSums = 16;  // more than latency times throughput, which 10 would be

[[gnu::always_inline]] inline void add_products(__m512i& sum, __m512i a, __m512i b) noexcept {
  sum = _mm512_dpbusd_epi32(sum, a, b);
  // It may be anything from here on: the sums stay apart, and none is computed by algebra.
  asm volatile("" : "+v"(sum));
}

// Each sum by its own constant index, or g++ 12 keeps them in memory.
template <std::size_t... kIndex>
std::uint64_t int8_products(std::size_t rounds, std::index_sequence<kIndex...> /*sums*/) noexcept {
  __m512i sums[sizeof...(kIndex)] = {};
  const __m512i a = _mm512_set1_epi8(3);
  const __m512i b = _mm512_set1_epi8(5);
  for (std::size_t round = 0; round < rounds; ++round) {
    (add_products(sums[kIndex], a, b), ...);
  }
  __m512i all = _mm512_setzero_si512();
  ((all = _mm512_or_si512(all, sums[kIndex])), ...);
  return or_of_lanes(all);
}

std::uint64_t int8_products(std::size_t rounds) noexcept {
  return int8_products(rounds, std::make_index_sequence<kSums>{});
}

}  // namespace

const Probe& avx512_probe() noexcept {
  static constexpr Probe kProbe{.isa = "avx512",
                                .read_all = read_all,
                                .int8_products = int8_products,
                                .products_per_round = kSums * 64};
  return kProbe;
}

}  // namespace smol::kernels

SMOL_TARGET_END
