// One step of online softmax (64 scores of one head).
#pragma once

#include "kernels/avx2/math.h"
#include "kernels/kernel_table.h"

namespace smol::kernels::avx2 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

inline float largest(const std::array<float, kStep>& scores) noexcept {
  __m256 low = _mm256_loadu_ps(scores.data());
  __m256 high = _mm256_loadu_ps(scores.data() + kWidth);
  for (std::size_t p = kLanes; p < kStep; p += kLanes) {
    low = _mm256_max_ps(low, _mm256_loadu_ps(scores.data() + p));
    high = _mm256_max_ps(high, _mm256_loadu_ps(scores.data() + p + kWidth));
  }
  return x86::max_lanes8(_mm256_max_ps(low, high));
}

// scores -> exp(score - max); returns their 16-lane sum.
inline float exponentiate(std::array<float, kStep>& scores, float max) noexcept {
  __m256 sums[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  const __m256 largest = _mm256_set1_ps(max);
  for (std::size_t p = 0; p < kStep; p += kLanes) {
    for (std::size_t half = 0; half < 2; ++half) {
      float* at = scores.data() + p + half * kWidth;
      const __m256 weight = avx2::exp_float(_mm256_sub_ps(_mm256_loadu_ps(at), largest));
      _mm256_storeu_ps(at, weight);
      sums[half] = _mm256_add_ps(sums[half], weight);
    }
  }
  return x86::sum_lanes8(_mm256_add_ps(sums[0], sums[1]));
}

// Updates maximum and sum; returns what the accumulator is multiplied with.
inline float soften(std::array<float, kStep>& scores, Partial& out) noexcept {
  const float max = max_of(out.max, largest(scores));
  const float correction = kernels::exp_float(out.max - max);
  out.sum = std::fma(out.sum, correction, exponentiate(scores, max));
  out.max = max;
  return correction;
}

SMOL_TARGET_END

}  // namespace smol::kernels::avx2
