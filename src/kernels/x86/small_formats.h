// Blocks of 32 weights -> codes in one AVX2 register.
#pragma once

#include "gguf/quant_blocks.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

inline __m256i nibbles_in_order(const std::byte* qs) noexcept {
  const __m128i both = load128(qs);
  return _mm256_and_si256(join(both, _mm_srli_epi16(both, 4)), _mm256_set1_epi8(15));
}

// Bit j of the 32 bits at `qh` -> byte j is 16 or 0.
inline __m256i fifth_bits(const std::byte* qh) noexcept {
  const __m256i copies = _mm256_shuffle_epi8(
      _mm256_set1_epi32(load_i32(qh)),
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
  const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
  const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(copies, bits), bits);
  return _mm256_and_si256(set, _mm256_set1_epi8(16));
}

struct Q51 {
  using Block = gguf::BlockQ51;
  static constexpr bool kSigned = false;
  static constexpr bool kMinimum = true;

  static __m256i codes(const std::byte* block) noexcept {
    return _mm256_or_si256(nibbles_in_order(block + offsetof(Block, qs)),
                           fifth_bits(block + offsetof(Block, qh)));
  }
};

struct Iq4Nl {
  using Block = gguf::BlockIq4Nl;
  static constexpr bool kSigned = true;
  static constexpr bool kMinimum = false;

  static __m256i codes(const std::byte* block) noexcept {
    return _mm256_shuffle_epi8(both_halves(load128(gguf::kIq4Values.data())),
                               nibbles_in_order(block + offsetof(Block, qs)));
  }
};

SMOL_TARGET_END

}  // namespace smol::kernels::x86
