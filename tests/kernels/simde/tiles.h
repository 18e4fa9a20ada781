// AMX's tile registers, as Intel's Software Developer's Manual describes the instructions.
#pragma once

#include <cstdint>
#include <cstring>

struct SmolTile {
  std::uint8_t bytes[16][64];
};

// What LDTILECFG reads: rows and bytes of a row for each of the eight tiles.
struct SmolTileShapes {
  std::uint8_t palette, start_row, reserved[14];
  std::uint16_t row_bytes[16];
  std::uint8_t rows[16];
};

inline thread_local SmolTile smol_tiles[8];
inline thread_local SmolTileShapes smol_shapes;

inline void smol_tile_loadconfig(const void* shapes) {
  std::memcpy(&smol_shapes, shapes, sizeof(smol_shapes));
}

inline void smol_tile_release() {
  smol_shapes = {};
}

inline void smol_tile_zero(int tile) {
  smol_tiles[tile] = {};
}

inline void smol_tile_loadd(int tile, const void* from, std::size_t stride) {
  smol_tile_zero(tile);
  for (std::size_t row = 0; row < smol_shapes.rows[tile]; ++row) {
    std::memcpy(smol_tiles[tile].bytes[row], static_cast<const char*>(from) + row * stride,
                smol_shapes.row_bytes[tile]);
  }
}

inline void smol_tile_stored(int tile, void* to, std::size_t stride) {
  for (std::size_t row = 0; row < smol_shapes.rows[tile]; ++row) {
    std::memcpy(static_cast<char*>(to) + row * stride, smol_tiles[tile].bytes[row],
                smol_shapes.row_bytes[tile]);
  }
}

// Sum [m, n] += a [m, 4k + i] * b [k, 4n + i] over k and i in [0, 4), bytes of the given types.
template <class A, class B>
void smol_tile_products(int sum, int a, int b) {
  for (int m = 0; m < smol_shapes.rows[sum]; ++m) {
    for (int n = 0; n < smol_shapes.row_bytes[sum] / 4; ++n) {
      std::int32_t total = 0;
      std::memcpy(&total, smol_tiles[sum].bytes[m] + 4 * n, 4);
      for (int k = 0; k < smol_shapes.row_bytes[a] / 4; ++k) {
        for (int i = 0; i < 4; ++i) {
          total += static_cast<A>(smol_tiles[a].bytes[m][4 * k + i]) *
                   static_cast<B>(smol_tiles[b].bytes[k][4 * n + i]);
        }
      }
      std::memcpy(smol_tiles[sum].bytes[m] + 4 * n, &total, 4);
    }
  }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbssd
#undef _tile_dpbsud
#undef _tile_dpbusd
#define _tile_loadconfig smol_tile_loadconfig
#define _tile_release smol_tile_release
#define _tile_zero smol_tile_zero
#define _tile_loadd smol_tile_loadd
#define _tile_stored smol_tile_stored
#define _tile_dpbssd(sum, a, b) smol_tile_products<std::int8_t, std::int8_t>(sum, a, b)
#define _tile_dpbsud(sum, a, b) smol_tile_products<std::int8_t, std::uint8_t>(sum, a, b)
#define _tile_dpbusd(sum, a, b) smol_tile_products<std::uint8_t, std::int8_t>(sum, a, b)
