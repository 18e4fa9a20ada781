// One step of online softmax (64 scores of one query).
#pragma once

#include "kernels/kernel_table.h"
#include "kernels/math.h"

namespace smol::kernels::scalar {

using Weights = std::array<float, kStep>;

inline float largest(const Weights& scores) noexcept {
  Lanes lanes;
  std::copy_n(scores.begin(), kLanes, lanes.begin());
  for (std::size_t p = kLanes; p < kStep; ++p) {
    lanes[p % kLanes] = max_of(lanes[p % kLanes], scores[p]);
  }
  return max_lanes(lanes);
}

inline float sum_of(const Weights& weights) noexcept {
  Lanes lanes{};
  for (std::size_t p = 0; p < kStep; ++p) {
    lanes[p % kLanes] += weights[p];
  }
  return sum_lanes(lanes);
}

// Scores to weights; updates maximum and sum and returns what the accumulator is multiplied with.
inline float soften(Weights& weights, Partial& out) noexcept {
  const float max = max_of(out.max, largest(weights));
  const float correction = exp_float(out.max - max);
  for (float& weight : weights) {
    weight = exp_float(weight - max);
  }
  out.max = max;
  out.sum = fma_float(out.sum, correction, sum_of(weights));
  return correction;
}

}  // namespace smol::kernels::scalar
