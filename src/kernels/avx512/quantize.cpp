// Activations -> int8 with one scale for 256: four vectors of codes.
#include <bit>

#include "kernels/avx512/ops.h"
#include "kernels/math.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kVectors = kBlock / 64;

using BlockCodes = __m512i[kVectors];

// None is negative.
int max_lane(__m512i x) noexcept {
  const __m256i eight =
      _mm256_max_epi32(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4E));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xB1));
  return _mm_cvtsi128_si32(four);
}

// As integers, magnitudes order like the values and NaN comes above infinity.
float largest_magnitude(const float* x) noexcept {
  const __m512i no_sign = _mm512_set1_epi32(0x7FFFFFFF);
  __m512i largest = _mm512_setzero_si512();
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    largest = _mm512_max_epi32(largest, _mm512_and_si512(_mm512_loadu_si512(x + i), no_sign));
  }
  return std::bit_cast<float>(max_lane(largest));
}

// Rows of four int32 in each 128-bit lane to columns: packing and adding work within those lanes.
__m512i transpose(__m512i x) noexcept {
  const __m512i columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(columns, x);
}

__m512i rounded(const float* x, __m512 inverse) noexcept {
  return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), inverse));
}

// Finite values are in [-127, 127], since the largest gives 127; NaN is the least integer, which
// packing leaves at -128.
__m512i codes_of(const float* x, __m512 inverse) noexcept {
  const __m512i ab = _mm512_packs_epi32(rounded(x, inverse), rounded(x + 16, inverse));
  const __m512i cd = _mm512_packs_epi32(rounded(x + 32, inverse), rounded(x + 48, inverse));
  return _mm512_max_epi8(transpose(_mm512_packs_epi16(ab, cd)), _mm512_set1_epi8(-127));
}

// Of sums of four: those of each sixteen.
__m512i join_sums(const BlockCodes& fours) noexcept {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(fours[0], fours[1]),
                                      _mm512_unpackhi_epi32(fours[0], fours[1]));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(fours[2], fours[3]),
                                      _mm512_unpackhi_epi32(fours[2], fours[3]));
  return transpose(_mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)));
}

__m256i sums_of_sixteen(const BlockCodes& codes) noexcept {
  BlockCodes fours;
  for (std::size_t i = 0; i < kVectors; ++i) {
    fours[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1), codes[i]);
  }
  const __m512i sums = join_sums(fours);
  const __m256i words =
      _mm256_packs_epi32(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
  return _mm256_permute4x64_epi64(words, 0xD8);  // they were 0-3 8-11 | 4-7 12-15
}

// The largest sum of the magnitudes of sixteen.
std::int16_t peak_of(const BlockCodes& codes) noexcept {
  BlockCodes fours;
  for (std::size_t i = 0; i < kVectors; ++i) {
    fours[i] =
        _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_abs_epi8(codes[i]), _mm512_set1_epi8(1));
  }
  return static_cast<std::int16_t>(max_lane(join_sums(fours)));
}

// Block b of a token.
void quantize_block(const float* x, std::size_t b, const QuantizedRow& out) noexcept {
  const std::size_t at = b * out.n_tokens;
  const BlockScale scale = block_scale(largest_magnitude(x));
  BlockCodes codes;
  for (std::size_t i = 0; i < kVectors; ++i) {
    codes[i] = codes_of(x + i * 64, _mm512_set1_ps(scale.inverse));
    _mm512_storeu_si512(out.codes + at * kBlock + i * 64, codes[i]);
  }
  const __m256i sums = sums_of_sixteen(codes);
  const __m256i joined = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
  x86::store256(out.sums + at * (kBlock / kSumBlock), sums);
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(out.joined + at * (kBlock / kJoinedBlock)),
      _mm_packs_epi32(_mm256_castsi256_si128(joined), _mm256_extracti128_si256(joined, 1)));
  out.scales[at] = scale.scale;
  out.peaks[at] = peak_of(codes);
}

}  // namespace

void quantize_q8x256(std::span<const float> x, const QuantizedRow& out) noexcept {
  for (std::size_t b = 0; b < x.size() / kBlock; ++b) {
    quantize_block(x.data() + b * kBlock, b, out);
  }
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx512
