// Attention over a cache of int8: the definition of both products, Q.K and P.V, on codes.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "gguf/half.h"
#include "kernels/hadamard.h"
#include "kernels/kv_tile.h"
#include "kernels/math.h"
#include "kernels/run_walk.h"
#include "kernels/scalar/ops.h"
#include "kernels/scalar/softmax.h"

namespace smol::kernels::scalar {
namespace {

float largest_magnitude(std::span<const float> values) noexcept {
  return std::accumulate(values.begin(), values.end(), 0.0F, max_magnitude);
}

using HeadVector = std::array<float, kMostHeadDim>;

// The first values of `out`, transformed.
std::span<const float> spread(std::span<const float> x, HeadVector& out) noexcept {
  std::copy(x.begin(), x.end(), out.begin());
  const std::span<float> values = std::span(out).first(x.size());
  hadamard(values);
  return values;
}

// A query, transformed and quantized.
struct QueryCodes {
  std::array<std::int8_t, kMostHeadDim> codes;
  float factor;  // what an integer sum times the key's scale is multiplied with
};

QueryCodes quantize(std::span<const float> q, float scale) noexcept {
  HeadVector storage;
  const std::span<const float> values = spread(q, storage);
  const BlockScale block = block_scale(largest_magnitude(values));
  QueryCodes query{{}, block.scale * (scale / static_cast<float>(q.size()))};
  for (std::size_t d = 0; d < q.size(); ++d) {
    query.codes[d] = quantize_code(values[d], block.inverse);
  }
  return query;
}

class Tile {
 public:
  Tile(KvFormat format, const std::byte* bytes) : format_(format), bytes_(bytes) {}

  [[nodiscard]] std::size_t head_dim() const noexcept { return format_.head_dim; }

  [[nodiscard]] int key(std::size_t index, std::size_t d) const noexcept {
    return std::to_integer<std::int8_t>(bytes_[key_code(index, d)]);
  }

  [[nodiscard]] int value(std::size_t index, std::size_t d) const noexcept {
    const std::size_t at = values_offset(format_) + value_code(index, d, format_.head_dim);
    return std::to_integer<std::int8_t>(bytes_[at]);
  }

  [[nodiscard]] float key_scale(std::size_t index) const noexcept { return scale(index); }

  [[nodiscard]] float value_scale(std::size_t index) const noexcept { return scale(kStep + index); }

 private:
  [[nodiscard]] float scale(std::size_t index) const noexcept {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes_ + scales_offset(format_) + index * kScaleBytes, kScaleBytes);
    return gguf::f16_to_f32(half);
  }

  KvFormat format_;
  const std::byte* bytes_;
};

Weights scores_of(const Tile& tile, std::size_t count, const QueryCodes& query) noexcept {
  Weights scores;
  scores.fill(kNegativeInfinity);
  for (std::size_t p = 0; p < count; ++p) {
    int sum = 0;
    for (std::size_t d = 0; d < tile.head_dim(); ++d) {
      sum += query.codes[d] * tile.key(p, d);
    }
    scores[p] = static_cast<float>(sum) * tile.key_scale(p) * query.factor;
  }
  return scores;
}

void attend_tile(const Tile& tile, std::size_t count, const QueryCodes& query,
                 Partial& out) noexcept {
  Weights weights = scores_of(tile, count, query);
  const float correction = soften(weights, out);
  for (std::size_t p = 0; p < count; ++p) {
    weights[p] *= tile.value_scale(p);
  }
  const BlockScale block = block_scale(largest_magnitude(std::span(weights).first(count)));
  std::array<int, kStep> codes{};
  for (std::size_t p = 0; p < count; ++p) {
    codes[p] = weight_code(weights[p], block.inverse);
  }
  for (std::size_t d = 0; d < tile.head_dim(); ++d) {
    int sum = 0;
    for (std::size_t p = 0; p < count; ++p) {
      sum += codes[p] * tile.value(p, d);
    }
    out.acc[d] = fma_float(static_cast<float>(sum), block.scale, out.acc[d] * correction);
  }
}

}  // namespace

void store_int8(KvFormat format, std::byte* tile, std::size_t index, const float* key,
                const float* value) noexcept {
  const std::size_t dim = format.head_dim;
  HeadVector storage;
  const std::span<const float> spread_key = spread({key, dim}, storage);
  const HalfScale k = half_scale(largest_magnitude(spread_key));
  const HalfScale v = half_scale(largest_magnitude({value, dim}));
  std::byte* values = tile + values_offset(format);
  for (std::size_t d = 0; d < dim; ++d) {
    tile[key_code(index, d)] = static_cast<std::byte>(quantize_code(spread_key[d], k.inverse));
    values[value_code(index, d, dim)] = static_cast<std::byte>(quantize_code(value[d], v.inverse));
  }
  std::byte* scales = tile + scales_offset(format);
  std::memcpy(scales + index * kScaleBytes, &k.half, kScaleBytes);
  std::memcpy(scales + (kStep + index) * kScaleBytes, &v.half, kScaleBytes);
}

void attend_int8(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  const std::size_t dim = run.format.head_dim;
  start(queries, dim, out);
  for (std::size_t t = 0; t < queries.n_tokens; ++t) {
    for (std::size_t h = 0; h < queries.n_heads; ++h) {
      const QueryCodes query =
          quantize({queries.q + t * queries.token_stride + h * dim, dim}, queries.scale);
      for (std::size_t at = 0; at < queries.visible_to(t); at += kStep) {
        attend_tile({run.format, run.tiles[at / kStep]}, visible_in(queries, t, at / kStep), query,
                    out[t * queries.n_heads + h]);
      }
    }
  }
}

}  // namespace smol::kernels::scalar
