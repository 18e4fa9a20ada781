#include "kernels/probe.h"

#include <immintrin.h>

#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace smol::kernels {

namespace {

constexpr std::size_t kGroup = 64;

std::uint64_t or_of_lanes(__m256i x) noexcept {
  const __m128i half = _mm_or_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  return static_cast<std::uint64_t>(_mm_extract_epi64(half, 0)) |
         static_cast<std::uint64_t>(_mm_extract_epi64(half, 1));
}

std::uint64_t read_all(std::span<const std::byte> bytes) noexcept {
  __m256i low = _mm256_setzero_si256();
  __m256i high = _mm256_setzero_si256();
  for (std::size_t i = 0; i + kGroup <= bytes.size(); i += kGroup) {
    const auto* group = reinterpret_cast<const __m256i*>(bytes.data() + i);
    low = _mm256_or_si256(low, _mm256_loadu_si256(group));
    high = _mm256_or_si256(high, _mm256_loadu_si256(group + 1));
  }
  return or_of_lanes(_mm256_or_si256(low, high));
}

// Without VNNI: products in pairs, four of which (of codes of at most five bits) are added as int16
// before they become int32.
__m256i add_products(__m256i sum, const __m256i (&a)[4], __m256i b) noexcept {
  const __m256i low =
      _mm256_add_epi16(_mm256_maddubs_epi16(a[0], b), _mm256_maddubs_epi16(a[1], b));
  const __m256i high =
      _mm256_add_epi16(_mm256_maddubs_epi16(a[2], b), _mm256_maddubs_epi16(a[3], b));
  const __m256i pairs = _mm256_add_epi16(low, high);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

std::uint64_t int8_products(std::size_t rounds) noexcept {
  __m256i s0 = _mm256_setzero_si256();
  __m256i s1 = s0;
  __m256i a[4] = {_mm256_set1_epi8(3), _mm256_set1_epi8(3), _mm256_set1_epi8(3),
                  _mm256_set1_epi8(3)};
  __m256i b = _mm256_set1_epi8(5);
  for (std::size_t round = 0; round < rounds; ++round) {
    // The operands may be anything from here on: no product is shared or moves out of the loop.
    asm volatile("" : "+x"(a[0]), "+x"(a[1]), "+x"(a[2]), "+x"(a[3]), "+x"(b));
    s0 = add_products(s0, a, b);
    asm volatile("" : "+x"(b));
    s1 = add_products(s1, a, b);
  }
  return or_of_lanes(_mm256_or_si256(s0, s1));
}

}  // namespace

const Probe& avx2_probe() noexcept {
  static constexpr Probe kProbe{.isa = "avx2",
                                .read_all = read_all,
                                .int8_products = int8_products,
                                .products_per_round = std::size_t{2} * 4 * 32};
  return kProbe;
}

}  // namespace smol::kernels

SMOL_TARGET_END
