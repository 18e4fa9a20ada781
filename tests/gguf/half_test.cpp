#include "gguf/half.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace smol::gguf {
namespace {

constexpr std::uint32_t kHalves = 1U << 16U;

// The value that the bits mean, by the definition.
double half_by_definition(std::uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10U) & 31U);
  const int mantissa = static_cast<int>(bits & 1023U);
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

bool is_finite_half(std::uint32_t bits) {
  return (bits & 0x7C00U) != 0x7C00U;
}

TEST(Half, EveryFiniteHalfBecomesItsExactValue) {
  for (std::uint32_t bits = 0; bits < kHalves; ++bits) {
    if (is_finite_half(bits)) {
      const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
      ASSERT_EQ(static_cast<double>(value), half_by_definition(bits)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000U) != 0) << bits;
    }
  }
}

TEST(Half, EveryHalfButNanComesBackFromFloat) {
  for (std::uint32_t bits = 0; bits < kHalves; ++bits) {
    const float value = f16_to_f32(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(f32_to_f16(value), bits);
    }
  }
}

TEST(Half, InfinityAndNanStayWhatTheyAre) {
  EXPECT_EQ(f16_to_f32(0x7C00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(f16_to_f32(0xFC00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(f16_to_f32(0x7C01)));
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(f32_to_f16(std::numeric_limits<float>::infinity()), 0x7C00);
}

TEST(Half, MidpointsRoundToTheEvenNeighbour) {
  for (std::uint32_t bits = 0; bits < 0x7BFFU; ++bits) {
    const double low = half_by_definition(bits);
    const double high = half_by_definition(bits + 1);
    const auto middle = static_cast<float>((low + high) / 2);
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(f32_to_f16(middle), even) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 0.0F)), bits) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 1e9F)), bits + 1) << bits;
  }
}

TEST(Half, ValuesFrom65520OnAreInfinite) {
  EXPECT_EQ(f32_to_f16(65519.99F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xFC00);
}

TEST(Bfloat, EveryValueButNanComesBackFromFloat) {
  for (std::uint32_t bits = 0; bits < kHalves; ++bits) {
    const float value = bf16_to_f32(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value)) {
      ASSERT_EQ(f32_to_bf16(value), bits);
    }
  }
}

TEST(Bfloat, MidpointsRoundToTheEvenNeighbour) {
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808000U)), 0x3F80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
}

TEST(Bfloat, NanNeverRoundsToInfinity) {
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7F800001U)))));
}

}  // namespace
}  // namespace smol::gguf
