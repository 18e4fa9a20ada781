// From the integer sums of a block to the float accumulators of four rows: the part of a product
// where order counts.
#pragma once

#include "kernels/x86/super_formats.h"
#include "kernels/x86/tiles.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

// Accumulators of one token and four rows: kept in y between the chunks of a row.
inline __m128 load_acc(const float* y, std::size_t n_rows, std::size_t first_block) noexcept {
  if (first_block == 0) {
    return _mm_setzero_ps();
  }
  std::array<float, kTileRows> values{};
  for (std::size_t r = 0; r < n_rows; ++r) {
    values[r] = y[r];
  }
  return _mm_loadu_ps(values.data());
}

inline void store_acc(float* y, std::size_t n_rows, __m128 acc) noexcept {
  if (n_rows == kTileRows) {
    _mm_storeu_ps(y, acc);
    return;
  }
  std::array<float, kTileRows> values{};
  _mm_storeu_ps(values.data(), acc);
  for (std::size_t r = 0; r < n_rows; ++r) {
    y[r] = values[r];
  }
}

// acc = fma(dx, fma(-dmin, M, d I), acc) for four rows.
inline __m128 add_minimum(__m128i isum, __m128i msum, __m128 d, __m128 dmin, float dx,
                          __m128 acc) noexcept {
  const __m128 product = _mm_mul_ps(d, _mm_cvtepi32_ps(isum));
  const __m128 term = _mm_fnmadd_ps(dmin, _mm_cvtepi32_ps(msum), product);
  return _mm_fmadd_ps(_mm_set1_ps(dx), term, acc);
}

// acc = fma(d dx, I, acc) for four rows.
inline __m128 add_scaled(__m128i isum, __m128 d, float dx, __m128 acc) noexcept {
  return _mm_fmadd_ps(_mm_mul_ps(d, _mm_set1_ps(dx)), _mm_cvtepi32_ps(isum), acc);
}

// A token's share of one super-block.
struct SuperToken {
  const std::int8_t* codes;
  const std::int16_t* sums;
  float scale;
};

inline SuperToken super_token(const Activations& x, std::size_t t, std::size_t b) noexcept {
  const std::size_t at = b * x.n_tokens + t;
  return {x.codes + at * 256, x.sums + at * 16, x.scales[at]};
}

// A token's share of one block of 32; `sum` of its 32 codes.
struct SmallToken {
  __m256i codes;
  int sum;
  float scale;
};

inline SmallToken small_token(const Activations& x, std::size_t t, std::size_t b) noexcept {
  const std::size_t at = b * x.n_tokens + t;
  const std::int16_t* sums = x.sums + at * 2;
  return {load256(x.codes + at * 32), sums[0] + sums[1], x.scales[at]};
}

// What four rows of a super-block have besides their codes.
struct SuperFactors {
  __m256i mins[kTileRows];
  __m128 d, dmin;
};

inline SuperFactors super_factors(const SuperTile& tile) noexcept {
  return {{load256(tile.mins[0].data()), load256(tile.mins[1].data()), load256(tile.mins[2].data()),
           load256(tile.mins[3].data())},
          _mm_loadu_ps(tile.d.data()),
          _mm_loadu_ps(tile.dmin.data())};
}

// `dots`: for each row eight partial sums of scale * code * x.
template <SuperKind kKind>
__m128 add_super(const __m256i (&dots)[kTileRows], const SuperFactors& w, const SuperToken& x,
                 __m128 acc) noexcept {
  if constexpr (kKind == SuperKind::Signed) {
    return add_scaled(sum_each(dots[0], dots[1], dots[2], dots[3]), w.d, x.scale, acc);
  }
  const __m256i sums = load256(x.sums);
  const __m256i m0 = _mm256_madd_epi16(w.mins[0], sums);
  const __m256i m1 = _mm256_madd_epi16(w.mins[1], sums);
  const __m256i m2 = _mm256_madd_epi16(w.mins[2], sums);
  const __m256i m3 = _mm256_madd_epi16(w.mins[3], sums);
  if constexpr (kKind == SuperKind::Offset) {
    const __m128i total = sum_each(_mm256_add_epi32(dots[0], m0), _mm256_add_epi32(dots[1], m1),
                                   _mm256_add_epi32(dots[2], m2), _mm256_add_epi32(dots[3], m3));
    return add_scaled(total, w.d, x.scale, acc);
  }
  return add_minimum(sum_each(dots[0], dots[1], dots[2], dots[3]), sum_each(m0, m1, m2, m3), w.d,
                     w.dmin, x.scale, acc);
}

// `dots`: the sum of code * x of each row; unsigned codes stand kOffset too high.
template <bool kMinimum, int kOffset>
__m128 add_small(__m128i dots, const SmallToken& x, __m128 d, __m128 m, __m128 acc) noexcept {
  if constexpr (kOffset != 0) {
    dots = _mm_sub_epi32(dots, _mm_set1_epi32(kOffset * x.sum));
  }
  acc = add_scaled(dots, d, x.scale, acc);
  if constexpr (kMinimum) {
    acc = add_scaled(_mm_set1_epi32(x.sum), m, x.scale, acc);
  }
  return acc;
}

SMOL_TARGET_END

}  // namespace smol::kernels::x86
