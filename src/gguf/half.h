// IEEE 754 half precision and bfloat16 to and from float: exact in one direction, rounded to
// nearest even in the other, the same bits on every machine.
#pragma once

#include <bit>
#include <cstdint>

namespace smol::gguf {

// Exact for every bit pattern; NaN stays NaN with its payload.
constexpr float f16_to_f32(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= 0x7C00U) {  // infinity and NaN
    return std::bit_cast<float>(sign | 0x7F800000U | ((magnitude & 0x3FFU) << 13U));
  }
  constexpr std::uint32_t kRebias = 112U << 23U;
  if (magnitude >= 0x400U) {
    return std::bit_cast<float>(sign | ((magnitude << 13U) + kRebias));
  }
  // Subnormal: with 2^-14 added it has the bits of a normal float, so no slow subnormal operand
  // occurs.
  constexpr float kFirstNormal = 0x1p-14F;
  const float value =
      std::bit_cast<float>((magnitude << 13U) + kRebias + (1U << 23U)) - kFirstNormal;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

// Nearest even; values from 65520 on become infinity, NaN stays a (quiet) NaN.
constexpr std::uint16_t f32_to_f16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  constexpr std::uint32_t kFirstInfinite = 0x477FF000U;  // 65520
  constexpr std::uint32_t kFirstNormal = 0x38800000U;    // 2^-14
  if (magnitude > kInfinity) {
    return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x3FFU));
  }
  if (magnitude >= kFirstInfinite) {
    return static_cast<std::uint16_t>(sign | 0x7C00U);
  }
  if (magnitude < kFirstNormal) {
    // Adding 1/2 lets the addition itself round at the place of a half's last subnormal bit.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounding = 0xFFFU + ((magnitude >> 13U) & 1U);
  constexpr std::uint32_t kRebias = 112U << 23U;
  return static_cast<std::uint16_t>(sign | ((magnitude - kRebias + rounding) >> 13U));
}

constexpr float bf16_to_f32(std::uint16_t value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

// Nearest even; NaN stays a (quiet) NaN.
constexpr std::uint16_t f32_to_bf16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

}  // namespace smol::gguf
