#include "kernels/probe.h"

#include <immintrin.h>
#include <utility>

#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("avx2,avxvnni,fma,f16c")

namespace smol::kernels {

namespace {

constexpr std::size_t kSums = 12;  // more than latency times throughput, which 10 would be

[[gnu::always_inline]] inline void add_products(__m256i& sum, __m256i a, __m256i b) noexcept {
  sum = _mm256_dpbusd_avx_epi32(sum, a, b);
  // It may be anything from here on: the sums stay apart, and none is computed by algebra.
  asm volatile("" : "+x"(sum));
}

// Each sum by its own constant index, or g++ 12 keeps them in memory.
template <std::size_t... kIndex>
std::uint64_t int8_products(std::size_t rounds, std::index_sequence<kIndex...> /*sums*/) noexcept {
  __m256i sums[sizeof...(kIndex)] = {};
  const __m256i a = _mm256_set1_epi8(3);
  const __m256i b = _mm256_set1_epi8(5);
  for (std::size_t round = 0; round < rounds; ++round) {
    (add_products(sums[kIndex], a, b), ...);
  }
  __m256i all = _mm256_setzero_si256();
  ((all = _mm256_or_si256(all, sums[kIndex])), ...);
  const __m128i half = _mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  return static_cast<std::uint64_t>(_mm_extract_epi64(half, 0)) |
         static_cast<std::uint64_t>(_mm_extract_epi64(half, 1));
}

std::uint64_t int8_products(std::size_t rounds) noexcept {
  return int8_products(rounds, std::make_index_sequence<kSums>{});
}

}  // namespace

const Probe& avxvnni_probe() noexcept {
  static const Probe kProbe{.isa = "avxvnni",
                            .read_all = avx2_probe().read_all,
                            .int8_products = int8_products,
                            .products_per_round = kSums * 32};
  return kProbe;
}

}  // namespace smol::kernels

SMOL_TARGET_END
