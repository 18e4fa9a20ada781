// The functions of kernels/math.h on sixteen lanes.
#pragma once

#include "kernels/math.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

// e^x as exp_float(), for x that are not positive (or NaN).
inline __m512 exp_of_negative(__m512 x) noexcept {
  using C = ExpConstants;
  const __m512 shifted = _mm512_fmadd_ps(x, _mm512_set1_ps(C::kLog2E), _mm512_set1_ps(kRoundMagic));
  const __m512 n = _mm512_sub_ps(shifted, _mm512_set1_ps(kRoundMagic));
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(C::kLn2High), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(C::kLn2Low), r);
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(C::kC6), r, _mm512_set1_ps(C::kC5));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C::kC4));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C::kC3));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(C::kC2));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0F));
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
  const __m512i one = _mm512_castps_si512(_mm512_set1_ps(1.0F));
  const __m512 value = _mm512_mul_ps(p, _mm512_castsi512_ps(_mm512_add_epi32(exponent, one)));
  const __mmask16 kept = _mm512_cmp_ps_mask(x, _mm512_set1_ps(C::kLow), _CMP_NLT_UQ);
  return _mm512_maskz_mov_ps(kept, value);
}

inline __m512 exp_float(__m512 x) noexcept {
  const __mmask16 high = _mm512_cmp_ps_mask(x, _mm512_set1_ps(ExpConstants::kHigh), _CMP_GT_OQ);
  const __m512 infinity = _mm512_set1_ps(std::numeric_limits<float>::infinity());
  return _mm512_mask_mov_ps(avx512::exp_of_negative(x), high, infinity);
}

inline __m512 silu(__m512 x) noexcept {
  const __m512 negated = _mm512_xor_ps(x, _mm512_set1_ps(-0.0F));
  const __m512 divisor = _mm512_add_ps(_mm512_set1_ps(1.0F), avx512::exp_float(negated));
  return _mm512_div_ps(x, divisor);
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx512
