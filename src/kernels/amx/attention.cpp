// Attention of many queries over a cache of int8, with its products in tiles.
//
// The tiles work on their own: the sums that come next are multiplied while the vectors work on
// those that are there. Idle for a few hundred clocks, they take as long to wake.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "kernels/amx/ops.h"
#include "kernels/avx512/math.h"
#include "kernels/avx512/ops.h"
#include "kernels/kv_tile.h"
#include "kernels/run_walk.h"
#include "kernels/x86/vectors.h"

SMOL_TARGET_BEGIN("amx-tile,amx-int8,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

#include "kernels/amx/attention_softmax.h"
#include "kernels/amx/attention_tiles.h"

namespace smol::kernels::x86 {
namespace {

// Sums of 64 dimensions, times their scale, to accumulators times their correction.
void add_sums(const std::int32_t* sums, float correction, float scale, float* to) noexcept {
  const __m512 old_factor = _mm512_set1_ps(correction);
  const __m512 factor = _mm512_set1_ps(scale);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kStep; i += kFloats) {
    const __m512 old = _mm512_mul_ps(_mm512_loadu_ps(to + i), old_factor);
    const __m512 added = _mm512_cvtepi32_ps(_mm512_load_si512(sums + i));
    _mm512_storeu_ps(to + i, _mm512_fmadd_ps(added, factor, old));
  }
}

// A call whose queries go through tiles, each of them a column.
template <std::size_t kDim>
class TileAttention {
 public:
  TileAttention(const KvRuns& runs, const Queries& queries, Partial* out) noexcept
      : runs_(runs),
        queries_(queries),
        n_(queries.n_tokens * queries.n_heads),
        n_steps_(n_steps(queries)),
        out_(out) {
    for (std::size_t c = 0; c < n_; ++c) {
      const float* q = queries.q + token_of(c) * queries.token_stride + c % queries.n_heads * kDim;
      quantize<TileOps, kDim>(q, queries.scale, columns_.codes[c]);
    }
    std::fill_n(columns_.codes.begin() + static_cast<std::ptrdiff_t>(n_), kGroup,
                QueryCodes<TileOps>{});
  }

  void attend() noexcept {
    columns_.total.maxima.fill(kNegativeInfinity);
    columns_.total.sums.fill(0.0F);
    for (std::size_t c = 0; c < n_ && queries_.continues; ++c) {
      columns_.total.maxima[c] = out_[c].max;
      columns_.total.sums[c] = out_[c].sum;
    }
    multiply({0, 0}, [](std::size_t) {});
    for (std::size_t step = 0; step < n_steps_; step += kTilesPerRun) {
      attend_run(step);
    }
    for (std::size_t c = 0; c < n_; ++c) {
      out_[c].max = columns_.total.maxima[c];
      out_[c].sum = columns_.total.sums[c];
    }
  }

 private:
  // A group of a step, by its first column.
  struct Place {
    std::size_t step, first;
  };

  [[nodiscard]] std::size_t token_of(std::size_t c) const noexcept { return c / queries_.n_heads; }

  // The first column that sees something of a step.
  [[nodiscard]] std::size_t first_column(std::size_t step) const noexcept {
    return first_token(queries_, step) * queries_.n_heads;
  }

  [[nodiscard]] Place after(Place at) const noexcept {
    return at.first + kGroup < n_ ? Place{at.step, at.first + kGroup}
                                  : Place{at.step + 1, first_column(at.step + 1)};
  }

  // The sums that are worked on next; between(i) is done meanwhile, in any case.
  template <class Between>
  void multiply(Place at, const Between& between) noexcept {
    if (at.step == n_steps_) {
      for (std::size_t i = 0; i < kKeyProducts<kDim>; ++i) {
        between(i);
      }
      return;
    }
    multiply_keys<kDim>(runs_.tiles[at.step], columns_.codes.data() + at.first, *next_sums_,
                        between);
  }

  // The run that begins with a step.
  void attend_run(std::size_t begin) noexcept {
    const bool is_first = begin == 0 && !queries_.continues;
    const std::size_t first = first_column(begin);
    columns_.run.maxima.fill(kNegativeInfinity);
    columns_.run.sums.fill(0.0F);
    for (std::size_t c = first; c < n_; ++c) {
      acc_[c] = is_first ? out_[c].acc : run_acc_.data() + c * kDim;
      for (std::size_t d = 0; d < kDim; d += kFloats) {
        _mm512_storeu_ps(acc_[c] + d, _mm512_setzero_ps());
      }
    }
    const std::size_t end = std::min(begin + kTilesPerRun, n_steps_);
    for (std::size_t step = begin; step < end; ++step) {
      const std::size_t soon = step + kTilesAhead;
      ahead_ = soon < runs_.n_tiles
                   ? Ahead{runs_.tiles[soon], runs_.tiles[soon] + tile_bytes(runs_.format)}
                   : Ahead{};
      attend_step(step);
    }
    if (is_first) {
      columns_.total = columns_.run;
    } else {
      join_run(first);
    }
  }

  void join_run(std::size_t first) noexcept {
    for (std::size_t group = first; group < n_; group += kGroup) {
      const JoinFactors factors = join_group(columns_.run, group, columns_.total);
      for (std::size_t c = group; c < std::min(group + kGroup, n_); ++c) {
        join_accumulators<kDim>(acc_[c], factors.old_factors[c - group],
                                factors.new_factors[c - group], out_[c].acc);
      }
    }
  }

  void attend_step(std::size_t step) noexcept {
    const std::byte* tile = runs_.tiles[step];
    const Positions at = read_positions(tile + scales_offset(runs_.format));
    const std::size_t first = first_column(step);
    const std::size_t n_groups = (n_ - first + kGroup - 1) / kGroup;
    const std::size_t lines = (tile_bytes(runs_.format) / 64 + n_groups - 1) / n_groups;
    for (std::size_t c = first; c < n_; c += kGroup) {
      std::swap(sums_, next_sums_);
      ahead_.ask(lines);
      soften(at, {step, c}, [&](const auto& work) { multiply(after({step, c}), work); });
    }
    add_values(tile + values_offset(runs_.format), first);
  }

  template <class Beside>
  void soften(const Positions& positions, Place at, const Beside& beside) noexcept {
    const auto count = [&](std::size_t c) { return visible_in(queries_, token_of(c), at.step); };
    if (count(at.first) == kStep) {
      soften_group<kKeyProducts<kDim>>(GroupOfStep<AllSeen>{positions, {}, at.first}, *sums_,
                                       columns_, step_, beside);
      return;
    }
    Seen seen;
    for (std::size_t c = 0; c < kGroup; ++c) {
      seen[c] = ~std::uint64_t{0} >> (kStep - count(at.first + c));
    }
    soften_group<kKeyProducts<kDim>>(GroupOfStep<Seen>{positions, seen, at.first}, *sums_, columns_,
                                     step_, beside);
  }

  void add_values(const std::byte* values, std::size_t first) noexcept {
    constexpr std::size_t kPieces = kDim / kStep;  // of a group, 64 dimensions each
    const std::size_t n_pieces = (n_ - first + kGroup - 1) / kGroup * kPieces;
    const auto column = [&](std::size_t piece) { return first + piece / kPieces * kGroup; };
    const auto dimension = [](std::size_t piece) { return piece % kPieces * kStep; };
    const auto multiply = [&](std::size_t piece, const auto& between) {
      if (piece < n_pieces) {
        multiply_values<kDim>(values + dimension(piece) * 4, step_.codes[column(piece)].data(),
                              step_.value_sums[piece % 2], between);
      } else {
        for (std::size_t i = 0; i < 4; ++i) {
          between(i);
        }
      }
    };
    multiply(0, [](std::size_t) {});
    for (std::size_t piece = 0; piece < n_pieces; ++piece) {
      multiply(piece + 1, [&](std::size_t part) {
        const std::size_t begin = column(piece) + part * (kGroup / 4);
        for (std::size_t c = begin; c < std::min(begin + kGroup / 4, n_); ++c) {
          add_sums(step_.value_sums[piece % 2][c - column(piece)].data(), step_.corrections[c],
                   step_.scales[c], acc_[c] + dimension(piece));
        }
      });
    }
  }

  const KvRuns& runs_;
  const Queries& queries_;
  std::size_t n_, n_steps_;
  Partial* out_;
  Ahead ahead_;
  std::array<float*, kMostQueries> acc_;
  alignas(64) std::array<float, kMostQueries * kDim> run_acc_;
  QueryColumns columns_;
  Step step_;
  GroupSums* sums_ = &step_.key_sums[0];
  GroupSums* next_sums_ = &step_.key_sums[1];
};

bool suits_tiles(const KvFormat& format, const Queries& queries) noexcept {
  return format.type == KvType::Int8 && format.head_dim % kTileRowBytes == 0 &&
         queries.n_tokens * queries.n_heads >= kGroup;
}

}  // namespace
}  // namespace smol::kernels::x86

namespace smol::kernels::amx {

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept {
  if (!x86::suits_tiles(runs.format, queries)) {
    avx512::attend(runs, queries, out);
    return;
  }
  const x86::TileRegisters registers;
  if (runs.format.head_dim == kMostHeadDim) {
    x86::TileAttention<kMostHeadDim>(runs, queries, out).attend();
  } else {
    x86::TileAttention<x86::kTileRowBytes>(runs, queries, out).attend();
  }
}

}  // namespace smol::kernels::amx

SMOL_TARGET_END
