// Least-squares search of the scale of a few values with signed codes: x ~ scale * q.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gguf/half.h"

namespace smol::gguf {

inline constexpr float kLargestHalf = 65504.0F;

// Nearest half precision number, the largest finite one at most.
inline std::uint16_t saturated_half(float value) noexcept {
  return f32_to_f16(std::clamp(value, -kLargestHalf, kLargestHalf));
}

// 1 / value, 0 for values whose reciprocal is no finite float.
inline float safe_reciprocal(float value) noexcept {
  const float reciprocal = 1.0F / value;
  return std::isfinite(reciprocal) ? reciprocal : 0.0F;
}

// Nearest integer to `value`, halves away from zero, in [low, high]; NaN, which only overflowing
// sums can lead to, becomes `high`. Written so that loops of it vectorize.
inline float nearest_code(float value, float low, float high) noexcept {
  const float shifted = std::max(low, std::min(high, value)) + (value < 0.0F ? -0.5F : 0.5F);
  return static_cast<float>(static_cast<std::int32_t>(shifted));
}

// The scale with the smallest squared error for codes in [low, high] (low < 0), among those that
// the codes of some starting scales near `extreme / low` and `extreme / high` lead to. 0 for values
// that are all 0.
template <std::size_t N>
float search_scale(std::span<const float, N> values, float low, float high) noexcept {
  float extreme = 0.0F;
  for (const float value : values) {
    extreme = std::abs(value) > std::abs(extreme) ? value : extreme;
  }
  constexpr int kSteps = 9;
  constexpr float kStep = 0.12F;  // in codes; wider or finer steps gain under 0.3 % of error
  float best_scale = 0.0F;
  float best_gain = 0.0F;  // by how much the squared error falls below that of all zeros
  for (int i = 0; i < 2 * kSteps; ++i) {
    const float edge = i < kSteps ? low : high;
    const float offset = kStep * static_cast<float>(i % kSteps - 3) * (edge < 0.0F ? 1.0F : -1.0F);
    const float inverse = (edge + offset) * safe_reciprocal(extreme);
    float sum_xq = 0.0F;
    float sum_qq = 0.0F;
    for (const float value : values) {
      const float code = nearest_code(value * inverse, low, high);
      sum_xq += value * code;
      sum_qq += code * code;
    }
    const float scale = sum_xq * safe_reciprocal(sum_qq);
    if (sum_xq * scale > best_gain) {
      best_gain = sum_xq * scale;
      best_scale = scale;
    }
  }
  return best_scale;
}

}  // namespace smol::gguf
