// Products of quantized weights in tiles of four rows. The loops over the matrix are the same for
// every x86 set; the work on a tile is not.
#pragma once

#include <array>

#include "kernels/kernel_table.h"

namespace smol::kernels::x86 {

inline constexpr std::size_t kTileRows = 4;

// Four rows of a matrix; where fewer are left the last is repeated, and only `count` results are
// kept.
struct RowTile {
  std::array<const std::byte*, kTileRows> rows;
  std::size_t count;
};

// One super-block of four rows, decoded: codes in element order, the scale of each 16-group
// repeated 8 times (so that it meets the pair sums of its codes), and the minimum of each 16-group.
struct alignas(64) SuperTile {
  std::array<std::array<std::uint8_t, 256>, kTileRows> codes;
  std::array<std::array<std::int16_t, 128>, kTileRows> scales;
  std::array<std::array<std::int16_t, 16>, kTileRows> mins;
  std::array<float, kTileRows> d, dmin;
};

// One block of 32 of four rows.
struct alignas(32) SmallTile {
  std::array<std::array<std::uint8_t, 32>, kTileRows> codes;
  std::array<float, kTileRows> d, m;
};

// Decoded weights, in bytes, stay in the first-level cache next to the activations of a few tokens:
// 2,048 columns.
inline constexpr std::size_t kSuperChunk = 8;
inline constexpr std::size_t kSmallChunk = 64;

// Blocks [first, first + count) of four rows against every token. y points at the tile's first row
// of token 0 and holds the accumulators between chunks.
template <class Tile>
struct TileJob {
  const Tile* tiles;
  std::size_t first, count;
  const Activations* x;
  float* y;
  std::size_t y_stride, n_rows;
};

template <class Tile>
struct TileKernel {
  std::size_t block_elements;
  void (*decode)(const RowTile& rows, std::size_t first, std::size_t count, Tile* tiles) noexcept;
  void (*multiply)(const TileJob<Tile>& job) noexcept;
  // One token, straight from the blocks: memory is what limits it.
  std::array<float, kTileRows> (*one_token)(const RowTile& rows, const Activations& x) noexcept;
};

using SuperKernel = TileKernel<SuperTile>;
using SmallKernel = TileKernel<SmallTile>;

void matmul_tiles(const SuperKernel& kernel, const Matrix& w, const Activations& x, float* y,
                  std::size_t y_stride, RowRange rows) noexcept;
void matmul_tiles(const SmallKernel& kernel, const Matrix& w, const Activations& x, float* y,
                  std::size_t y_stride, RowRange rows) noexcept;

}  // namespace smol::kernels::x86
