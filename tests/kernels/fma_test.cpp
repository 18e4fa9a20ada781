// The fused multiply-add against the C library's.
#include "kernels/fma.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace smol::kernels {
namespace {

constexpr int kSamples = 400'000;

using Random = std::mt19937;

bool is_same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void expect_same(float a, float b, float c) {
  ASSERT_TRUE(is_same(fma_float(a, b, c), std::fma(a, b, c)))
      << std::hexfloat << a << " * " << b << " + " << c;
}

// A random sign and mantissa with an exponent from `first` on (1: the smallest normal).
float random_float(Random& random, std::uint32_t first, std::uint32_t count) {
  const auto bits = static_cast<std::uint32_t>(random());
  const auto exponent = first + static_cast<std::uint32_t>(random()) % count;
  return std::bit_cast<float>((bits & 0x807FFFFFU) | exponent << 23U);
}

TEST(FmaFloat, IsTheLibrarysForRandomBits) {
  Random random(1);
  for (int i = 0; i < kSamples; ++i) {
    const auto next = [&] { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); };
    expect_same(next(), next(), next());
  }
}

TEST(FmaFloat, IsTheLibrarysWhereProductAndAddendOverlap) {
  Random random(2);
  for (int i = 0; i < kSamples; ++i) {
    expect_same(random_float(random, 120, 14), random_float(random, 120, 14),
                random_float(random, 80, 90));
  }
}

TEST(FmaFloat, IsTheLibrarysWhereResultsAreSubnormal) {
  Random random(3);
  for (int i = 0; i < kSamples; ++i) {
    expect_same(random_float(random, 50, 20), random_float(random, 50, 30),
                random_float(random, 0, 3));
  }
}

TEST(FmaFloat, IsTheLibrarysWhereResultsOverflow) {
  Random random(4);
  for (int i = 0; i < kSamples; ++i) {
    expect_same(random_float(random, 185, 8), random_float(random, 190, 3),
                random_float(random, 250, 5));
  }
}

// Sums half way between two floats, and the least bit away from there on either side: where
// rounding to double and then to float is wrong.
TEST(FmaFloat, RoundsOnceNextToTies) {
  Random random(5);
  for (int i = 0; i < kSamples; ++i) {
    const float c = random_float(random, 127, 1);
    const auto half = std::bit_cast<float>((127U - 24U) << 23U);  // half of c's last unit
    const float sign = random() % 2 == 0 ? 1.0F : -1.0F;
    expect_same(half, sign, c);
    expect_same(half, sign * std::nextafter(1.0F, 2.0F), c);
    expect_same(half, sign * std::nextafter(1.0F, 0.0F), c);
    // The product lies far below the last bit of the double sum.
    expect_same(half * half, half * sign, c + sign);
  }
}

TEST(FmaFloat, TakesTheSmallestStepFromATie) {
  // 1 + 2^-24 + 2^-72 is above the tie that double arithmetic alone would see.
  const float a = 0x1p-24F + 0x1p-47F;
  for (const float b : {1.0F, 1.0F + 0x1p-23F, 1.0F - 0x1p-24F}) {
    for (const float c : {1.0F, -1.0F, 1.0F + 0x1p-23F}) {
      expect_same(a, b, c);
      expect_same(-a, b, c);
      expect_same(0x1p-24F, b, c);
      expect_same(0x1p-25F, b, c);
    }
  }
}

TEST(FmaFloat, IsTheLibrarysForEveryPairingOfExtremes) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values;
  for (const float value : {0.0F, 1.0F, 2.0F, 3.0F, 1.0F + 0x1p-23F, 1.0F - 0x1p-24F, Limits::min(),
                            Limits::denorm_min(), 3.0F * Limits::denorm_min(), Limits::max(),
                            Limits::infinity(), Limits::quiet_NaN(), 0x1p-75F, 0x1p64F}) {
    values.push_back(value);
    values.push_back(-value);
  }
  for (const float a : values) {
    for (const float b : values) {
      for (const float c : values) {
        expect_same(a, b, c);
      }
    }
  }
}

}  // namespace
}  // namespace smol::kernels
