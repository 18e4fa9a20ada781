// PanelFactors with AVX2.
#pragma once

#include "kernels/panel_factors.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

// The products of every second one of a format's groups, summed in int32, fit int16.
template <class Format, std::size_t kGroups>
inline constexpr bool kFitPairs = kGroups / 2 * 4 * Format::kCodeMax * 127 <= 32767;

struct FactorOps {
  // Bytes a and b of 16 rows -> pairs of int16.
  template <bool kSigned>
  static void store_pairs(__m128i a, __m128i b, std::array<std::int16_t, 32>& out) noexcept {
    const __m128i low = _mm_unpacklo_epi8(a, b);
    const __m128i high = _mm_unpackhi_epi8(a, b);
    if constexpr (kSigned) {
      store256(out.data(), _mm256_cvtepi8_epi16(low));
      store256(out.data() + 16, _mm256_cvtepi8_epi16(high));
    } else {
      store256(out.data(), _mm256_cvtepu8_epi16(low));
      store256(out.data() + 16, _mm256_cvtepu8_epi16(high));
    }
  }

  // Each returns the scales, one entry for each group of columns that shares one.
  static const CellScales* unpack_factors(const CellQ4K& cell, PanelFactors& out) noexcept {
    const __m256i low_mask = _mm256_set1_epi8(15);
    const __m256i high_mask = _mm256_set1_epi8(0x30);
    for (std::size_t p = 0; p < 4; ++p) {
      const __m256i low = load256(cell.low[2 * p].data());
      const __m256i high = both_halves(load128(cell.high[p].data()));
      // Even sub-blocks in the low half, odd ones in the high half.
      const __m256i scale_high = _mm256_sllv_epi32(high, _mm256_setr_epi32(4, 4, 4, 4, 2, 2, 2, 2));
      const __m256i min_high = _mm256_srlv_epi32(high, _mm256_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2));
      const __m256i scales =
          _mm256_or_si256(_mm256_and_si256(low, low_mask), _mm256_and_si256(scale_high, high_mask));
      const __m256i mins = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(low, 4), low_mask),
                                           _mm256_and_si256(min_high, high_mask));
      store256(out.scales[2 * p].data(), scales);
      store_pairs<false>(_mm256_castsi256_si128(mins), _mm256_extracti128_si256(mins, 1),
                         out.pairs[p]);
    }
    return out.scales.data();
  }

  static const CellScales* unpack_factors(const CellQ6K& cell, PanelFactors& out) noexcept {
    for (std::size_t p = 0; p < 8; ++p) {
      store_pairs<true>(load128(cell.scales[2 * p].data()), load128(cell.scales[2 * p + 1].data()),
                        out.pairs[p]);
    }
    return cell.scales.data();
  }
};

SMOL_TARGET_END

}  // namespace smol::kernels::x86
