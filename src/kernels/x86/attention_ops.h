// 256-bit vectors as attention_int8.h wants them: what AVX2 and AVX-VNNI have in common.
#pragma once

#include "kernels/avx2/math.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

struct AttentionOps256 {
  using Vec = __m256i;

  // Lanes 0 to 7 and 8 to 15.
  struct Floats {
    __m256 low, high;
  };

  static constexpr std::size_t kBytes = 32;
  static constexpr std::size_t kTogether = 4;

  static Vec zero() noexcept { return _mm256_setzero_si256(); }

  static Vec load_bytes(const void* from) noexcept { return load256(from); }

  static void store_bytes(void* to, Vec x) noexcept { store256(to, x); }

  static Vec broadcast(const void* from) noexcept { return _mm256_set1_epi32(load_i32(from)); }

  // to = to * correction + sums * scale
  static void accumulate(float* to, float correction, float scale, Vec sums) noexcept {
    const __m256 old = _mm256_mul_ps(_mm256_loadu_ps(to), _mm256_set1_ps(correction));
    _mm256_storeu_ps(to, _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_set1_ps(scale), old));
  }

  static Floats load(const float* from) noexcept {
    return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
  }

  static Floats load_halves(const std::byte* from) noexcept {
    return {_mm256_cvtph_ps(load128(from)), _mm256_cvtph_ps(load128(from + 16))};
  }

  static void store(float* to, Floats x) noexcept {
    _mm256_storeu_ps(to, x.low);
    _mm256_storeu_ps(to + 8, x.high);
  }

  static Floats set(float x) noexcept { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }

  static Floats add(Floats a, Floats b) noexcept {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
  }

  static Floats subtract(Floats a, Floats b) noexcept {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
  }

  static Floats multiply(Floats a, Floats b) noexcept {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
  }

  static Floats max(Floats a, Floats b) noexcept {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
  }

  // kernels/hadamard.h of the 16 lanes
  static Floats hadamard(Floats x) noexcept {
    const Floats eights{hadamard8(x.low), hadamard8(x.high)};
    return {_mm256_add_ps(eights.low, eights.high), _mm256_sub_ps(eights.low, eights.high)};
  }

  static Floats exp_of_negative(Floats x) noexcept {
    return {avx2::exp_of_negative(x.low), avx2::exp_of_negative(x.high)};
  }

  static Floats clamp(Floats x, float low, float high) noexcept {
    const __m256 least = _mm256_set1_ps(low);
    const __m256 most = _mm256_set1_ps(high);
    return {_mm256_min_ps(_mm256_max_ps(x.low, least), most),
            _mm256_min_ps(_mm256_max_ps(x.high, least), most)};
  }

  // The first `count` lanes of a, the others of b.
  static Floats first_of(Floats a, Floats b, std::size_t count) noexcept {
    const Vec lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const int n = static_cast<int>(count);
    const Vec low = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lanes);
    const Vec high = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), lanes);
    return {_mm256_blendv_ps(b.low, a.low, _mm256_castsi256_ps(low)),
            _mm256_blendv_ps(b.high, a.high, _mm256_castsi256_ps(high))};
  }

  static Floats max_magnitude(Floats a, Floats b) noexcept {
    return {larger(a.low, b.low), larger(a.high, b.high)};
  }

  static float largest_magnitude_lane(Floats x) noexcept {
    const __m256 eight = larger(x.low, x.high);
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(_mm256_castps_si256(eight)),
                                 _mm256_extracti128_si256(_mm256_castps_si256(eight), 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return _mm_cvtss_f32(_mm_castsi128_ps(four));
  }

  static float max_lane(Floats x) noexcept { return max_lanes8(_mm256_max_ps(x.low, x.high)); }

  static float sum_lanes(Floats x) noexcept { return sum_lanes8(_mm256_add_ps(x.low, x.high)); }

  // Rounded to nearest even. Lanes in [-128, 127].
  static void store_codes(void* to, Floats x) noexcept {
    const Vec words = rounded(x);
    const __m128i bytes =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(static_cast<__m128i*>(to), bytes);
  }

  // Lanes in [0, 127], or NaN, which becomes 0.
  static void store_weight_codes(void* to, Floats x) noexcept {
    const Vec words = rounded(x);
    const __m128i bytes =
        _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(static_cast<__m128i*>(to), bytes);
  }

 private:
  // As int16; NaN is the least of them.
  static Vec rounded(Floats x) noexcept {
    const Vec words = _mm256_packs_epi32(_mm256_cvtps_epi32(x.low), _mm256_cvtps_epi32(x.high));
    return _mm256_permute4x64_epi64(words, 0xD8);  // they were 0-3 8-11 | 4-7 12-15
  }

  // Stages of stride 1, 2 and 4: each lane's partner is added to it, to the second of a pair with
  // its sign turned.
  static __m256 hadamard8(__m256 x) noexcept {
    const __m256 ones = _mm256_setr_ps(0.0F, -0.0F, 0.0F, -0.0F, 0.0F, -0.0F, 0.0F, -0.0F);
    const __m256 twos = _mm256_setr_ps(0.0F, 0.0F, -0.0F, -0.0F, 0.0F, 0.0F, -0.0F, -0.0F);
    const __m256 fours = _mm256_setr_ps(0.0F, 0.0F, 0.0F, 0.0F, -0.0F, -0.0F, -0.0F, -0.0F);
    x = _mm256_add_ps(_mm256_permute_ps(x, 0xB1), _mm256_xor_ps(x, ones));
    x = _mm256_add_ps(_mm256_permute_ps(x, 0x4E), _mm256_xor_ps(x, twos));
    return _mm256_add_ps(_mm256_permute2f128_ps(x, x, 0x01), _mm256_xor_ps(x, fours));
  }

  static __m256 larger(__m256 a, __m256 b) noexcept {
    const __m256 no_sign = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(_mm256_and_ps(a, no_sign)),
                                                _mm256_castps_si256(_mm256_and_ps(b, no_sign))));
  }
};

SMOL_TARGET_END

}  // namespace smol::kernels::x86
