#include "kernels/x86/tiles.h"

#include <algorithm>

namespace smol::kernels::x86 {
namespace {

RowTile rows_at(const Matrix& w, std::size_t first, std::size_t end) noexcept {
  RowTile tile{{}, std::min(kTileRows, end - first)};
  for (std::size_t i = 0; i < kTileRows; ++i) {
    tile.rows[i] = w.data + (first + std::min(i, tile.count - 1)) * w.row_bytes;
  }
  return tile;
}

template <class Tile, std::size_t kChunk>
void multiply_rows(const TileKernel<Tile>& kernel, const RowTile& rows, const Activations& x,
                   float* y, std::size_t y_stride) noexcept {
  std::array<Tile, kChunk> tiles;
  const std::size_t n_blocks = x.n_cols / kernel.block_elements;
  for (std::size_t first = 0; first < n_blocks; first += kChunk) {
    const std::size_t count = std::min(kChunk, n_blocks - first);
    kernel.decode(rows, first, count, tiles.data());
    kernel.multiply({tiles.data(), first, count, &x, y, y_stride, rows.count});
  }
}

template <class Tile, std::size_t kChunk>
void matmul(const TileKernel<Tile>& kernel, const Matrix& w, const Activations& x, float* y,
            std::size_t y_stride, RowRange rows) noexcept {
  for (std::size_t r = rows.begin; r < rows.end; r += kTileRows) {
    const RowTile tile = rows_at(w, r, rows.end);
    if (x.n_tokens == 1) {
      const auto sums = kernel.one_token(tile, x);
      std::copy_n(sums.begin(), tile.count, y + r);
    } else {
      multiply_rows<Tile, kChunk>(kernel, tile, x, y + r, y_stride);
    }
  }
}

}  // namespace

void matmul_tiles(const SuperKernel& kernel, const Matrix& w, const Activations& x, float* y,
                  std::size_t y_stride, RowRange rows) noexcept {
  matmul<SuperTile, kSuperChunk>(kernel, w, x, y, y_stride, rows);
}

void matmul_tiles(const SmallKernel& kernel, const Matrix& w, const Activations& x, float* y,
                  std::size_t y_stride, RowRange rows) noexcept {
  matmul<SmallTile, kSmallChunk>(kernel, w, x, y, y_stride, rows);
}

}  // namespace smol::kernels::x86
