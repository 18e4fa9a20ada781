// What x86/attention_int8.h asks of 512 bits with VNNI. Included inside the target region of
// AVX-512 after that header's other needs and avx512/math.h.
#pragma once

namespace smol::kernels::x86 {
namespace {

struct Avx512AttentionOps {
  using Vec = __m512i;
  using Floats = __m512;
  using Keys = Vec;
  using FourCodes = std::array<std::int8_t, 4>;
  static constexpr std::size_t kBytes = 64;
  static constexpr std::size_t kTogether = 4;
  static constexpr std::size_t kKeyColumns = 4;
  static constexpr std::size_t kKeyVectors = 4;
  static constexpr std::size_t kValueColumns = 4;
  static constexpr std::size_t kValueVectors = 4;
  static constexpr int kKeyBias = 128;

  static Vec zero() noexcept { return _mm512_setzero_si512(); }

  static Vec load_bytes(const void* from) noexcept { return _mm512_loadu_si512(from); }

  static void store_bytes(void* to, Vec x) noexcept { _mm512_storeu_si512(to, x); }

  static Vec broadcast(const void* from) noexcept { return _mm512_set1_epi32(load_i32(from)); }

  static void store_query(const std::int8_t* codes, FourCodes* to) noexcept {
    std::memcpy(to, codes, 8 * sizeof(FourCodes));
  }

  // Unsigned, kKeyBias higher.
  static Keys prepare_keys(Vec keys) noexcept {
    return _mm512_xor_si512(keys, _mm512_set1_epi8(-128));
  }

  template <std::size_t kVectors>
  static void add_keys(Vec* sums, const Keys* keys, const FourCodes& query) noexcept {
    const Vec codes = broadcast(query.data());
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[v] = _mm512_dpbusd_epi32(sums[v], keys[v], codes);
    }
  }

  static Vec add_values(Vec sum, Vec weights, Vec values) noexcept {
    return _mm512_dpbusd_epi32(sum, weights, values);
  }

  // to = to * correction + sums * scale
  static void accumulate(float* to, float correction, float scale, Vec sums) noexcept {
    const __m512 old = _mm512_mul_ps(_mm512_loadu_ps(to), _mm512_set1_ps(correction));
    _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums), _mm512_set1_ps(scale), old));
  }

  static Floats load(const float* from) noexcept { return _mm512_loadu_ps(from); }

  static Floats load_halves(const std::byte* from) noexcept {
    return _mm512_cvtph_ps(load256(from));
  }

  static void store(float* to, Floats x) noexcept { _mm512_storeu_ps(to, x); }

  static Floats set(float x) noexcept { return _mm512_set1_ps(x); }

  // Sums that are `bias` too high.
  static Floats to_floats(const std::int32_t* from, int bias) noexcept {
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(load_bytes(from), _mm512_set1_epi32(bias)));
  }

  static Floats add(Floats a, Floats b) noexcept { return _mm512_add_ps(a, b); }

  static Floats subtract(Floats a, Floats b) noexcept { return _mm512_sub_ps(a, b); }

  static Floats multiply(Floats a, Floats b) noexcept { return _mm512_mul_ps(a, b); }

  static Floats max(Floats a, Floats b) noexcept { return _mm512_max_ps(a, b); }

  // kernels/hadamard.h of the 16 lanes: each lane's partner is added to it, to the second of a pair
  // with its sign turned.
  static Floats hadamard(Floats x) noexcept {
    x = _mm512_add_ps(_mm512_permute_ps(x, 0xB1), turned(x, 0xAAAA));
    x = _mm512_add_ps(_mm512_permute_ps(x, 0x4E), turned(x, 0xCCCC));
    x = _mm512_add_ps(_mm512_shuffle_f32x4(x, x, 0xB1), turned(x, 0xF0F0));
    return _mm512_add_ps(_mm512_shuffle_f32x4(x, x, 0x4E), turned(x, 0xFF00));
  }

  static Floats exp_of_negative(Floats x) noexcept { return avx512::exp_of_negative(x); }

  static Floats clamp(Floats x, float low, float high) noexcept {
    return _mm512_min_ps(_mm512_max_ps(x, set(low)), set(high));
  }

  // The first `count` lanes of a, the others of b.
  static Floats first_of(Floats a, Floats b, std::size_t count) noexcept {
    return _mm512_mask_mov_ps(b, static_cast<__mmask16>((1U << count) - 1U), a);
  }

  static Floats max_magnitude(Floats a, Floats b) noexcept {
    const Vec no_sign = _mm512_set1_epi32(0x7FFFFFFF);
    return _mm512_castsi512_ps(_mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(a), no_sign),
                                                _mm512_and_si512(_mm512_castps_si512(b), no_sign)));
  }

  static float largest_magnitude_lane(Floats x) noexcept {
    const Vec bits = _mm512_castps_si512(x);
    const __m256i eight =
        _mm256_max_epi32(_mm512_castsi512_si256(bits), _mm512_extracti64x4_epi64(bits, 1));
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return _mm_cvtss_f32(_mm_castsi128_ps(four));
  }

  static float max_lane(Floats x) noexcept {
    return max_lanes8(_mm256_max_ps(_mm512_castps512_ps256(x), high_half(x)));
  }

  static float sum_lanes(Floats x) noexcept {
    return sum_lanes8(_mm256_add_ps(_mm512_castps512_ps256(x), high_half(x)));
  }

  // Rounded to nearest even. Lanes in [-128, 127].
  static void store_codes(void* to, Floats x) noexcept {
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x)));
  }

  // Lanes in [0, 127], or NaN, which becomes 0.
  static void store_weight_codes(void* to, Floats x) noexcept {
    store_codes(to, _mm512_max_ps(x, _mm512_setzero_ps()));
  }

 private:
  static Floats turned(Floats x, __mmask16 lanes) noexcept {
    return _mm512_mask_xor_ps(x, lanes, x, set(-0.0F));
  }

  static __m256 high_half(Floats x) noexcept {
    return _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(x), 1));
  }
};

}  // namespace
}  // namespace smol::kernels::x86
