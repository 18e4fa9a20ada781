// Attention of many queries over a cache of int8 in tiles: 16 queries by 16 positions by 64
// dimensions an instruction, then 16 queries by 16 dimensions by 64 positions. Keys and values lie
// in the cache as tiles want them; what stands between the products is AVX-512's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "kernels/amx/ops.h"
#include "kernels/avx512/ops.h"
#include "kernels/kv_tile.h"
#include "kernels/math.h"
#include "kernels/run_walk.h"
#include "kernels/x86/vectors.h"

SMOL_TARGET_BEGIN("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

#include "kernels/amx/tile_registers.h"
#include "kernels/avx512/attention_ops.h"
#include "kernels/x86/attention_int8.h"

namespace smol::kernels::x86 {
namespace {

struct TileAttentionOps : Avx512AttentionOps {
  static constexpr std::size_t kTogether = kTileRows;
  static constexpr int kKeyBias = 0;
};

constexpr std::size_t kLinesAhead = 16;  // a step of 64 dimensions, in either product

// All kTogether columns go through the tiles; those beyond n give sums that nobody reads.
template <std::size_t kDim>
struct Products<TileAttentionOps, kDim> {
  using Ops = TileAttentionOps;
  static_assert(kDim % kTileRowBytes == 0);

  static void multiply_keys(const std::byte* keys, const QueryCodes<Ops>* queries,
                            std::size_t /*n*/, ColumnsOf<Ops>& columns, Ahead& ahead) noexcept {
    constexpr std::size_t kStride = kStep * 4;
    finish_writes();
    clear_sum_tiles();
    for (std::size_t d = 0; d < kDim; d += kTileRowBytes) {
      ahead.ask<kLinesAhead>();
      const std::byte* from = keys + d * kStep;
      _tile_loadd(4, queries->codes.data() + d / 4, sizeof(QueryCodes<Ops>));
      _tile_loadd(5, from, kStride);
      _tile_loadd(6, from + kTileRowBytes, kStride);
      _tile_loadd(7, from + 2 * kTileRowBytes, kStride);
      _tile_dpbssd(0, 4, 5);
      _tile_loadd(5, from + 3 * kTileRowBytes, kStride);
      _tile_dpbssd(1, 4, 6);
      _tile_dpbssd(2, 4, 7);
      _tile_dpbssd(3, 4, 5);
    }
    store_sum_tiles(columns.sums.front().data(), kStride);
  }

  static void add_values(const std::byte* values, const ColumnsOf<Ops>& columns, std::size_t n,
                         Partial* out, Ahead& ahead) noexcept {
    alignas(64) std::array<std::array<std::int32_t, 4 * kFloats>, kTileRows> sums;
    for (std::size_t d = 0; d < kDim; d += 4 * kFloats) {
      ahead.ask<kLinesAhead>();
      multiply_values(values + d * 4, columns, sums.front().data());
      for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t i = 0; i < sums[c].size(); i += kFloats) {
          Ops::accumulate(out[c].acc + d + i, columns.corrections[c], columns.scales[c],
                          Ops::load_bytes(sums[c].data() + i));
        }
      }
    }
  }

 private:
  // Sums [16, 64] of as many dimensions.
  static void multiply_values(const std::byte* values, const ColumnsOf<Ops>& columns,
                              std::int32_t* sums) noexcept {
    constexpr std::size_t kStride = kDim * 4;
    finish_writes();
    clear_sum_tiles();
    _tile_loadd(4, columns.codes.front().data(), kStep);
    _tile_loadd(5, values, kStride);
    _tile_loadd(6, values + kTileRowBytes, kStride);
    _tile_loadd(7, values + 2 * kTileRowBytes, kStride);
    _tile_dpbusd(0, 4, 5);
    _tile_loadd(5, values + 3 * kTileRowBytes, kStride);
    _tile_dpbusd(1, 4, 6);
    _tile_dpbusd(2, 4, 7);
    _tile_dpbusd(3, 4, 5);
    store_sum_tiles(sums, 4 * kTileRowBytes);
  }
};

bool suits_tiles(const KvFormat& format, const Queries& queries) noexcept {
  return format.type == KvType::Int8 && format.head_dim % kTileRowBytes == 0 &&
         queries.n_tokens * queries.n_heads >= kTileRows;
}

}  // namespace
}  // namespace smol::kernels::x86

namespace smol::kernels::amx {

void attend_run(const KvRun& run, const Queries& queries, Partial* out) noexcept {
  if (!x86::suits_tiles(run.format, queries)) {
    avx512::attend_run(run, queries, out);
    return;
  }
  const x86::TileRegisters registers;
  if (run.format.head_dim == x86::kMaxHeadDim) {
    x86::attend_run_int8<x86::TileAttentionOps, x86::kMaxHeadDim>(run, queries, out);
  } else {
    x86::attend_run_int8<x86::TileAttentionOps, x86::kTileRowBytes>(run, queries, out);
  }
}

}  // namespace smol::kernels::amx

SMOL_TARGET_END
