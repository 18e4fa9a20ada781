// The float and double functions against the C library's long double.
#include "kernels/math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "kernels/math_double.h"

namespace smol::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kMaxUlps = 1.0;

// Distance of `value` from `exact` in units in the last place of `exact`.
double ulps(double value, long double exact) {
  if (value == static_cast<double>(exact)) {
    return 0.0;
  }
  const int exponent = std::ilogb(static_cast<double>(exact));
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) /
                             std::ldexp(1.0L, exponent - 52));
}

TEST(ExpFloat, StaysWithinItsErrorOverTheWholeRange) {
  double worst = 0.0;
  for (float x = ExpConstants::kLow; x <= ExpConstants::kHigh; x += 0.0037F) {
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::fabs(static_cast<double>(exp_float(x)) / exact - 1.0));
  }
  EXPECT_LT(worst, 2e-7);
}

TEST(ExpFloat, IsExactAtTheEdges) {
  EXPECT_EQ(exp_float(0.0F), 1.0F);
  EXPECT_EQ(exp_float(-0.0F), 1.0F);
  EXPECT_EQ(exp_float(-kInfinity), 0.0F);
  EXPECT_EQ(exp_float(kInfinity), kInfinity);
  EXPECT_EQ(exp_float(std::nextafter(ExpConstants::kLow, -kInfinity)), 0.0F);
  EXPECT_EQ(exp_float(std::nextafter(ExpConstants::kHigh, kInfinity)), kInfinity);
  EXPECT_TRUE(std::isnan(exp_float(std::numeric_limits<float>::quiet_NaN())));
}

TEST(ExpFloat, NeverDecreasesBetweenNeighbours) {
  float previous = 0.0F;
  for (float x = -1.0F; x < 1.0F; x = std::nextafter(x, 2.0F) + 1e-6F) {
    const float y = exp_float(x);
    ASSERT_GE(y, previous * (1.0F - 2e-7F));
    previous = y;
  }
}

TEST(RoundToInt, TakesTiesToEven) {
  EXPECT_EQ(round_to_int(0.5F), 0);
  EXPECT_EQ(round_to_int(1.5F), 2);
  EXPECT_EQ(round_to_int(-2.5F), -2);
  EXPECT_EQ(round_to_int(-127.0F), -127);
}

TEST(SumLanes, FollowsTheFixedTree) {
  Lanes lanes{};
  lanes[0] = 0x1p24F;
  lanes[1] = 1.0F;
  lanes[8] = 1.0F;  // lost beside 2^24
  lanes[9] = 1.0F;  // joins lane 1 first, so both survive
  EXPECT_EQ(sum_lanes(lanes), 0x1p24F + 2.0F);
}

TEST(QuantizeCode, ClampsWhatIsNotFinite) {
  EXPECT_EQ(quantize_code(std::numeric_limits<float>::quiet_NaN(), 1.0F), -127);
  EXPECT_EQ(quantize_code(kInfinity, 1.0F), 127);
  EXPECT_EQ(quantize_code(-kInfinity, 1.0F), -127);
}

TEST(BlockScale, TreatsTinyBlocksAsZeroAndPoisonsInfiniteOnes) {
  EXPECT_EQ(block_scale(0x1p-121F).scale, 0.0F);
  EXPECT_EQ(block_scale(0x1p-121F).inverse, 0.0F);
  EXPECT_TRUE(std::isfinite(block_scale(kQuantizeFloor).inverse));
  EXPECT_EQ(block_scale(kInfinity).scale, kInfinity);
  EXPECT_EQ(block_scale(kInfinity).inverse, 0.0F);
  EXPECT_TRUE(std::isnan(block_scale(std::numeric_limits<float>::quiet_NaN()).scale));
}

TEST(SinCosDouble, IsWithinOneUlpUpToLongContexts) {
  std::mt19937_64 random(1);
  double worst = 0.0;
  for (const double limit : {0.01, 1.0, 100.0, 131072.0, 1048576.0}) {
    std::uniform_real_distribution<double> uniform(-limit, limit);
    for (int i = 0; i < 20000; ++i) {
      const double x = uniform(random);
      const SinCos got = sincos_double(x);
      worst = std::max(worst, ulps(got.sin, std::sin(static_cast<long double>(x))));
      worst = std::max(worst, ulps(got.cos, std::cos(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, kMaxUlps);
}

TEST(SinCosDouble, IsWithinOneUlpNextToMultiplesOfHalfPi) {
  double worst = 0.0;
  for (int n = 1; n < 83443; n += 7) {
    const double x = n * 0x1.921fb54442d18p+0;
    const SinCos got = sincos_double(x);
    worst = std::max(worst, ulps(got.sin, std::sin(static_cast<long double>(x))));
    worst = std::max(worst, ulps(got.cos, std::cos(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, kMaxUlps);
}

TEST(SinCosDouble, IsNotANumberOutsideItsRange) {
  EXPECT_TRUE(std::isnan(sincos_double(0x1p21).sin));
  EXPECT_TRUE(std::isnan(sincos_double(static_cast<double>(kInfinity)).cos));
  EXPECT_EQ(sincos_double(0.0).sin, 0.0);
  EXPECT_EQ(sincos_double(0.0).cos, 1.0);
}

TEST(ExpDouble, IsWithinOneUlp) {
  std::mt19937_64 random(2);
  double worst = 0.0;
  for (const double limit : {0.1, 10.0, 700.0}) {
    std::uniform_real_distribution<double> uniform(-limit, limit);
    for (int i = 0; i < 20000; ++i) {
      const double x = uniform(random);
      worst = std::max(worst, ulps(exp_double(x), std::exp(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, kMaxUlps);
  EXPECT_EQ(exp_double(0.0), 1.0);
  EXPECT_EQ(exp_double(-1000.0), 0.0);
  EXPECT_EQ(exp_double(1000.0), static_cast<double>(kInfinity));
}

TEST(LogDouble, IsWithinOneUlp) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-700.0, 700.0);
  std::uniform_real_distribution<double> near_one(0.5, 2.0);
  double worst = 0.0;
  for (int i = 0; i < 20000; ++i) {
    for (const double x : {std::exp(exponent(random)), near_one(random)}) {
      worst = std::max(worst, ulps(log_double(x), std::log(static_cast<long double>(x))));
    }
  }
  EXPECT_LT(worst, kMaxUlps);
  EXPECT_EQ(log_double(1.0), 0.0);
  EXPECT_TRUE(std::isnan(log_double(-1.0)));
}

TEST(PowDouble, IsWithinOneUlpForRopeFrequencies) {
  double worst = 0.0;
  for (const double base : {10000.0, 500000.0, 1e6, 2e6, 5e6, 1.5e7, 0.37, 2.0}) {
    for (int head_dim : {32, 64, 128}) {
      for (int j = 0; j < head_dim / 2; ++j) {
        const double e = -2.0 * j / head_dim;
        const long double exact =
            std::pow(static_cast<long double>(base), static_cast<long double>(e));
        worst = std::max(worst, ulps(pow_double(base, e), exact));
      }
    }
  }
  EXPECT_LT(worst, kMaxUlps);
  EXPECT_EQ(pow_double(5e6, 0.0), 1.0);
  EXPECT_EQ(pow_double(2.0, 10.0), 1024.0);
}

}  // namespace
}  // namespace smol::kernels
