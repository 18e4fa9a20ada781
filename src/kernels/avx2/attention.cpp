// Attention over one run of the cache. Up to four query heads share each key and value that is
// loaded.
#include <algorithm>

#include "kernels/avx2/ops.h"
#include "kernels/avx2/softmax.h"
#include "kernels/kv_tile.h"
#include "kernels/run_walk.h"

namespace smol::kernels::avx2 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace {

struct F32Cache {
  using Stored = float;

  static __m256 load(const Stored* from) noexcept { return _mm256_loadu_ps(from); }
};

struct F16Cache {
  using Stored = std::uint16_t;

  static __m256 load(const Stored* from) noexcept { return _mm256_cvtph_ps(x86::load128(from)); }
};

// The weights of one step for some heads: first scores, then exp(score - max).
template <std::size_t kHeads>
using StepWeights = std::array<std::array<float, kStep>, kHeads>;

// One step of some heads of a token.
struct Step {
  const std::byte* keys;
  const std::byte* values;
  std::size_t count;  // positions that the token sees, up to kStep
  std::size_t head_dim;
  const float* q;
  float scale;
};

template <class Cache>
const typename Cache::Stored* stored(const std::byte* bytes) noexcept {
  return static_cast<const typename Cache::Stored*>(static_cast<const void*>(bytes));
}

template <class Cache, std::size_t kHeads>
void score_group(const typename Cache::Stored* keys, std::size_t head_dim, const float* q,
                 float scale, float (&out)[kHeads][kKeyGroup]) noexcept {
  __m256 low[kHeads];
  __m256 high[kHeads];
  for (std::size_t h = 0; h < kHeads; ++h) {
    low[h] = _mm256_setzero_ps();
    high[h] = _mm256_setzero_ps();
  }
  for (std::size_t d = 0; d < head_dim; ++d) {
    const __m256 k_low = Cache::load(keys + d * kKeyGroup);
    const __m256 k_high = Cache::load(keys + d * kKeyGroup + kWidth);
    for (std::size_t h = 0; h < kHeads; ++h) {
      const __m256 value = _mm256_set1_ps(q[h * head_dim + d]);
      low[h] = _mm256_fmadd_ps(value, k_low, low[h]);
      high[h] = _mm256_fmadd_ps(value, k_high, high[h]);
    }
  }
  const __m256 factor = _mm256_set1_ps(scale);
  for (std::size_t h = 0; h < kHeads; ++h) {
    _mm256_storeu_ps(out[h], _mm256_mul_ps(factor, low[h]));
    _mm256_storeu_ps(out[h] + kWidth, _mm256_mul_ps(factor, high[h]));
  }
}

template <class Cache, std::size_t kHeads>
StepWeights<kHeads> scores_of(const Step& step) noexcept {
  StepWeights<kHeads> scores;
  const auto* keys = stored<Cache>(step.keys);
  for (std::size_t at = 0; at < kStep; at += kKeyGroup) {
    float group[kHeads][kKeyGroup];
    std::size_t valid = 0;
    if (at < step.count) {
      valid = std::min(kKeyGroup, step.count - at);
      score_group<Cache, kHeads>(keys + at * step.head_dim, step.head_dim, step.q, step.scale,
                                 group);
    }
    for (std::size_t h = 0; h < kHeads; ++h) {
      std::copy_n(group[h], valid, scores[h].begin() + at);
      std::fill(scores[h].begin() + at + valid, scores[h].begin() + at + kKeyGroup,
                kNegativeInfinity);
    }
  }
  return scores;
}

// acc[d, d + 16) of each head over the step's values.
template <class Cache, std::size_t kHeads>
void add_values(const Step& step, const StepWeights<kHeads>& weights,
                const std::array<float, kHeads>& corrections, Partial* out) noexcept {
  const auto* values = stored<Cache>(step.values);
  for (std::size_t d = 0; d < step.head_dim; d += kLanes) {
    __m256 low[kHeads];
    __m256 high[kHeads];
    for (std::size_t h = 0; h < kHeads; ++h) {
      const __m256 correction = _mm256_set1_ps(corrections[h]);
      low[h] = _mm256_mul_ps(_mm256_loadu_ps(out[h].acc + d), correction);
      high[h] = _mm256_mul_ps(_mm256_loadu_ps(out[h].acc + d + kWidth), correction);
    }
    for (std::size_t p = 0; p < step.count; ++p) {
      const __m256 v_low = Cache::load(values + p * step.head_dim + d);
      const __m256 v_high = Cache::load(values + p * step.head_dim + d + kWidth);
      for (std::size_t h = 0; h < kHeads; ++h) {
        const __m256 weight = _mm256_set1_ps(weights[h][p]);
        low[h] = _mm256_fmadd_ps(weight, v_low, low[h]);
        high[h] = _mm256_fmadd_ps(weight, v_high, high[h]);
      }
    }
    for (std::size_t h = 0; h < kHeads; ++h) {
      _mm256_storeu_ps(out[h].acc + d, low[h]);
      _mm256_storeu_ps(out[h].acc + d + kWidth, high[h]);
    }
  }
}

template <class Cache, std::size_t kHeads>
void attend_step(Step step, std::size_t first_head, Partial* out) noexcept {
  step.q += first_head * step.head_dim;
  StepWeights<kHeads> weights = scores_of<Cache, kHeads>(step);
  std::array<float, kHeads> corrections;
  for (std::size_t h = 0; h < kHeads; ++h) {
    corrections[h] = soften(weights[h], out[first_head + h]);
  }
  add_values<Cache, kHeads>(step, weights, corrections, out + first_head);
}

template <class Cache>
void attend_heads(const Step& step, std::size_t n_heads, Partial* out) noexcept {
  std::size_t h = 0;
  for (; h + 4 <= n_heads; h += 4) {
    attend_step<Cache, 4>(step, h, out);
  }
  for (; h + 2 <= n_heads; h += 2) {
    attend_step<Cache, 2>(step, h, out);
  }
  if (h < n_heads) {
    attend_step<Cache, 1>(step, h, out);
  }
}

template <class Cache>
void attend_tokens(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  const std::size_t dim = run.format.head_dim;
  start(queries, dim, out);
  for (std::size_t step = 0; step < n_steps(queries); ++step) {
    const std::byte* tile = run.tiles[step];
    for (std::size_t t = first_token(queries, step); t < queries.n_tokens; ++t) {
      attend_heads<Cache>({tile, tile + values_offset(run.format), visible_in(queries, t, step),
                           dim, queries.q + t * queries.token_stride, queries.scale},
                          queries.n_heads, out + t * queries.n_heads);
    }
  }
}

void store_half(KvFormat format, std::byte* tile, std::size_t index, const float* key,
                const float* value) noexcept {
  const std::size_t dim = format.head_dim;
  void* to = tile;
  void* values_to = tile + values_offset(format);
  auto* keys = static_cast<std::uint16_t*>(to) + key_column(index, dim);
  auto* values = static_cast<std::uint16_t*>(values_to) + index * dim;
  for (std::size_t d = 0; d < dim; d += kWidth) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(value + d), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values + d), halves);
    std::array<std::uint16_t, kWidth> parts;
    _mm_storeu_si128(reinterpret_cast<__m128i*>(parts.data()),
                     _mm256_cvtps_ph(_mm256_loadu_ps(key + d), _MM_FROUND_TO_NEAREST_INT));
    for (std::size_t i = 0; i < kWidth; ++i) {
      keys[(d + i) * kKeyGroup] = parts[i];
    }
  }
}

}  // namespace

