// Loads, sums and half-precision helpers that the AVX2 and AVX-512 kernels share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#include "kernels/target_region.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

inline __m128i load128(const void* from) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

// Eight bytes, in the low half.
inline __m128i load64(const void* from) noexcept {
  return _mm_loadl_epi64(static_cast<const __m128i*>(from));
}

inline __m256i load256(const void* from) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

inline void store256(void* to, __m256i value) noexcept {
  _mm256_storeu_si256(static_cast<__m256i*>(to), value);
}

inline std::uint32_t load_u32(const void* from) noexcept {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline std::uint16_t load_u16(const void* from) noexcept {
  std::uint16_t value = 0;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline int load_i32(const void* from) noexcept {
  return static_cast<int>(load_u32(from));
}

inline __m256i both_halves(__m128i value) noexcept {
  return _mm256_broadcastsi128_si256(value);
}

inline __m256i join(__m128i low, __m128i high) noexcept {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// The sums of the eight lanes of each of four vectors.
inline __m128i sum_each(__m256i a, __m256i b, __m256i c, __m256i d) noexcept {
  const __m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
  const __m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
  const __m256i abcd =
      _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
  return _mm_add_epi32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256(abcd, 1));
}

// Four halves, one from each of four blocks at the same offset.
inline __m128 load_halves(const std::byte* const* blocks, std::size_t offset) noexcept {
  const auto low = static_cast<std::uint64_t>(load_u16(blocks[0] + offset)) |
                   static_cast<std::uint64_t>(load_u16(blocks[1] + offset)) << 16U |
                   static_cast<std::uint64_t>(load_u16(blocks[2] + offset)) << 32U |
                   static_cast<std::uint64_t>(load_u16(blocks[3] + offset)) << 48U;
  return _mm_cvtph_ps(_mm_cvtsi64_si128(static_cast<std::int64_t>(low)));
}

// The last steps of the fixed tree over 16 lanes: lanes l and l+8 have been added already.
inline float sum_lanes8(__m256 lanes) noexcept {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// The same with maxima.
inline float max_lanes8(__m256 lanes) noexcept {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

SMOL_TARGET_END

}  // namespace smol::kernels::x86
