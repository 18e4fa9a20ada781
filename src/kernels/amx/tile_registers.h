// The tile registers of AMX, all eight shaped alike: 16 rows of 64 bytes. Included inside the
// target region "amx-tile,amx-int8".
#pragma once

namespace smol::kernels::x86 {
namespace {

inline constexpr std::size_t kTileRows = 16;
inline constexpr std::size_t kTileRowBytes = 64;

// Palette 1 (Intel's Software Developer's Manual, LDTILECFG).
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};

static_assert(sizeof(TileShapes) == 64);

inline constexpr TileShapes kTileShapes;

// This thread's tiles are in use as long as one lives.
class TileRegisters {
 public:
  TileRegisters() noexcept { _tile_loadconfig(&kTileShapes); }

  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;

  ~TileRegisters() { _tile_release(); }
};

// What was written before is in memory: g++ 12 does not know that tile loads read it.
inline void finish_writes() noexcept {
  asm volatile("" ::: "memory");
}

// Tiles 0 to 3 hold sums, the others what is multiplied.
inline void clear_sum_tiles() noexcept {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

// The four sums side by side: int32 [16, 64] with rows `stride` bytes apart.
inline void store_sum_tiles(std::int32_t* to, std::size_t stride) noexcept {
  _tile_stored(0, to, stride);
  _tile_stored(1, to + 16, stride);
  _tile_stored(2, to + 32, stride);
  _tile_stored(3, to + 48, stride);
}

}  // namespace
}  // namespace smol::kernels::x86
