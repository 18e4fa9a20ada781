// Found before the compiler's own header: AVX-512 and AVX-VNNI intrinsics become SIMDe's emulation,
// those of AMX that of tiles.h, the rest stays native.
#pragma once

#include_next <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

// Those that SIMDe lacks, from their halves.
inline simde__m512i smol_join(__m256i low, __m256i high) {
  return simde_mm512_inserti64x4(simde_mm512_castsi256_si512(low), high, 1);
}

#define _mm512_cvtph_ps smol_cvtph_ps
#define _mm512_cvtepu16_epi32 smol_cvtepu16_epi32

inline simde__m512 smol_cvtph_ps(__m256i halves) {
  const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
  const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  return simde_mm512_castsi512_ps(smol_join(_mm256_castps_si256(low), _mm256_castps_si256(high)));
}

inline simde__m512i smol_cvtepu16_epi32(__m256i words) {
  return smol_join(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(words)),
                   _mm256_cvtepu16_epi32(_mm256_extracti128_si256(words, 1)));
}

#define _mm512_cvtepu8_epi32 smol_cvtepu8_epi32
#define _mm512_cvtepi8_epi32 smol_cvtepi8_epi32
#define _mm512_cvtepi32_ps smol_cvtepi32_ps

inline simde__m512i smol_cvtepu8_epi32(__m128i bytes) {
  return smol_join(_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
}

inline simde__m512i smol_cvtepi8_epi32(__m128i bytes) {
  return smol_join(_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)));
}

inline simde__m512 smol_cvtepi32_ps(simde__m512i values) {
  const __m256 low = _mm256_cvtepi32_ps(simde_mm512_castsi512_si256(values));
  const __m256 high = _mm256_cvtepi32_ps(simde_mm512_extracti64x4_epi64(values, 1));
  return simde_mm512_castsi512_ps(smol_join(_mm256_castps_si256(low), _mm256_castps_si256(high)));
}

#define _mm512_cvtps_epi32 smol_cvtps_epi32
#define _mm512_cvtepi32_epi8 smol_cvtepi32_epi8

inline simde__m512i smol_cvtps_epi32(simde__m512 values) {
  const simde__m512d pairs = simde_mm512_castps_pd(values);
  const __m256 high = _mm256_castpd_ps(simde_mm512_extractf64x4_pd(pairs, 1));
  return smol_join(_mm256_cvtps_epi32(simde_mm512_castps512_ps256(values)),
                   _mm256_cvtps_epi32(high));
}

// The low byte of each lane.
inline __m128i smol_cvtepi32_epi8(simde__m512i values) {
  alignas(64) unsigned char from[64];
  alignas(16) unsigned char to[16];
  simde_mm512_store_si512(from, values);
  for (int i = 0; i < 16; ++i) {
    to[i] = from[4 * i];
  }
  return _mm_load_si128(reinterpret_cast<const __m128i*>(to));
}

#define _mm512_permute_ps smol_permute_ps
#define _mm512_shuffle_f32x4 smol_shuffle_f32x4

// Lane 4q + l of the result is lane 4q + (two bits of `order` for l) of x.
inline simde__m512 smol_permute_ps(simde__m512 x, int order) {
  alignas(64) float from[16];
  alignas(64) float to[16];
  simde_mm512_store_ps(from, x);
  for (int i = 0; i < 16; ++i) {
    to[i] = from[i / 4 * 4 + (order >> (i % 4 * 2) & 3)];
  }
  return simde_mm512_load_ps(to);
}

// Quarters of four lanes: two of a, then two of b, two bits of `order` for each.
inline simde__m512 smol_shuffle_f32x4(simde__m512 a, simde__m512 b, int order) {
  alignas(64) float from[2][16];
  alignas(64) float to[16];
  simde_mm512_store_ps(from[0], a);
  simde_mm512_store_ps(from[1], b);
  for (int i = 0; i < 16; ++i) {
    const int quarter = i / 4;
    to[i] = from[quarter / 2][(order >> (quarter * 2) & 3) * 4 + i % 4];
  }
  return simde_mm512_load_ps(to);
}

#define _mm512_maskz_loadu_ps smol_maskz_loadu_ps
#define _mm512_mask_storeu_ps smol_mask_storeu_ps

// Lanes whose bit is clear are zero, or stay as they are; their memory is not touched.
inline simde__m512 smol_maskz_loadu_ps(unsigned mask, const float* from) {
  alignas(64) float lanes[16] = {};
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1U) != 0) {
      lanes[i] = from[i];
    }
  }
  return simde_mm512_load_ps(lanes);
}

inline void smol_mask_storeu_ps(float* to, unsigned mask, simde__m512 x) {
  alignas(64) float lanes[16];
  simde_mm512_store_ps(lanes, x);
  for (unsigned i = 0; i < 16; ++i) {
    if ((mask >> i & 1U) != 0) {
      to[i] = lanes[i];
    }
  }
}

#include "tiles.h"

// AVX-VNNI's names for what AVX-512 VL has, too.
#define _mm256_dpbusd_avx_epi32 simde_mm256_dpbusd_epi32
#define _mm256_dpwssd_avx_epi32 simde_mm256_dpwssd_epi32
