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
      for (std::size_t s = 0; s < 8; ++s) {
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

SMOL_TARGET_END

}  // namespace smol::kernels::x86
