#include "kernels/probe.h"

#include <array>
#include <immintrin.h>

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

// Two ports with a latency of 5 cycles: ten sums in flight at least.
std::uint64_t int8_products(std::size_t rounds) noexcept {
  __m512i a = _mm512_set1_epi8(3);
  const __m512i b = _mm512_set1_epi8(5);
  __m512i s0 = _mm512_setzero_si512();
  __m512i s1 = s0;
  __m512i s2 = s0;
  __m512i s3 = s0;
  __m512i s4 = s0;
  __m512i s5 = s0;
  __m512i s6 = s0;
  __m512i s7 = s0;
  __m512i s8 = s0;
  __m512i s9 = s0;
  for (std::size_t round = 0; round < rounds; ++round) {
    s0 = _mm512_dpbusd_epi32(s0, a, b);
    s1 = _mm512_dpbusd_epi32(s1, a, b);
    s2 = _mm512_dpbusd_epi32(s2, a, b);
    s3 = _mm512_dpbusd_epi32(s3, a, b);
    s4 = _mm512_dpbusd_epi32(s4, a, b);
    s5 = _mm512_dpbusd_epi32(s5, a, b);
    s6 = _mm512_dpbusd_epi32(s6, a, b);
    s7 = _mm512_dpbusd_epi32(s7, a, b);
    s8 = _mm512_dpbusd_epi32(s8, a, b);
    s9 = _mm512_dpbusd_epi32(s9, a, b);
    // All sums may have changed: they stay apart, and none is computed twice as fast by algebra.
    asm volatile(""
                 : "+v"(a), "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4), "+v"(s5), "+v"(s6),
                   "+v"(s7), "+v"(s8), "+v"(s9));
  }
  const __m512i low =
      _mm512_or_si512(_mm512_or_si512(_mm512_or_si512(s0, s1), s2), _mm512_or_si512(s3, s4));
  const __m512i high =
      _mm512_or_si512(_mm512_or_si512(_mm512_or_si512(s5, s6), s7), _mm512_or_si512(s8, s9));
  return or_of_lanes(_mm512_or_si512(low, high));
}

}  // namespace

const Probe& avx512_probe() noexcept {
  static constexpr Probe kProbe{.isa = "avx512",
                                .read_all = read_all,
                                .int8_products = int8_products,
                                .products_per_round = std::size_t{10} * 64};
  return kProbe;
}

}  // namespace smol::kernels

SMOL_TARGET_END
