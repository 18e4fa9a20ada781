// The functions of kernels/math.h on eight lanes.
#pragma once

#include "kernels/math.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::avx2 {

inline constexpr std::size_t kWidth = 8;

SMOL_TARGET_BEGIN("avx2,fma,f16c")

// e^x as exp_float(), for x that are not positive (or NaN).
inline __m256 exp_of_negative(__m256 x) noexcept {
  using C = ExpConstants;
  const __m256 shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(C::kLog2E), _mm256_set1_ps(kRoundMagic));
  const __m256 n = _mm256_sub_ps(shifted, _mm256_set1_ps(kRoundMagic));
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(C::kLn2High), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(C::kLn2Low), r);
  __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(C::kC6), r, _mm256_set1_ps(C::kC5));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(C::kC4));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(C::kC3));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(C::kC2));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0F));
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  const __m256i one = _mm256_castps_si256(_mm256_set1_ps(1.0F));
  const __m256 value = _mm256_mul_ps(p, _mm256_castsi256_ps(_mm256_add_epi32(exponent, one)));
  const __m256 low = _mm256_cmp_ps(x, _mm256_set1_ps(C::kLow), _CMP_LT_OQ);
  return _mm256_andnot_ps(low, value);
}

inline __m256 exp_float(__m256 x) noexcept {
  const __m256 high = _mm256_cmp_ps(x, _mm256_set1_ps(ExpConstants::kHigh), _CMP_GT_OQ);
  const __m256 infinity = _mm256_set1_ps(std::numeric_limits<float>::infinity());
  return _mm256_blendv_ps(exp_of_negative(x), infinity, high);
}

inline __m256 silu(__m256 x) noexcept {
  const __m256 negated = _mm256_xor_ps(x, _mm256_set1_ps(-0.0F));
  const __m256 divisor = _mm256_add_ps(_mm256_set1_ps(1.0F), avx2::exp_float(negated));
  return _mm256_div_ps(x, divisor);
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx2
