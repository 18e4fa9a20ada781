// Super-blocks of 256 weights -> codes and scales in AVX2 registers. Codes are unsigned, offsets
// are folded into `mins`; only IQ4_XS has signed codes.
#pragma once

#include "gguf/quant_blocks.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::x86 {

enum class SuperKind {
  Offset,   // I = sum scale * (code . x) + sum min * (sum of 16 x)
  Minimum,  // the same two sums, the second with its own factor dmin
  Signed    // I = sum scale * (signed code . x)
};

// A decoded super-block of one row.
struct SuperRow {
  __m256i codes[8];  // bytes, in element order
  __m256i scales;  // int16: of the 16-groups 0, 2, ... 14 in the low half, 1, 3, ... 15 in the high
  __m256i mins;    // int16, one for each 16-group in order
};

SMOL_TARGET_BEGIN("avx2,fma,f16c")

// int16 lanes for the codes [32 s, 32 s + 32): the scale of group 2s in the low half, of 2s+1 in
// the high.
inline __m256i spread_scale(__m256i scales, std::size_t s) noexcept {
  return _mm256_shuffle_epi8(scales, _mm256_set1_epi16(static_cast<short>(0x0100 + 0x0202 * s)));
}

// 16 bytes in order -> even ones first, then odd ones.
inline __m128i split_even_odd(__m128i bytes) noexcept {
  return _mm_shuffle_epi8(bytes,
                          _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
}

inline __m256i nibble_mask() noexcept {
  return _mm256_set1_epi8(15);
}

struct Q5K {
  using Block = gguf::BlockQ5K;
  static constexpr SuperKind kKind = SuperKind::Minimum;

  static SuperRow decode(const std::byte* block) noexcept {
    SuperRow row = scales_of(block + offsetof(Block, scales));
    const std::byte* qs = block + offsetof(Block, qs);
    const __m256i high = load256(block + offsetof(Block, qh));
    const __m256i bit = _mm256_set1_epi8(16);
    const __m256i fifth[8] = {_mm256_slli_epi16(high, 4),
                              _mm256_slli_epi16(high, 3),
                              _mm256_slli_epi16(high, 2),
                              _mm256_slli_epi16(high, 1),
                              high,
                              _mm256_srli_epi16(high, 1),
                              _mm256_srli_epi16(high, 2),
                              _mm256_srli_epi16(high, 3)};
    for (std::size_t pair = 0; pair < 4; ++pair) {
      const __m256i both = load256(qs + 32 * pair);
      const __m256i low = _mm256_and_si256(both, nibble_mask());
      const __m256i top = _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble_mask());
      row.codes[2 * pair] = _mm256_or_si256(low, _mm256_and_si256(fifth[2 * pair], bit));
      row.codes[2 * pair + 1] = _mm256_or_si256(top, _mm256_and_si256(fifth[2 * pair + 1], bit));
    }
    return row;
  }

  // 12 bytes of 6-bit scales and minima, four at a time.
  static SuperRow scales_of(const std::byte* packed) noexcept {
    const std::uint32_t a = load_u32(packed);
    const std::uint32_t b = load_u32(packed + 4);
    const std::uint32_t c = load_u32(packed + 8);
    const std::uint32_t scales_high = (c & 0x0F0F0F0FU) | ((a >> 2U) & 0x30303030U);
    const std::uint32_t mins_high = ((c >> 4U) & 0x0F0F0F0FU) | ((b >> 2U) & 0x30303030U);
    const __m128i bytes =
        _mm_setr_epi32(static_cast<int>(a & 0x3F3F3F3FU), static_cast<int>(scales_high),
                       static_cast<int>(b & 0x3F3F3F3FU), static_cast<int>(mins_high));
    const __m256i wide = _mm256_cvtepu8_epi16(bytes);
    const __m128i mins = _mm256_extracti128_si256(wide, 1);
    SuperRow row;
    row.scales = both_halves(_mm256_castsi256_si128(wide));
    row.mins = join(_mm_unpacklo_epi16(mins, mins), _mm_unpackhi_epi16(mins, mins));
    return row;
  }
};

// Two bits of the elements 128 half + 32 step + l in byte 32 half + l.
inline void two_bit_codes(const std::byte* qs, __m256i* codes) noexcept {
  const __m256i mask = _mm256_set1_epi8(3);
  for (std::size_t half = 0; half < 2; ++half) {
    const __m256i all = load256(qs + 32 * half);
    codes[4 * half] = _mm256_and_si256(all, mask);
    codes[4 * half + 1] = _mm256_and_si256(_mm256_srli_epi16(all, 2), mask);
    codes[4 * half + 2] = _mm256_and_si256(_mm256_srli_epi16(all, 4), mask);
    codes[4 * half + 3] = _mm256_and_si256(_mm256_srli_epi16(all, 6), mask);
  }
}

