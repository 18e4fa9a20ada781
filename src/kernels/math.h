// The float arithmetic that every instruction set repeats bit for bit: exp, rounding, reductions.
// One element at a time here; vector code performs the same operations in the same order in each
// lane.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "gguf/half.h"
#include "kernels/fma.h"

namespace smol::kernels {

inline constexpr std::size_t kLanes = 16;

// 1.5 * 2^23: adding it to |x| < 2^22 leaves x, rounded to nearest even, in the low bits of the
// sum.
inline constexpr float kRoundMagic = 0x1.8p23F;

// e^x = 2^n * e^r with n = round(x / ln 2) and |r| <= ln(2) / 2. The polynomial is 1 + r + r^2 q(r)
// with q interpolated at Chebyshev nodes (relative error of the polynomial 1.1e-8).
struct ExpConstants {
  static constexpr float kLow = -87.0F;  // below: 0
  static constexpr float kHigh = 88.0F;  // above: infinity
  static constexpr float kLog2E = 0x1.715476p+0F;
  static constexpr float kLn2High = 0x1.62e430p-1F;
  static constexpr float kLn2Low = -0x1.05c610p-29F;
  static constexpr float kC6 = 0x1.6d110ap-10F;
  static constexpr float kC5 = 0x1.120b6ep-7F;
  static constexpr float kC4 = 0x1.55551ap-5F;
  static constexpr float kC3 = 0x1.5554dcp-3F;
  static constexpr float kC2 = 0.5F;
};

// e^x with a relative error below 2e-7 on [-87, 88]; exactly 0 below (so for -infinity), infinity
// above, NaN for NaN, exactly 1 at 0.
inline float exp_float(float x) noexcept {
  using C = ExpConstants;
  if (x < C::kLow) {
    return 0.0F;
  }
  if (x > C::kHigh) {
    return std::numeric_limits<float>::infinity();
  }
  const float shifted = fma_float(x, C::kLog2E, kRoundMagic);
  const float n = shifted - kRoundMagic;
  float r = fma_float(-n, C::kLn2High, x);
  r = fma_float(-n, C::kLn2Low, r);
  float p = fma_float(C::kC6, r, C::kC5);
  p = fma_float(p, r, C::kC4);
  p = fma_float(p, r, C::kC3);
  p = fma_float(p, r, C::kC2);
  p = fma_float(p, r, 1.0F);
  p = fma_float(p, r, 1.0F);
  // The low bits of `shifted` hold n; unsigned arithmetic keeps NaN inputs defined.
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(shifted) << 23;
  return p * std::bit_cast<float>(exponent + std::bit_cast<std::uint32_t>(1.0F));
}

// The operand order decides what NaN does: `b` is kept unless a > b, as the x86 instruction does.
inline float max_of(float a, float b) noexcept {
  return a > b ? a : b;
}

inline float min_of(float a, float b) noexcept {
  return a < b ? a : b;
}

// Round to nearest even. Requires |x| < 2^22.
inline std::int32_t round_to_int(float x) noexcept {
  return std::bit_cast<std::int32_t>(x + kRoundMagic) - std::bit_cast<std::int32_t>(kRoundMagic);
}

using Lanes = std::array<float, kLanes>;

// The fixed tree: lanes l and l+8, then l and l+4, l+2, l+1.
inline float sum_lanes(Lanes lanes) noexcept {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      lanes[l] = lanes[l] + lanes[l + half];
    }
  }
  return lanes[0];
}

// The same tree with max_of(l, l+half).
inline float max_lanes(Lanes lanes) noexcept {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      lanes[l] = max_of(lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

// lanes[l] = fma(a[l], b[l], lanes[l]) for the first `count` lanes: a step of a 16-lane sum.
inline void add_products(const float* a, const float* b, std::size_t count, Lanes& lanes) noexcept {
  if (count == kLanes) {  // the length is known: this loop becomes vectors
    for (std::size_t l = 0; l < kLanes; ++l) {
      lanes[l] = fma_float(a[l], b[l], lanes[l]);
    }
    return;
  }
  for (std::size_t l = 0; l < count; ++l) {
    lanes[l] = fma_float(a[l], b[l], lanes[l]);
  }
}

// An activation block whose largest magnitude is below this counts as zero: 127 / amax would
// overflow.
inline constexpr float kQuantizeFloor = 0x1p-120F;
inline constexpr float kCodeMax = 127.0F;

struct BlockScale {
  float scale;    // what the codes are multiplied with
  float inverse;  // what the values are multiplied with
};

// Not finite in, not finite out: the scale is then infinity or NaN and poisons every product.
inline BlockScale block_scale(float amax) noexcept {
  if (amax < kQuantizeFloor) {
    return {0.0F, 0.0F};
  }
  const bool finite = amax <= std::numeric_limits<float>::max();
  return {amax / kCodeMax, finite ? kCodeMax / amax : 0.0F};
}

// How a key or a value of a cache of int8 is scaled.
struct HalfScale {
  std::uint16_t half;  // nearest to amax / 127
  float inverse;       // of that half; 0 where it has none
};

inline HalfScale half_scale(float amax) noexcept {
  const std::uint16_t half = gguf::f32_to_f16(amax / kCodeMax);
  const float scale = gguf::f16_to_f32(half);
  const bool has_inverse = scale > 0.0F && scale <= std::numeric_limits<float>::max();
  return {half, has_inverse ? 1.0F / scale : 0.0F};
}

// In [-127, 127]; NaN gives -127.
inline std::int8_t quantize_code(float x, float inverse) noexcept {
  const float clamped = min_of(max_of(x * inverse, -kCodeMax), kCodeMax);
  return static_cast<std::int8_t>(round_to_int(clamped));
}

// The code of a weight of attention, in [0, 127]; NaN gives 0.
inline std::uint8_t weight_code(float weight, float inverse) noexcept {
  const float clamped = min_of(max_of(weight * inverse, 0.0F), kCodeMax);
  return static_cast<std::uint8_t>(round_to_int(clamped));
}

// Of finite values and of those that are not: NaN counts above infinity.
inline float max_magnitude(float a, float b) noexcept {
  constexpr std::uint32_t kNoSign = 0x7FFFFFFFU;
  const std::uint32_t first = std::bit_cast<std::uint32_t>(a) & kNoSign;
  const std::uint32_t second = std::bit_cast<std::uint32_t>(b) & kNoSign;
  return std::bit_cast<float>(first > second ? first : second);
}

// 1 / sqrt(mean + eps) of n values whose squares sum to `square_sum`.
inline float rms_factor(float square_sum, std::size_t n, float eps) noexcept {
  return 1.0F / std::sqrt(square_sum / static_cast<float>(n) + eps);
}

struct Pair {
  float a, b;
};

// One pair of a rotary embedding.
inline Pair turn(Pair pair, float cos, float sin) noexcept {
  return {fma_float(pair.a, cos, -(pair.b * sin)), fma_float(pair.a, sin, pair.b * cos)};
}

// x / (1 + e^-x)
inline float silu(float x) noexcept {
  return x / (1.0F + exp_float(-x));
}

}  // namespace smol::kernels
