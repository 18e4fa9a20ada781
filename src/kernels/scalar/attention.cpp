// The cache of keys and values, and attention over it by online softmax (flash-decoding: Dao et al.
// 2023).
#include <algorithm>

#include "gguf/half.h"
#include "kernels/kv_tile.h"
#include "kernels/math.h"
#include "kernels/run_walk.h"
#include "kernels/scalar/ops.h"
#include "kernels/scalar/softmax.h"

namespace smol::kernels::scalar {
namespace {

// Up to 64 positions, as floats, read once for all queries.
struct StepTile {
  std::size_t head_dim;
  std::array<float, kStep * kMostHeadDim> k;  // groups of 16: [head_dim, 16]
  std::array<float, kStep * kMostHeadDim> v;  // [kStep, head_dim]
};

void read_floats(KvType type, const std::byte* from, std::span<float> out) noexcept {
  const void* start = from;
  if (type == KvType::F32) {
    std::copy_n(static_cast<const float*>(start), out.size(), out.begin());
    return;
  }
  const auto* source = static_cast<const std::uint16_t*>(start);
  std::transform(source, source + out.size(), out.begin(), gguf::f16_to_f32);
}

void read_tile(KvFormat format, const std::byte* from, StepTile& tile) noexcept {
  tile.head_dim = format.head_dim;
  const std::size_t n = kStep * format.head_dim;
  read_floats(format.type, from, std::span(tile.k).first(n));
  read_floats(format.type, from + values_offset(format), std::span(tile.v).first(n));
}

// Positions from `count` on have the score -infinity.
Weights scores_of(const StepTile& tile, std::size_t count, const float* q, float scale) noexcept {
  Weights scores;
  scores.fill(kNegativeInfinity);
  for (std::size_t group = 0; group * kKeyGroup < count; ++group) {
    const float* keys = tile.k.data() + group * kKeyGroup * tile.head_dim;
    Lanes lanes{};
    for (std::size_t d = 0; d < tile.head_dim; ++d) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        lanes[l] = fma_float(q[d], keys[d * kKeyGroup + l], lanes[l]);
      }
    }
    const std::size_t valid = std::min(kKeyGroup, count - group * kKeyGroup);
    for (std::size_t l = 0; l < valid; ++l) {
      scores[group * kKeyGroup + l] = scale * lanes[l];
    }
  }
  return scores;
}

void attend_tile(const StepTile& tile, std::size_t count, const float* q, float scale,
                 Partial& out) noexcept {
  Weights weights = scores_of(tile, count, q, scale);
  const float correction = soften(weights, out);
  for (std::size_t d = 0; d < tile.head_dim; ++d) {
    out.acc[d] *= correction;
  }
  for (std::size_t p = 0; p < count; ++p) {
    const float* value = tile.v.data() + p * tile.head_dim;
    for (std::size_t d = 0; d < tile.head_dim; ++d) {
      out.acc[d] = fma_float(weights[p], value[d], out.acc[d]);
    }
  }
}

}  // namespace

void kv_store(KvFormat format, std::byte* tile, std::size_t index, const float* key,
              const float* value) noexcept {
  if (format.type == KvType::Int8) {
    store_int8(format, tile, index, key, value);
    return;
  }
  const std::size_t dim = format.head_dim;
  const std::size_t column = key_column(index, dim);
  void* keys = tile;
  void* values = tile + values_offset(format);
  for (std::size_t d = 0; d < dim; ++d) {
    if (format.type == KvType::F32) {
      static_cast<float*>(keys)[column + d * kKeyGroup] = key[d];
      static_cast<float*>(values)[index * dim + d] = value[d];
    } else {
      static_cast<std::uint16_t*>(keys)[column + d * kKeyGroup] = gguf::f32_to_f16(key[d]);
      static_cast<std::uint16_t*>(values)[index * dim + d] = gguf::f32_to_f16(value[d]);
    }
  }
}

namespace {

void attend_run(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  if (run.format.type == KvType::Int8) {
    attend_int8(run, queries, out);
    return;
  }
  const std::size_t dim = run.format.head_dim;
  start(queries, dim, out);
  StepTile tile;
  for (std::size_t step = 0; step < n_steps(queries); ++step) {
    read_tile(run.format, run.tiles[step], tile);
    for (std::size_t t = first_token(queries, step); t < queries.n_tokens; ++t) {
      const std::size_t count = visible_in(queries, t, step);
      for (std::size_t h = 0; h < queries.n_heads; ++h) {
        attend_tile(tile, count, queries.q + t * queries.token_stride + h * dim, queries.scale,
                    out[t * queries.n_heads + h]);
      }
    }
  }
}

void join(const Partial& run, std::size_t head_dim, Partial& into) noexcept {
  const float max = max_of(into.max, run.max);
  const float old_factor = exp_float(into.max - max);
  const float new_factor = exp_float(run.max - max);
  into.max = max;
  into.sum = fma_float(into.sum, old_factor, run.sum * new_factor);
  for (std::size_t d = 0; d < head_dim; ++d) {
    into.acc[d] = fma_float(into.acc[d], old_factor, run.acc[d] * new_factor);
  }
}

}  // namespace

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept {
  attend_each_run(runs, queries, out, attend_run, join);
}

void combine_runs(std::span<const Partial> runs, std::size_t head_dim, float* y) noexcept {
  Partial all{runs[0].max, runs[0].sum, y};
  std::copy_n(runs[0].acc, head_dim, y);
  for (const Partial& run : runs.subspan(1)) {
    join(run, head_dim, all);
  }
  const float inverse = 1.0F / all.sum;
  for (std::size_t d = 0; d < head_dim; ++d) {
    y[d] *= inverse;
  }
}

}  // namespace smol::kernels::scalar
