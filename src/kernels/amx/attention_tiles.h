// What attention in tiles keeps of the queries of a call, and its two products: 16 queries by 16
// positions by 64 dimensions an instruction, then 16 queries by 16 dimensions by 64 positions. Keys
// and values lie in the cache as tiles want them. Included inside the target region of AMX.
#pragma once

#include "kernels/amx/tile_registers.h"
#include "kernels/avx512/attention_ops.h"
#include "kernels/x86/attention_int8.h"

namespace smol::kernels::x86 {
namespace {

struct TileOps : Avx512AttentionOps {
  static constexpr int kKeyBias = 0;
};

inline constexpr std::size_t kGroup = kTileRows;  // queries whose columns are the rows of a tile
inline constexpr std::size_t kVectorsPerStep = kStep / kFloats;
// Those that fill up the last group are multiplied, too; nobody reads their results.
inline constexpr std::size_t kMostColumns = kMostQueries + kGroup;

// Integer sums of a group with 64 positions or 64 dimensions.
using GroupSums = std::array<std::array<std::int32_t, kStep>, kGroup>;

// Without their accumulators.
struct Partials {
  std::array<float, kMostColumns> maxima, sums;
};

// The queries of a call, a column each.
struct alignas(64) QueryColumns {
  Partials run;    // of the one that is walked through
  Partials total;  // of the runs before
  std::array<QueryCodes<TileOps>, kMostColumns> codes;
};

// One step of all columns.
struct alignas(64) Step {
  // Of the group that is worked on, and of the next.
  std::array<GroupSums, 2> key_sums, value_sums;
  std::array<std::array<std::uint8_t, kStep>, kMostColumns> codes;  // of the weights
  std::array<float, kMostColumns> corrections, scales;
};

// Tiles that Q.K of a group multiplies.
template <std::size_t kDim>
inline constexpr std::size_t kKeyProducts = kDim / kTileRowBytes * 4;

// Q.K of a group. The tiles work on their own: between(i) is done meanwhile, for i in
// [0, kKeyProducts<kDim>).
template <std::size_t kDim, class Between>
[[gnu::always_inline]] inline void multiply_keys(const std::byte* keys,
                                                 const QueryCodes<TileOps>* queries, GroupSums& out,
                                                 const Between& between) noexcept {
  constexpr std::size_t kStride = kStep * 4;
  finish_writes();
  clear_sum_tiles();
#pragma GCC unroll 2
  for (std::size_t d = 0; d < kDim; d += kTileRowBytes) {
    const std::byte* from = keys + d * kStep;
    const std::size_t first = d / kTileRowBytes * 4;
    _tile_loadd(4, queries->codes.data() + d / 4, sizeof(QueryCodes<TileOps>));
    _tile_loadd(5, from, kStride);
    _tile_dpbssd(0, 4, 5);
    between(first);
    _tile_loadd(6, from + kTileRowBytes, kStride);
    _tile_dpbssd(1, 4, 6);
    between(first + 1);
    _tile_loadd(7, from + 2 * kTileRowBytes, kStride);
    _tile_dpbssd(2, 4, 7);
    between(first + 2);
    _tile_loadd(5, from + 3 * kTileRowBytes, kStride);
    _tile_dpbssd(3, 4, 5);
    between(first + 3);
  }
  store_sum_tiles(out.front().data(), kStride);
}

// P.V of a group for 64 dimensions. between(i) is done meanwhile, for i in [0, 4).
template <std::size_t kDim, class Between>
[[gnu::always_inline]] inline void multiply_values(const std::byte* values,
                                                   const std::uint8_t* codes, GroupSums& out,
                                                   const Between& between) noexcept {
  constexpr std::size_t kStride = kDim * 4;
  finish_writes();
  clear_sum_tiles();
  _tile_loadd(4, codes, kStep);
  _tile_loadd(5, values, kStride);
  _tile_dpbusd(0, 4, 5);
  between(0);
  _tile_loadd(6, values + kTileRowBytes, kStride);
  _tile_dpbusd(1, 4, 6);
  between(1);
  _tile_loadd(7, values + 2 * kTileRowBytes, kStride);
  _tile_dpbusd(2, 4, 7);
  between(2);
  _tile_loadd(5, values + 3 * kTileRowBytes, kStride);
  _tile_dpbusd(3, 4, 5);
  between(3);
  store_sum_tiles(out.front().data(), 4 * kTileRowBytes);
}

}  // namespace
}  // namespace smol::kernels::x86
