#include "gguf/quantize.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gguf/dequantize.h"
#include "gguf/half.h"

namespace smol::gguf {
namespace {

// Normal values by Box and Muller from a generator whose numbers the standard fixes: the same on
// every machine.
std::vector<float> normal_values(std::size_t count, float scale = 1.0F) {
  std::mt19937_64 random(20250708);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11U) + 0.5) * 0x1p-53; };
  std::vector<float> values(count);
  for (float& value : values) {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    value = scale * static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * uniform()));
  }
  return values;
}

std::vector<float> round_trip(DType dtype, const std::vector<float>& values) {
  const DTypeTraits& type = traits(dtype);
  std::vector<std::byte> blocks(values.size() / type.block_elements * type.block_bytes);
  quantize(dtype, values, blocks);
  std::vector<float> back(values.size());
  dequantize(dtype, blocks, back);
  return back;
}

double relative_rms_error(const std::vector<float>& values, const std::vector<float>& back) {
  double error = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = static_cast<double>(values[i]) - static_cast<double>(back[i]);
    error += difference * difference;
    norm += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  return std::sqrt(error / norm);
}

struct Bound {
  DType dtype;
  double error;
};

class QuantizeError : public testing::TestWithParam<Bound> {};

TEST_P(QuantizeError, OfNormalValuesIsWithinTheBound) {
  const std::vector<float> values = normal_values(std::size_t{1} << 20U);
  EXPECT_LE(relative_rms_error(values, round_trip(GetParam().dtype, values)), GetParam().error);
}

TEST_P(QuantizeError, DoesNotDependOnTheSizeOfTheValues) {
  // Scales stay normal half precision numbers for weights of this size.
  for (const float scale : {100.0F, 0.25F}) {
    const std::vector<float> values = normal_values(std::size_t{1} << 16U, scale);
    EXPECT_LE(relative_rms_error(values, round_trip(GetParam().dtype, values)),
              1.02 * GetParam().error);
  }
}

TEST_P(QuantizeError, IsZeroForZeros) {
  const std::vector<float> zeros(512, 0.0F);
  EXPECT_EQ(round_trip(GetParam().dtype, zeros), zeros);
}

TEST_P(QuantizeError, IsSmallForAConstant) {
  for (const float constant : {3.0F, -3.0F}) {
    const std::vector<float> values(512, constant);
    EXPECT_LE(relative_rms_error(values, round_trip(GetParam().dtype, values)), 0.01);
  }
}

TEST_P(QuantizeError, StaysFiniteForHugeAndTinyValues) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  std::vector<float> values(512, 0.0F);
  values[0] = kLargest;
  values[1] = -kLargest;
  values[300] = kLeast;
  values[301] = -kLeast;
  for (std::size_t i = 100; i < 140; ++i) {
    values[i] = kLargest;
  }
  for (const float value : round_trip(GetParam().dtype, values)) {
    EXPECT_TRUE(std::isfinite(value));
  }
}

std::string bound_name(const testing::TestParamInfo<Bound>& info) {
  return std::string(traits(info.param.dtype).name);
}

INSTANTIATE_TEST_SUITE_P(Types, QuantizeError,
                         testing::Values(Bound{DType::Q8_0, 0.0055}, Bound{DType::Q6_K, 0.0190},
                                         Bound{DType::Q4_0, 0.088}, Bound{DType::Q4_K, 0.0735}),
                         bound_name);

TEST(Quantize, KeepsValuesThatTheTypeCanHold) {
  std::vector<float> values(32);
  for (std::size_t j = 0; j < 32; ++j) {
    values[j] = 0.5F * (static_cast<float>(j % 16) - 8.0F);
  }
  EXPECT_EQ(round_trip(DType::Q4_0, values), values);
  values[5] = 63.5F;  // 127 halves
  EXPECT_EQ(round_trip(DType::Q8_0, values), values);
}

TEST(Quantize, WritesOnlyTypesItSaysItCan) {
  EXPECT_TRUE(can_quantize(DType::Q4_K));
  EXPECT_FALSE(can_quantize(DType::F16));
  EXPECT_FALSE(can_quantize(DType::Q5_K));
}

}  // namespace
}  // namespace smol::gguf
