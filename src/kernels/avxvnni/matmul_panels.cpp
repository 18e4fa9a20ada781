// Products of panels with vpdpbusd on 256 bits: four byte products are added to an int32 at once.
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/avxvnni/ops.h"
#include "kernels/panel.h"
#include "kernels/x86/panel_ops.h"

SMOL_TARGET_BEGIN("avx2,avxvnni,fma,f16c")

namespace smol::kernels::x86 {
namespace {

struct AvxVnniOps : PanelOps256 {
  static constexpr bool kWide = true;
  static constexpr bool kFlipsSigned = true;
  static constexpr bool kShortSums = true;
  static constexpr std::size_t kShortSumTokens = 16;  // fewer do not fill the chains
  static constexpr std::size_t kChains = 4;

  // The scale of each row as int32.
  template <bool kSigned>
  static Vec spread_scales(const std::uint8_t* rows, std::size_t part) noexcept {
    const __m128i bytes = load64(rows + 8 * part);
    return kSigned ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
  }

  static Vec add_pairs(Vec sum, Vec a, Vec b) noexcept {
    return _mm256_dpwssd_avx_epi32(sum, a, b);
  }

  // The products of four codes with four columns, all added.
  static Vec add_dots(Vec sum, Vec codes, Vec x) noexcept {
    return _mm256_dpbusd_avx_epi32(sum, codes, x);
  }

  // The lower int16 of each int32, beside zero.
  static Vec pair_with_zero(Vec x) noexcept {
    return _mm256_and_si256(x, _mm256_set1_epi32(0xFFFF));
  }

  static Vec unit_scale() noexcept { return zero(); }

  // Two chains: each product waits for the one before.
  template <class Format, std::size_t kGroups>
  static Vec add_codes(Vec sum, const Vec* codes, const Vec* x, Vec scale) noexcept {
    Vec even = zero();
    Vec odd = zero();
    for (std::size_t g = 0; g < kGroups; g += 2) {
      even = add_dots(even, codes[g], x[g]);
      odd = add_dots(odd, codes[g + 1], x[g + 1]);
    }
    // Sums that fit int16 are pairs whose upper half, their sign, meets the zero above the scale.
    if constexpr (Format::kScaled && !Format::kSignedScales && kFitPairs<Format, kGroups>) {
      return add_pairs(add_pairs(sum, even, scale), odd, scale);
    }
    const Vec both = add(even, odd);
    return add(sum, Format::kScaled ? _mm256_mullo_epi32(both, scale) : both);
  }
};

}  // namespace
}  // namespace smol::kernels::x86

#include "kernels/panel_formats.h"
#include "kernels/panel_products.h"

SMOL_TARGET_END

namespace smol::kernels::avxvnni {

MatMul matmul_panels(gguf::DType weights) noexcept {
  return panel_products<x86::AvxVnniOps>(weights);
}

}  // namespace smol::kernels::avxvnni
