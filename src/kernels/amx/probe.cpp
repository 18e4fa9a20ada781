#include "kernels/probe.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <immintrin.h>

#include "kernels/target_region.h"

SMOL_TARGET_BEGIN("amx-tile,amx-int8,avx512f")

#include "kernels/amx/tile_registers.h"

namespace smol::kernels {
namespace {

// Four sums of 16 by 16, from two tiles each of tokens and rows.
std::uint64_t int8_products(std::size_t rounds) noexcept {
  const x86::TileRegisters registers;
  alignas(64) std::array<std::uint8_t, x86::kTileRows * x86::kTileRowBytes> bytes;
  bytes.fill(3);
  x86::finish_writes();
  x86::clear_sum_tiles();
  _tile_loadd(4, bytes.data(), x86::kTileRowBytes);
  _tile_loadd(5, bytes.data(), x86::kTileRowBytes);
  _tile_loadd(6, bytes.data(), x86::kTileRowBytes);
  _tile_loadd(7, bytes.data(), x86::kTileRowBytes);
  for (std::size_t round = 0; round < rounds; ++round) {
    _tile_dpbsud(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbsud(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  alignas(64) std::array<std::int32_t, x86::kTileRows * x86::kTileRowBytes> sums;
  x86::store_sum_tiles(sums.data(), sums.size() / x86::kTileRows * sizeof(sums.front()));
  std::uint64_t all = 0;
  for (const std::int32_t sum : sums) {
    all |= static_cast<std::uint32_t>(sum);
  }
  return all;
}

}  // namespace

const Probe& amx_probe() noexcept {
  static const Probe kProbe{.isa = "amx",
                            .read_all = avx512_probe().read_all,
                            .int8_products = int8_products,
                            .products_per_round = std::size_t{4} * 16 * 16 * 64};
  return kProbe;
}

}  // namespace smol::kernels

SMOL_TARGET_END
