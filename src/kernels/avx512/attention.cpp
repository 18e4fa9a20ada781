// Attention over one run of the cache. Up to four query heads share each key and value that is
// loaded.
#include <algorithm>

#include "kernels/avx2/softmax.h"
#include "kernels/avx512/ops.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace {

constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();

struct F32Cache {
  using Stored = float;

  static __m512 load(const Stored* from) noexcept { return _mm512_loadu_ps(from); }
};

struct F16Cache {
  using Stored = std::uint16_t;

  static __m512 load(const Stored* from) noexcept { return _mm512_cvtph_ps(x86::load256(from)); }
};

// The weights of one step for some heads: first scores, then exp(score - max).
template <std::size_t kHeads>
using StepWeights = std::array<std::array<float, kStep>, kHeads>;

struct Step {
  std::size_t first;  // position
  std::size_t count;  // up to kStep
};

template <class Cache, std::size_t kHeads>
void score_group(const typename Cache::Stored* keys, std::size_t head_dim, const float* q,
                 float scale, float (&out)[kHeads][kKeyGroup]) noexcept {
  __m512 sums[kHeads] = {};
  for (std::size_t d = 0; d < head_dim; ++d) {
    const __m512 key = Cache::load(keys + d * kKeyGroup);
    for (std::size_t h = 0; h < kHeads; ++h) {
      sums[h] = _mm512_fmadd_ps(_mm512_set1_ps(q[h * head_dim + d]), key, sums[h]);
    }
  }
  for (std::size_t h = 0; h < kHeads; ++h) {
    _mm512_storeu_ps(out[h], _mm512_mul_ps(_mm512_set1_ps(scale), sums[h]));
  }
}

template <class Cache, std::size_t kHeads>
StepWeights<kHeads> scores_of(const KvHead& head, const float* q, float scale, Step step) noexcept {
  StepWeights<kHeads> scores;
  const auto* keys =
      static_cast<const typename Cache::Stored*>(head.k) + step.first * head.head_dim;
  for (std::size_t at = 0; at < kStep; at += kKeyGroup) {
    float group[kHeads][kKeyGroup];
    std::size_t valid = 0;
    if (at < step.count) {
      valid = std::min(kKeyGroup, step.count - at);
      score_group<Cache, kHeads>(keys + at * head.head_dim, head.head_dim, q, scale, group);
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
void add_values(const KvHead& head, const StepWeights<kHeads>& weights,
                const std::array<float, kHeads>& corrections, Step step, Partial* out) noexcept {
  const auto* values =
      static_cast<const typename Cache::Stored*>(head.v) + step.first * head.head_dim;
  for (std::size_t d = 0; d < head.head_dim; d += kLanes) {
    __m512 acc[kHeads];
    for (std::size_t h = 0; h < kHeads; ++h) {
      acc[h] = _mm512_mul_ps(_mm512_loadu_ps(out[h].acc + d), _mm512_set1_ps(corrections[h]));
    }
    for (std::size_t p = 0; p < step.count; ++p) {
      const __m512 value = Cache::load(values + p * head.head_dim + d);
      for (std::size_t h = 0; h < kHeads; ++h) {
        acc[h] = _mm512_fmadd_ps(_mm512_set1_ps(weights[h][p]), value, acc[h]);
      }
    }
    for (std::size_t h = 0; h < kHeads; ++h) {
      _mm512_storeu_ps(out[h].acc + d, acc[h]);
    }
  }
}

template <class Cache, std::size_t kHeads>
void attend_step(const KvHead& head, const float* q, float scale, Step step,
                 Partial* out) noexcept {
  StepWeights<kHeads> weights = scores_of<Cache, kHeads>(head, q, scale, step);
  std::array<float, kHeads> corrections;
  for (std::size_t h = 0; h < kHeads; ++h) {
    corrections[h] = avx2::soften(weights[h], out[h]);
  }
  add_values<Cache, kHeads>(head, weights, corrections, step, out);
}

template <class Cache>
void attend_heads(const KvHead& head, const float* q, std::size_t n_heads, float scale, Step step,
                  Partial* out) noexcept {
  std::size_t h = 0;
  for (; h + 4 <= n_heads; h += 4) {
    attend_step<Cache, 4>(head, q + h * head.head_dim, scale, step, out + h);
  }
  for (; h + 2 <= n_heads; h += 2) {
    attend_step<Cache, 2>(head, q + h * head.head_dim, scale, step, out + h);
  }
  if (h < n_heads) {
    attend_step<Cache, 1>(head, q + h * head.head_dim, scale, step, out + h);
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): the contract's parameters
void attend_run(const KvHead& head, const float* q, std::size_t n_heads, float scale,
                std::size_t begin, std::size_t end, Partial* out) noexcept {
  for (std::size_t h = 0; h < n_heads; ++h) {
    out[h].max = kNegativeInfinity;
    out[h].sum = 0.0F;
    std::fill_n(out[h].acc, head.head_dim, 0.0F);
  }
  for (std::size_t first = begin; first < end; first += kStep) {
    const Step step{first, std::min(kStep, end - first)};
    if (head.type == KvType::F32) {
      attend_heads<F32Cache>(head, q, n_heads, scale, step, out);
    } else {
      attend_heads<F16Cache>(head, q, n_heads, scale, step, out);
    }
  }
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx512
