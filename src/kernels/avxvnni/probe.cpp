#include "kernels/probe.h"

#include <immintrin.h>

#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("avx2,avxvnni,fma,f16c")

namespace smol::kernels {

namespace {

constexpr std::size_t kSums = 12;  // more than latency times throughput

std::uint64_t int8_products(std::size_t rounds) noexcept {
  __m256i sums[kSums] = {};
  __m256i a = _mm256_set1_epi8(3);
  __m256i b = _mm256_set1_epi8(5);
  for (std::size_t round = 0; round < rounds; ++round) {
    // The operands may be anything from here on: no product is shared or moves out of the loop.
    asm volatile("" : "+x"(a), "+x"(b));
    for (__m256i& sum : sums) {
      sum = _mm256_dpbusd_avx_epi32(sum, a, b);
    }
  }
  __m256i all = sums[0];
  for (const __m256i& sum : sums) {
    all = _mm256_or_si256(all, sum);
  }
  const __m128i half = _mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  return static_cast<std::uint64_t>(_mm_extract_epi64(half, 0)) |
         static_cast<std::uint64_t>(_mm_extract_epi64(half, 1));
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