struct Q2K {
  using Block = gguf::BlockQ2K;
  static constexpr SuperKind kKind = SuperKind::Minimum;

  static SuperRow decode(const std::byte* block) noexcept {
    SuperRow row;
    two_bit_codes(block + offsetof(Block, qs), row.codes);
    const __m128i both = load128(block + offsetof(Block, scales));
    const __m128i mask = _mm_set1_epi8(15);
    const __m128i mins = _mm_and_si128(_mm_srli_epi16(both, 4), mask);
    row.scales = _mm256_cvtepu8_epi16(split_even_odd(_mm_and_si128(both, mask)));
    row.mins = _mm256_cvtepu8_epi16(mins);
    return row;
  }
};

struct Q3K {
  using Block = gguf::BlockQ3K;
  static constexpr SuperKind kKind = SuperKind::Offset;

  static SuperRow decode(const std::byte* block) noexcept {
    SuperRow row;
    two_bit_codes(block + offsetof(Block, qs), row.codes);
    const __m256i high = load256(block + offsetof(Block, hmask));
    const __m256i third[8] = {
        _mm256_slli_epi16(high, 2), _mm256_slli_epi16(high, 1), high,
        _mm256_srli_epi16(high, 1), _mm256_srli_epi16(high, 2), _mm256_srli_epi16(high, 3),
        _mm256_srli_epi16(high, 4), _mm256_srli_epi16(high, 5)};
    for (std::size_t s = 0; s < 8; ++s) {
      row.codes[s] = _mm256_or_si256(row.codes[s], _mm256_and_si256(third[s], _mm256_set1_epi8(4)));
    }
    const __m128i scales = scales_of(block + offsetof(Block, scales));
    row.scales = _mm256_cvtepi8_epi16(split_even_odd(scales));
    // Codes stand 4 too high.
    row.mins = _mm256_sub_epi16(_mm256_setzero_si256(),
                                _mm256_slli_epi16(_mm256_cvtepi8_epi16(scales), 2));
    return row;
  }

  // 12 bytes of 6-bit scales, four at a time, less 32.
  static __m128i scales_of(const std::byte* packed) noexcept {
    const std::uint32_t a = load_u32(packed);
    const std::uint32_t b = load_u32(packed + 4);
    const std::uint32_t c = load_u32(packed + 8);
    const auto merge = [](std::uint32_t low, std::uint32_t high) {
      return static_cast<int>((low & 0x0F0F0F0FU) | ((high & 0x03030303U) << 4U));
    };
    const __m128i scales = _mm_setr_epi32(merge(a, c), merge(b, c >> 2U), merge(a >> 4U, c >> 4U),
                                          merge(b >> 4U, c >> 6U));
    return _mm_sub_epi8(scales, _mm_set1_epi8(32));
  }
};

struct Iq4Xs {
  using Block = gguf::BlockIq4Xs;
  static constexpr SuperKind kKind = SuperKind::Signed;

  static SuperRow decode(const std::byte* block) noexcept {
    SuperRow row;
    const __m256i values = both_halves(load128(gguf::kIq4Values.data()));
    for (std::size_t s = 0; s < 8; ++s) {
      const __m128i both = load128(block + offsetof(Block, qs) + 16 * s);
      const __m256i nibbles = _mm256_and_si256(join(both, _mm_srli_epi16(both, 4)), nibble_mask());
      row.codes[s] = _mm256_shuffle_epi8(values, nibbles);
    }
    row.scales = both_halves(scales_of(block));
    row.mins = _mm256_setzero_si256();
    return row;
  }

  // Eight 6-bit scales, less 32, as int16.
  static __m128i scales_of(const std::byte* block) noexcept {
    const std::uint32_t low = load_u32(block + offsetof(Block, scales_l));
    const std::uint32_t high = load_u16(block + offsetof(Block, scales_h));
    const __m128i even = _mm_cvtsi32_si128(static_cast<int>(low & 0x0F0F0F0FU));
    const __m128i odd = _mm_cvtsi32_si128(static_cast<int>((low >> 4U) & 0x0F0F0F0FU));
    const __m128i low_bits = _mm_cvtepu8_epi16(_mm_unpacklo_epi8(even, odd));
    // A product by 2^(14 - 2i) brings bits 2i and 2i+1 to the top.
    const __m128i top = _mm_mullo_epi16(
        _mm_set1_epi16(static_cast<short>(high)),
        _mm_setr_epi16(1 << 14, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 2, 1));
    const __m128i high_bits = _mm_slli_epi16(_mm_srli_epi16(top, 14), 4);
    return _mm_sub_epi16(_mm_or_si128(low_bits, high_bits), _mm_set1_epi16(32));
  }
};

SMOL_TARGET_END

}  // namespace smol::kernels::x86
