// Attention over one run of the cache. Up to four query heads share each key and value that is
// loaded.
#include <algorithm>

#include "kernels/avx2/ops.h"
#include "kernels/avx2/softmax.h"
#include "kernels/avx512/ops.h"
#include "kernels/kv_tile.h"
#include "kernels/run_walk.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace {

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
    __m512 acc[kHeads];
    for (std::size_t h = 0; h < kHeads; ++h) {
      acc[h] = _mm512_mul_ps(_mm512_loadu_ps(out[h].acc + d), _mm512_set1_ps(corrections[h]));
    }
    for (std::size_t p = 0; p < step.count; ++p) {
      const __m512 value = Cache::load(values + p * step.head_dim + d);
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
void attend_step(Step step, std::size_t first_head, Partial* out) noexcept {
  step.q += first_head * step.head_dim;
  StepWeights<kHeads> weights = scores_of<Cache, kHeads>(step);
  std::array<float, kHeads> corrections;
  for (std::size_t h = 0; h < kHeads; ++h) {
    corrections[h] = avx2::soften(weights[h], out[first_head + h]);
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

void attend_run(const KvRuns& run, const Queries& queries, Partial* out) noexcept {
  if (run.format.type == KvType::Int8) {
    attend_int8(run, queries, out);
  } else if (run.format.type == KvType::F32) {
    attend_tokens<F32Cache>(run, queries, out);
  } else {
    attend_tokens<F16Cache>(run, queries, out);
  }
}

}  // namespace

SMOL_TARGET_END

void attend(const KvRuns& runs, const Queries& queries, Partial* out) noexcept {
  attend_each_run(runs, queries, out, attend_run, avx2::join);
}

}  // namespace smol::kernels::avx512
