#include "model/rope.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace smol::model {
namespace {

TEST(Rope, FrequenciesFallFromOneByPowersOfTheta) {
  const RopeConfig rope = make_rope(64, 5e6, {});
  ASSERT_EQ(rope.inv_freq.size(), 32U);
  for (std::size_t pair = 0; pair < 32; ++pair) {
    const double expected = std::pow(5e6, -2.0 * static_cast<double>(pair) / 64.0);
    EXPECT_NEAR(rope.inv_freq[pair] / expected, 1.0, 1e-14);
  }
  EXPECT_EQ(rope.attention_factor, 1.0);
}

RopeScaling yarn(double factor, double original) {
  RopeScaling scaling;
  scaling.type = RopeScalingType::Yarn;
  scaling.factor = factor;
  scaling.original_context = original;
  return scaling;
}

TEST(Rope, YarnKeepsFastPairsAndSlowsDownSlowOnes) {
  const RopeConfig plain = make_rope(128, 5e6, {});
  const RopeConfig rope = make_rope(128, 5e6, yarn(2.0, 65536.0));
  EXPECT_DOUBLE_EQ(rope.inv_freq[0], plain.inv_freq[0]);
  EXPECT_DOUBLE_EQ(rope.inv_freq[20], plain.inv_freq[20]);
  EXPECT_DOUBLE_EQ(rope.inv_freq[63], plain.inv_freq[63] / 2.0);
  EXPECT_NEAR(rope.attention_factor, 0.1 * std::log(2.0) + 1.0, 1e-14);
}

TEST(Rope, YarnsRampIsCutAtTheFirstPairForASmallOriginalContext) {
  const RopeConfig plain = make_rope(64, 5e6, {});
  const RopeConfig rope = make_rope(64, 5e6, yarn(2.0, 64.0));
  // low = max(floor(dim(32)), 0) = 0, high = ceil(dim(1)) = 5
  EXPECT_DOUBLE_EQ(rope.inv_freq[0], plain.inv_freq[0]);
  EXPECT_NEAR(rope.inv_freq[1], plain.inv_freq[1] * (0.2 / 2.0 + 0.8), 1e-15);
  EXPECT_DOUBLE_EQ(rope.inv_freq[5], plain.inv_freq[5] / 2.0);
}

TEST(Rope, YarnOfAnEmptyRampSwitchesAfterTheFirstPair) {
  const RopeConfig plain = make_rope(32, 10000.0, {});
  // Both ends of the ramp are pair 0.
  const RopeConfig rope = make_rope(32, 10000.0, yarn(2.0, 6.0));
  EXPECT_DOUBLE_EQ(rope.inv_freq[0], plain.inv_freq[0]);
  EXPECT_DOUBLE_EQ(rope.inv_freq[1], plain.inv_freq[1] / 2.0);
}

TEST(Rope, AnglesAreExactAtTheLastPosition) {
  const RopeConfig rope = make_rope(128, 5e6, yarn(2.0, 65536.0));
  constexpr std::uint32_t kPosition = 131071;
  std::vector<float> cosines(64);
  std::vector<float> sines(64);
  rope_angles(rope, kPosition, cosines, sines);
  for (std::size_t pair = 0; pair < 64; ++pair) {
    const double angle = kPosition * rope.inv_freq[pair];
    EXPECT_NEAR(cosines[pair], std::cos(angle) * rope.attention_factor, 1e-7);
    EXPECT_NEAR(sines[pair], std::sin(angle) * rope.attention_factor, 1e-7);
  }
}

TEST(Rope, PositionZeroTurnsNothing) {
  const RopeConfig rope = make_rope(32, 10000.0, {});
  std::vector<float> cosines(16);
  std::vector<float> sines(16);
  rope_angles(rope, 0, cosines, sines);
  EXPECT_TRUE(std::all_of(cosines.begin(), cosines.end(), [](float c) { return c == 1.0F; }));
  EXPECT_TRUE(std::all_of(sines.begin(), sines.end(), [](float s) { return s == 0.0F; }));
}

}  // namespace
}  // namespace smol::model