void kv_store(KvFormat format, std::byte* tile, std::size_t index, const float* key,
              const float* value) noexcept {
  if (format.type == KvType::Int8) {
    store_int8(format.head_dim, tile, index, key, value);
    return;
  }
  if (format.type == KvType::F16) {
    store_half(format, tile, index, key, value);
    return;
  }
  const std::size_t dim = format.head_dim;
  void* to = tile;
  void* values_to = tile + values_offset(format);
  float* column = static_cast<float*>(to) + key_column(index, dim);
  for (std::size_t d = 0; d < dim; ++d) {
    column[d * kKeyGroup] = key[d];
  }
  std::copy_n(value, dim, static_cast<float*>(values_to) + index * dim);
}

void attend_run(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  if (run.format.type == KvType::Int8) {
    attend_int8(run, queries, out);
  } else if (run.format.type == KvType::F32) {
    attend_tokens<F32Cache>(run, queries, out);
  } else {
    attend_tokens<F16Cache>(run, queries, out);
  }
}

void join(const Partial& run, std::size_t head_dim, Partial& into) noexcept {
  const float max = max_of(into.max, run.max);
  const float old_factor = kernels::exp_float(into.max - max);
  const float new_factor = kernels::exp_float(run.max - max);
  into.max = max;
  into.sum = std::fma(into.sum, old_factor, run.sum * new_factor);
  for (std::size_t d = 0; d < head_dim; d += kWidth) {
    const __m256 added = _mm256_mul_ps(_mm256_loadu_ps(run.acc + d), _mm256_set1_ps(new_factor));
    const __m256 old = _mm256_loadu_ps(into.acc + d);
    _mm256_storeu_ps(into.acc + d, _mm256_fmadd_ps(old, _mm256_set1_ps(old_factor), added));
  }
}

void combine_runs(std::span<const Partial> runs, std::size_t head_dim, float* y) noexcept {
  Partial all{runs[0].max, runs[0].sum, y};
  std::copy_n(runs[0].acc, head_dim, y);
  for (const Partial& run : runs.subspan(1)) {
    join(run, head_dim, all);
  }
  const __m256 inverse = _mm256_set1_ps(1.0F / all.sum);
  for (std::size_t d = 0; d < head_dim; d += kWidth) {
    _mm256_storeu_ps(y + d, _mm256_mul_ps(_mm256_loadu_ps(y + d), inverse));
  }
}

SMOL_TARGET_END

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept {
  attend_each_run(runs, queries, out, attend_run, join);
}

}  // namespace smol::kernels::avx2
