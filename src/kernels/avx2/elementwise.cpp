// Normalisation, rotary embedding, SwiGLU and addition.
#include "kernels/avx2/math.h"
#include "kernels/avx2/ops.h"

namespace smol::kernels::avx2 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace {

float sum_of_squares(std::span<const float> x) noexcept {
  __m256 low = _mm256_setzero_ps();
  __m256 high = _mm256_setzero_ps();
  const std::size_t whole = x.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const __m256 a = _mm256_loadu_ps(x.data() + i);
    const __m256 b = _mm256_loadu_ps(x.data() + i + kWidth);
    low = _mm256_fmadd_ps(a, a, low);
    high = _mm256_fmadd_ps(b, b, high);
  }
  Lanes lanes{};
  _mm256_storeu_ps(lanes.data(), low);
  _mm256_storeu_ps(lanes.data() + kWidth, high);
  for (std::size_t i = whole; i < x.size(); ++i) {
    lanes[i - whole] = std::fma(x[i], x[i], lanes[i - whole]);
  }
  return sum_lanes(lanes);
}

// Four adjacent pairs: even lanes a cos - b sin, odd lanes a sin + b cos.
__m256 turn_adjacent(__m256 x, const float* cos, const float* sin) noexcept {
  const __m128 c = _mm_loadu_ps(cos);
  const __m128 s = _mm_loadu_ps(sin);
  const __m256 cs =
      _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_unpacklo_ps(c, s)), _mm_unpackhi_ps(c, s), 1);
  const __m256 sc = _mm256_permute_ps(cs, 0xB1);
  return _mm256_fmaddsub_ps(_mm256_moveldup_ps(x), cs, _mm256_mul_ps(_mm256_movehdup_ps(x), sc));
}

}  // namespace

void rms_norm(std::span<const float> x, std::span<const float> weight, float eps,
              std::span<float> y) noexcept {
  const float factor = rms_factor(sum_of_squares(x), x.size(), eps);
  const __m256 factors = _mm256_set1_ps(factor);
  std::size_t i = 0;
  for (; i + kWidth <= x.size(); i += kWidth) {
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x.data() + i), factors);
    _mm256_storeu_ps(y.data() + i, _mm256_mul_ps(scaled, _mm256_loadu_ps(weight.data() + i)));
  }
  for (; i < x.size(); ++i) {
    y[i] = (x[i] * factor) * weight[i];
  }
}

void rope_adjacent(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                   const float* sin) noexcept {
  for (std::size_t h = 0; h < n_heads; ++h) {
    float* head = x + h * head_dim;
    std::size_t j = 0;
    for (; j + kWidth / 2 <= head_dim / 2; j += kWidth / 2) {
      const __m256 turned = turn_adjacent(_mm256_loadu_ps(head + 2 * j), cos + j, sin + j);
      _mm256_storeu_ps(head + 2 * j, turned);
    }
    for (; j < head_dim / 2; ++j) {
      const Pair turned = turn({head[2 * j], head[2 * j + 1]}, cos[j], sin[j]);
      head[2 * j] = turned.a;
      head[2 * j + 1] = turned.b;
    }
  }
}

void rope_halves(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                 const float* sin) noexcept {
  const std::size_t half = head_dim / 2;
  for (std::size_t h = 0; h < n_heads; ++h) {
    float* head = x + h * head_dim;
    std::size_t j = 0;
    for (; j + kWidth <= half; j += kWidth) {
      const __m256 a = _mm256_loadu_ps(head + j);
      const __m256 b = _mm256_loadu_ps(head + half + j);
      const __m256 c = _mm256_loadu_ps(cos + j);
      const __m256 s = _mm256_loadu_ps(sin + j);
      _mm256_storeu_ps(head + j, _mm256_fmsub_ps(a, c, _mm256_mul_ps(b, s)));
      _mm256_storeu_ps(head + half + j, _mm256_fmadd_ps(a, s, _mm256_mul_ps(b, c)));
    }
    for (; j < half; ++j) {
      const Pair turned = turn({head[j], head[j + half]}, cos[j], sin[j]);
      head[j] = turned.a;
      head[j + half] = turned.b;
    }
  }
}

void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) noexcept {
  std::size_t i = 0;
  for (; i + kWidth <= y.size(); i += kWidth) {
    const __m256 gated = avx2::silu(_mm256_loadu_ps(gate.data() + i));
    _mm256_storeu_ps(y.data() + i, _mm256_mul_ps(gated, _mm256_loadu_ps(up.data() + i)));
  }
  for (; i < y.size(); ++i) {
    y[i] = kernels::silu(gate[i]) * up[i];
  }
}

void add(std::span<float> x, std::span<const float> y) noexcept {
  std::size_t i = 0;
  for (; i + kWidth <= x.size(); i += kWidth) {
    _mm256_storeu_ps(x.data() + i,
                     _mm256_add_ps(_mm256_loadu_ps(x.data() + i), _mm256_loadu_ps(y.data() + i)));
  }
  for (; i < x.size(); ++i) {
    x[i] += y[i];
  }
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx2
