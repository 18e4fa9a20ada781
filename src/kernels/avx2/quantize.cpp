// Activations -> int8 with one scale a block.
#include "kernels/avx2/math.h"
#include "kernels/avx2/ops.h"

namespace smol::kernels::avx2 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace {

constexpr std::size_t kStepSize = kJoinedBlock;

// As integers, magnitudes order like the values and NaN comes above infinity.
template <std::size_t kBlock>
float largest_magnitude(const float* x) noexcept {
  const __m256i mask = _mm256_set1_epi32(0x7FFFFFFF);
  __m256i largest = _mm256_setzero_si256();
  for (std::size_t i = 0; i < kBlock; i += kWidth) {
    largest = _mm256_max_epu32(largest, _mm256_and_si256(x86::load256(x + i), mask));
  }
  __m128i four =
      _mm_max_epu32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256(largest, 1));
  four = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4E));
  four = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0xB1));
  return std::bit_cast<float>(_mm_cvtsi128_si32(four));
}

__m256i codes_of(const float* x, __m256 inverse) noexcept {
  const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x), inverse);
  const __m256 clamped =
      _mm256_min_ps(_mm256_max_ps(scaled, _mm256_set1_ps(-kCodeMax)), _mm256_set1_ps(kCodeMax));
  return _mm256_cvtps_epi32(clamped);
}

// Where the sums of 32 codes go.
struct StepSums {
  std::int16_t* sums;    // two
  std::int16_t* joined;  // one
};

void store_sums(__m256i codes, const StepSums& out) noexcept {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), codes);
  const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  const __m256i eights = _mm256_add_epi32(fours, _mm256_shuffle_epi32(fours, 0x4E));
  const __m256i all = _mm256_add_epi32(eights, _mm256_shuffle_epi32(eights, 0xB1));
  const int low = _mm_cvtsi128_si32(_mm256_castsi256_si128(all));
  const int high = _mm_cvtsi128_si32(_mm256_extracti128_si256(all, 1));
  out.sums[0] = static_cast<std::int16_t>(low);
  out.sums[1] = static_cast<std::int16_t>(high);
  *out.joined = static_cast<std::int16_t>(low + high);
}

// The sum of the magnitudes of each 16 codes, in both 64-bit lanes of its half.
__m256i magnitude_sums(__m256i codes) noexcept {
  const __m256i eights = _mm256_sad_epu8(_mm256_abs_epi8(codes), _mm256_setzero_si256());
  return _mm256_add_epi32(eights, _mm256_shuffle_epi32(eights, 0x4E));
}

// Returns the magnitude_sums().
__m256i quantize_step(const float* x, float inverse, std::int8_t* codes,
                      const StepSums& out) noexcept {
  const __m256 factor = _mm256_set1_ps(inverse);
  const __m256i ab = _mm256_packs_epi32(codes_of(x, factor), codes_of(x + 8, factor));
  const __m256i cd = _mm256_packs_epi32(codes_of(x + 16, factor), codes_of(x + 24, factor));
  // Packing works within 128-bit halves; the permutation restores the order.
  const __m256i packed = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd),
                                                     _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  x86::store256(codes, packed);
  store_sums(packed, out);
  return magnitude_sums(packed);
}

template <std::size_t kBlock>
void quantize(std::span<const float> x, const QuantizedRow& out) noexcept {
  for (std::size_t b = 0; b < x.size() / kBlock; ++b) {
    const float* values = x.data() + b * kBlock;
    const BlockScale scale = block_scale(largest_magnitude<kBlock>(values));
    out.scales[b * out.n_tokens] = scale.scale;
    std::int8_t* codes = out.codes + b * out.n_tokens * kBlock;
    std::int16_t* sums = out.sums + b * out.n_tokens * (kBlock / kSumBlock);
    std::int16_t* joined = out.joined + b * out.n_tokens * (kBlock / kJoinedBlock);
    __m256i peaks = _mm256_setzero_si256();
    for (std::size_t i = 0; i < kBlock; i += kStepSize) {
      const StepSums step{sums + i / kSumBlock, joined + i / kJoinedBlock};
      peaks = _mm256_max_epi32(peaks, quantize_step(values + i, scale.inverse, codes + i, step));
    }
    const __m128i peak =
        _mm_max_epi32(_mm256_castsi256_si128(peaks), _mm256_extracti128_si256(peaks, 1));
    out.peaks[b * out.n_tokens] = static_cast<std::int16_t>(_mm_cvtsi128_si32(peak));
  }
}

}  // namespace

void quantize_q8x32(std::span<const float> x, const QuantizedRow& out) noexcept {
  quantize<32>(x, out);
}

void quantize_q8x256(std::span<const float> x, const QuantizedRow& out) noexcept {
  quantize<256>(x, out);
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx2
