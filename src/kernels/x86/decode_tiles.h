// Blocks of four rows -> the tiles that batches are multiplied with.
#pragma once

#include "kernels/x86/small_formats.h"
#include "kernels/x86/super_formats.h"
#include "kernels/x86/tiles.h"

namespace smol::kernels::x86 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

// The addresses of block `index` in each row.
template <class Format>
std::array<const std::byte*, kTileRows> blocks_at(const RowTile& rows, std::size_t index) noexcept {
  std::array<const std::byte*, kTileRows> blocks{};
  for (std::size_t r = 0; r < kTileRows; ++r) {
    blocks[r] = rows.rows[r] + index * sizeof(typename Format::Block);
  }
  return blocks;
}

template <class Format>
void decode_super(const RowTile& rows, std::size_t first, std::size_t count,
                  SuperTile* tiles) noexcept {
  for (std::size_t b = 0; b < count; ++b) {
    const auto blocks = blocks_at<Format>(rows, first + b);
    SuperTile& tile = tiles[b];
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const SuperRow row = Format::decode(blocks[r]);
      for (int s = 0; s < 8; ++s) {
        store256(tile.codes[r].data() + 32 * s, row.codes[s]);
        store256(tile.scales[r].data() + 16 * s, spread_scale(row.scales, s));
      }
      store256(tile.mins[r].data(), row.mins);
    }
    _mm_storeu_ps(tile.d.data(), load_halves(blocks.data(), offsetof(typename Format::Block, d)));
    if constexpr (Format::kKind == SuperKind::Minimum) {
      _mm_storeu_ps(tile.dmin.data(),
                    load_halves(blocks.data(), offsetof(typename Format::Block, dmin)));
    }
  }
}

template <class Format>
void decode_small(const RowTile& rows, std::size_t first, std::size_t count,
                  SmallTile* tiles) noexcept {
  for (std::size_t b = 0; b < count; ++b) {
    const auto blocks = blocks_at<Format>(rows, first + b);
    SmallTile& tile = tiles[b];
    for (std::size_t r = 0; r < kTileRows; ++r) {
      store256(tile.codes[r].data(), Format::codes(blocks[r]));
    }
    _mm_storeu_ps(tile.d.data(), load_halves(blocks.data(), offsetof(typename Format::Block, d)));
    if constexpr (Format::kMinimum) {
      _mm_storeu_ps(tile.m.data(), load_halves(blocks.data(), offsetof(typename Format::Block, m)));
    }
  }
}

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

SMOL_TARGET_END

}  // namespace smol::kernels::x86
