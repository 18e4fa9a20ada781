// One number for each of sixteen vectors: the fixed tree of kernels/math.h over their lanes, for
// all sixteen at once. Included inside the target region of AVX-512.
#pragma once

namespace smol::kernels::x86 {
namespace {

// Lane i of the result is vectors[i], its lanes l and l+8 joined, then l and l+4, l+2, l+1;
// Join::of(a, b) gets the lower lane as a.
template <class Join>
__m512 join_lanes(const __m512 (&vectors)[16]) noexcept {
  __m512 eights[8];  // lanes of two vectors
  for (std::size_t i = 0; i < 8; ++i) {
    const __m512 a = vectors[i % 4 + i / 4 * 8];
    const __m512 b = vectors[i % 4 + i / 4 * 8 + 4];
    eights[i] = Join::of(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
  }
  __m512 fours[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const __m512 a = eights[i];
    const __m512 b = eights[i + 4];
    fours[i] = Join::of(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
  }
  __m512 twos[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const __m512 a = fours[2 * i];
    const __m512 b = fours[2 * i + 1];
    twos[i] = Join::of(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xEE));
  }
  return Join::of(_mm512_shuffle_ps(twos[0], twos[1], 0x88),
                  _mm512_shuffle_ps(twos[0], twos[1], 0xDD));
}

struct SumOf {
  static __m512 of(__m512 a, __m512 b) noexcept { return _mm512_add_ps(a, b); }
};

struct MaxOf {
  static __m512 of(__m512 a, __m512 b) noexcept { return _mm512_max_ps(a, b); }
};

}  // namespace
}  // namespace smol::kernels::x86
