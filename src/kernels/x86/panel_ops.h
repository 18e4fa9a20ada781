// 256-bit vectors as panel_products.h wants them: what AVX2 and AVX-VNNI have in common. A vector
// holds eight of a panel's rows.
#pragma once

#include "kernels/x86/panel_factors.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

struct PanelOps256 : FactorOps {
  using Vec = __m256i;
  using Float = __m256;
  static constexpr std::size_t kBytes = 32;
  static constexpr std::size_t kPanels = 1;
  static constexpr std::size_t kCodeRegisters = 8;

  static Vec zero() noexcept { return _mm256_setzero_si256(); }

  static Vec load(const void* from) noexcept { return load256(from); }

  // The same four bytes for every row.
  static Vec broadcast(const void* from) noexcept { return _mm256_set1_epi32(load_i32(from)); }

  static Vec set_int(int value) noexcept { return _mm256_set1_epi32(value); }

  // Bits of every byte: shifted right (left if negative), then masked.
  template <int kShift, int kMask>
  static Vec bits(Vec x) noexcept {
    if constexpr (kShift > 0) {
      x = _mm256_srli_epi16(x, kShift);
    } else if constexpr (kShift < 0) {
      x = _mm256_slli_epi16(x, -kShift);
    }
    return _mm256_and_si256(x, _mm256_set1_epi8(kMask));
  }

  static Vec either(Vec a, Vec b) noexcept { return _mm256_or_si256(a, b); }

  // Signed bytes, 128 higher.
  static Vec flip_signs(Vec x) noexcept { return _mm256_xor_si256(x, _mm256_set1_epi8(-128)); }

  static Vec add(Vec a, Vec b) noexcept { return _mm256_add_epi32(a, b); }

  static Vec subtract(Vec a, Vec b) noexcept { return _mm256_sub_epi32(a, b); }

  // a - kFactor * b
  template <int kFactor>
  static Vec subtract_times(Vec a, Vec b) noexcept {
    return _mm256_sub_epi32(a, _mm256_mullo_epi32(b, _mm256_set1_epi32(kFactor)));
  }

  static Float set_float(float x) noexcept { return _mm256_set1_ps(x); }

  static Float to_float(Vec x) noexcept { return _mm256_cvtepi32_ps(x); }

  static Float multiply(Float a, Float b) noexcept { return _mm256_mul_ps(a, b); }

  // a * b + c
  static Float add_product(Float a, Float b, Float c) noexcept { return _mm256_fmadd_ps(a, b, c); }

  // c - a * b
  static Float subtract_product(Float a, Float b, Float c) noexcept {
    return _mm256_fnmadd_ps(a, b, c);
  }

  // Halves of this part's rows.
  static Float load_halves(const std::uint16_t* rows, std::size_t part) noexcept {
    return _mm256_cvtph_ps(load128(rows + 8 * part));
  }

  static Float zero_floats() noexcept { return _mm256_setzero_ps(); }

  static void store_floats(float* to, Float x) noexcept { _mm256_storeu_ps(to, x); }
};

SMOL_TARGET_END

}  // namespace smol::kernels::x86
