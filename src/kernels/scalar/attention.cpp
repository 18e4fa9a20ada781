// The cache of keys and values, and attention over it by online softmax (flash-decoding: Dao et al.
// 2023).
#include <algorithm>

#include "gguf/half.h"
#include "kernels/math.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();
constexpr std::size_t kMaxHeadDim = 128;

// Up to 64 positions, as floats, read once for all query heads.
struct StepTile {
  std::size_t head_dim;
  std::size_t count;
  std::array<float, kStep * kMaxHeadDim> k;  // groups of 16: [head_dim, 16]
  std::array<float, kStep * kMaxHeadDim> v;  // [count, head_dim]
};

using Weights = std::array<float, kStep>;

void read_floats(const KvHead& head, const void* from, std::size_t first,
                 std::span<float> out) noexcept {
  if (head.type == KvType::F32) {
    const float* source = static_cast<const float*>(from) + first;
    std::copy_n(source, out.size(), out.begin());
    return;
  }
  const std::uint16_t* source = static_cast<const std::uint16_t*>(from) + first;
  std::transform(source, source + out.size(), out.begin(), gguf::f16_to_f32);
}

void read_tile(const KvHead& head, std::size_t step, std::size_t end, StepTile& tile) noexcept {
  tile.head_dim = head.head_dim;
  tile.count = std::min(kStep, end - step);
  const std::size_t groups = (tile.count + kKeyGroup - 1) / kKeyGroup;
  const std::size_t first = step * head.head_dim;
  read_floats(head, head.k, first, std::span(tile.k).first(groups * kKeyGroup * head.head_dim));
  read_floats(head, head.v, first, std::span(tile.v).first(tile.count * head.head_dim));
}

Weights scores_of(const StepTile& tile, const float* q, float scale) noexcept {
  Weights scores;
  scores.fill(kNegativeInfinity);
  for (std::size_t group = 0; group * kKeyGroup < tile.count; ++group) {
    const float* keys = tile.k.data() + group * kKeyGroup * tile.head_dim;
    Lanes lanes{};
    for (std::size_t d = 0; d < tile.head_dim; ++d) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        lanes[l] = std::fma(q[d], keys[d * kKeyGroup + l], lanes[l]);
      }
    }
    const std::size_t valid = std::min(kKeyGroup, tile.count - group * kKeyGroup);
    for (std::size_t l = 0; l < valid; ++l) {
      scores[group * kKeyGroup + l] = scale * lanes[l];
    }
  }
  return scores;
}

float largest(const Weights& scores) noexcept {
  Lanes lanes;
  std::copy_n(scores.begin(), kLanes, lanes.begin());
  for (std::size_t p = kLanes; p < kStep; ++p) {
    lanes[p % kLanes] = max_of(lanes[p % kLanes], scores[p]);
  }
  return max_lanes(lanes);
}

float sum_of(const Weights& weights) noexcept {
  Lanes lanes{};
  for (std::size_t p = 0; p < kStep; ++p) {
    lanes[p % kLanes] += weights[p];
  }
  return sum_lanes(lanes);
}

void attend_tile(const StepTile& tile, const float* q, float scale, Partial& out) noexcept {
  Weights weights = scores_of(tile, q, scale);
  const float max = max_of(out.max, largest(weights));
  const float correction = exp_float(out.max - max);
  for (float& weight : weights) {
    weight = exp_float(weight - max);
  }
  out.max = max;
  out.sum = std::fma(out.sum, correction, sum_of(weights));
  for (std::size_t d = 0; d < tile.head_dim; ++d) {
    out.acc[d] *= correction;
  }
  for (std::size_t p = 0; p < tile.count; ++p) {
    const float* value = tile.v.data() + p * tile.head_dim;
    for (std::size_t d = 0; d < tile.head_dim; ++d) {
      out.acc[d] = std::fma(weights[p], value[d], out.acc[d]);
    }
  }
}

}  // namespace

void kv_store(const KvHead& head, std::size_t position, const float* key,
              const float* value) noexcept {
  const std::size_t dim = head.head_dim;
  const std::size_t column = position / kKeyGroup * dim * kKeyGroup + position % kKeyGroup;
  for (std::size_t d = 0; d < dim; ++d) {
    if (head.type == KvType::F32) {
      static_cast<float*>(head.k)[column + d * kKeyGroup] = key[d];
      static_cast<float*>(head.v)[position * dim + d] = value[d];
    } else {
      static_cast<std::uint16_t*>(head.k)[column + d * kKeyGroup] = gguf::f32_to_f16(key[d]);
      static_cast<std::uint16_t*>(head.v)[position * dim + d] = gguf::f32_to_f16(value[d]);
    }
  }
}

// NOLINTNEXTLINE(readability-function-size): the contract's parameters
void attend_run(const KvHead& head, const float* q, std::size_t n_heads, float scale,
                std::size_t begin, std::size_t end, Partial* out) noexcept {
  for (std::size_t h = 0; h < n_heads; ++h) {
    out[h].max = kNegativeInfinity;
    out[h].sum = 0.0F;
    std::fill_n(out[h].acc, head.head_dim, 0.0F);
  }
  StepTile tile;
  for (std::size_t step = begin; step < end; step += kStep) {
    read_tile(head, step, end, tile);
    for (std::size_t h = 0; h < n_heads; ++h) {
      attend_tile(tile, q + h * head.head_dim, scale, out[h]);
    }
  }
}

void combine_runs(std::span<const Partial> runs, std::size_t head_dim, float* y) noexcept {
  float max = runs[0].max;
  float sum = runs[0].sum;
  std::copy_n(runs[0].acc, head_dim, y);
  for (const Partial& run : runs.subspan(1)) {
    const float joined = max_of(max, run.max);
    const float old_factor = exp_float(max - joined);
    const float new_factor = exp_float(run.max - joined);
    max = joined;
    sum = std::fma(sum, old_factor, run.sum * new_factor);
    for (std::size_t d = 0; d < head_dim; ++d) {
      y[d] = std::fma(y[d], old_factor, run.acc[d] * new_factor);
    }
  }
  const float inverse = 1.0F / sum;
  for (std::size_t d = 0; d < head_dim; ++d) {
    y[d] *= inverse;
  }
}

}  // namespace smol::kernels::scalar
