// Products of panels with vpdpbusd on 512 bits: a vector is four columns of all 16 rows, and the
// four codes of a token come broadcast from memory with the product itself.
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/avx512/ops.h"
#include "kernels/panel.h"
#include "kernels/x86/panel_factors.h"

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace smol::kernels::x86 {
namespace {

struct Avx512Ops : FactorOps {
  using Vec = __m512i;
  using Float = __m512;
  static constexpr std::size_t kBytes = 64;
  static constexpr std::size_t kPanels = 1;
  static constexpr std::size_t kCodeRegisters = 8;
  static constexpr bool kWide = true;
  static constexpr bool kFlipsSigned = true;
  static constexpr bool kShortSums = true;
  static constexpr std::size_t kShortSumTokens = 3;
  static constexpr std::size_t kChains = 8;

  static Vec zero() noexcept { return _mm512_setzero_si512(); }

  static Vec load(const void* from) noexcept { return _mm512_loadu_si512(from); }

  static Vec broadcast(const void* from) noexcept { return _mm512_set1_epi32(load_i32(from)); }

  static Vec set_int(int value) noexcept { return _mm512_set1_epi32(value); }

  template <int kShift, int kMask>
  static Vec bits(Vec x) noexcept {
    if constexpr (kShift > 0) {
      x = _mm512_srli_epi16(x, kShift);
    } else if constexpr (kShift < 0) {
      x = _mm512_slli_epi16(x, -kShift);
    }
    return _mm512_and_si512(x, _mm512_set1_epi8(kMask));
  }

  static Vec either(Vec a, Vec b) noexcept { return _mm512_or_si512(a, b); }

  static Vec flip_signs(Vec x) noexcept { return _mm512_xor_si512(x, _mm512_set1_epi8(-128)); }

  static Vec add(Vec a, Vec b) noexcept { return _mm512_add_epi32(a, b); }

  static Vec subtract(Vec a, Vec b) noexcept { return _mm512_sub_epi32(a, b); }

  template <int kFactor>
  static Vec subtract_times(Vec a, Vec b) noexcept {
    return _mm512_sub_epi32(a, _mm512_mullo_epi32(b, _mm512_set1_epi32(kFactor)));
  }

  static Float set_float(float x) noexcept { return _mm512_set1_ps(x); }

  static Float to_float(Vec x) noexcept { return _mm512_cvtepi32_ps(x); }

  static Float multiply(Float a, Float b) noexcept { return _mm512_mul_ps(a, b); }

  static Float add_product(Float a, Float b, Float c) noexcept { return _mm512_fmadd_ps(a, b, c); }

  static Float subtract_product(Float a, Float b, Float c) noexcept {
    return _mm512_fnmadd_ps(a, b, c);
  }

  static Float load_halves(const std::uint16_t* rows, std::size_t) noexcept {
    return _mm512_cvtph_ps(load256(rows));
  }

  static Float zero_floats() noexcept { return _mm512_setzero_ps(); }

  static void store_floats(float* to, Float x) noexcept { _mm512_storeu_ps(to, x); }

  // The scale of each row as int32.
  template <bool kSigned>
  static Vec spread_scales(const std::uint8_t* rows, std::size_t) noexcept {
    const __m128i bytes = load128(rows);
    return kSigned ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
  }

  static Vec add_pairs(Vec sum, Vec a, Vec b) noexcept { return _mm512_dpwssd_epi32(sum, a, b); }

  // The products of four codes with four columns, all added.
  static Vec add_dots(Vec sum, Vec codes, Vec x) noexcept {
    return _mm512_dpbusd_epi32(sum, codes, x);
  }

  // The lower int16 of each int32, beside zero.
  static Vec pair_with_zero(Vec x) noexcept {
    return _mm512_and_si512(x, _mm512_set1_epi32(0xFFFF));
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
    return add(sum, Format::kScaled ? _mm512_mullo_epi32(both, scale) : both);
  }
};

// Two panels share each broadcast: a load for every product is as slow as the products.
struct Avx512PairOps : Avx512Ops {
  static constexpr std::size_t kPanels = 2;
  static constexpr std::size_t kCodeRegisters = 16;
};

}  // namespace
}  // namespace smol::kernels::x86

#include "kernels/panel_formats.h"
#include "kernels/panel_products.h"

SMOL_TARGET_END

namespace smol::kernels::avx512 {

MatMul matmul_panels(gguf::DType weights) noexcept {
  return panel_products<x86::Avx512Ops, x86::Avx512PairOps>(weights);
}

}  // namespace smol::kernels::avx512
