// The scalar table against plain computations in double precision.
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "gguf/dequantize.h"
#include "gguf/half.h"
#include "kernels/support.h"
#include "kernels/tables.h"

namespace smol::kernels::test {
namespace {

using gguf::DType;

// Integer sums are exact; what is left are roundings to float, a few for each block.
constexpr double kProductTolerance = 4e-6;
constexpr double kFloatTolerance = 1e-6;

std::string type_name(const ::testing::TestParamInfo<DType>& info) {
  return std::string(gguf::traits(info.param).name);
}

class ScalarMatMul : public ::testing::TestWithParam<DType> {};

// The value that activation `i` of token `t` stands for.
double activation(const TestActivations& x, std::size_t t, std::size_t i) {
  if (x.view.format == ActivationFormat::F32) {
    return static_cast<double>(x.f32[t * x.view.n_cols + i]);
  }
  const std::size_t block = x.view.format == ActivationFormat::Q8x32 ? 32 : 256;
  const std::size_t at = i / block * x.view.n_tokens + t;
  return static_cast<double>(x.codes[at * block + i % block]) * static_cast<double>(x.scales[at]);
}

TEST_P(ScalarMatMul, EqualsTheProductOfDequantizedWeights) {
  constexpr std::size_t kRows = 6;
  constexpr std::size_t kTokens = 3;
  const DType dtype = GetParam();
  Random random(31);
  const std::size_t n_cols = gguf::traits(dtype).block_elements == 1 ? 301 : 1024;
  const TestMatrix w = make_matrix(random, dtype, kRows, n_cols, Fill::Normal);
  std::vector<float> weights(kRows * n_cols);
  gguf::dequantize(dtype, w.bytes(), weights);
  const auto x =
      quantize_for(scalar_table(), dtype, normal_floats(random, kTokens * n_cols), n_cols);
  std::vector<float> y(kTokens * kRows);
  scalar_table().matmul(dtype)(w.view(), x.view, y.data(), kRows, {0, kRows});
  for (std::size_t t = 0; t < kTokens; ++t) {
    for (std::size_t r = 0; r < kRows; ++r) {
      double expected = 0.0;
      double magnitude = 0.0;
      for (std::size_t i = 0; i < n_cols; ++i) {
        const double term = static_cast<double>(weights[r * n_cols + i]) * activation(x, t, i);
        expected += term;
        magnitude += std::fabs(term);
      }
      EXPECT_NEAR(static_cast<double>(y[t * kRows + r]), expected, kProductTolerance * magnitude);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ScalarMatMul, ::testing::ValuesIn(all_types()), type_name);

TEST(ScalarMatMulBatch, DoesNotDependOnTheNumberOfTokens) {
  Random random(32);
  for (const DType dtype : all_types()) {
    const TestMatrix w = make_matrix(random, dtype, 3, 512, Fill::Normal);
    const std::vector<float> values = normal_floats(random, std::size_t{5} * 512);
    const auto batch = quantize_for(scalar_table(), dtype, values, 512);
    std::vector<float> together(std::size_t{5} * 3);
    scalar_table().matmul(dtype)(w.view(), batch.view, together.data(), 3, {0, 3});
    std::vector<float> alone;
    for (std::size_t t = 0; t < 5; ++t) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(t * 512);
      const auto x = quantize_for(scalar_table(), dtype, {begin, begin + 512}, 512);
      std::vector<float> y(3);
      scalar_table().matmul(dtype)(w.view(), x.view, y.data(), 3, {0, 3});
      alone.insert(alone.end(), y.begin(), y.end());
    }
    EXPECT_TRUE(same_bits(together, alone)) << gguf::traits(dtype).name;
  }
}

class ScalarQuantize : public ::testing::TestWithParam<DType> {};

TEST_P(ScalarQuantize, IsWithinHalfAStepAndSumsItsCodes) {
  Random random(33);
  const std::size_t block = gguf::traits(GetParam()).block_elements;
  const auto x = quantize_for(scalar_table(), GetParam(), normal_floats(random, 1024), 1024);
  for (std::size_t i = 0; i < 1024; ++i) {
    const auto scale = static_cast<double>(x.scales[i / block]);
    const auto value = static_cast<double>(x.f32[i]);
    EXPECT_LE(std::fabs(value - x.codes[i] * scale),
              0.5 * scale * (1.0 + kFloatTolerance) + kFloatTolerance * std::fabs(value));
  }
  const auto sum_of = [&x](std::size_t g, std::size_t n) {
    return std::accumulate(x.codes.begin() + static_cast<std::ptrdiff_t>(g * n),
                           x.codes.begin() + static_cast<std::ptrdiff_t>((g + 1) * n), 0);
  };
  for (std::size_t g = 0; g < 1024 / kSumBlock; ++g) {
    EXPECT_EQ(x.sums[g], sum_of(g, kSumBlock));
  }
  for (std::size_t g = 0; g < 1024 / kJoinedBlock; ++g) {
    EXPECT_EQ(x.joined[g], sum_of(g, kJoinedBlock));
  }
}

TEST_P(ScalarQuantize, ReachesTheWholeRangeOfCodes) {
  std::vector<float> values(256, 0.0F);
  values[3] = -2.5F;
  values[4] = 1.25F;
  const auto x = quantize_for(scalar_table(), GetParam(), values, 256);
  EXPECT_EQ(x.codes[3], -127);
  EXPECT_EQ(x.codes[4], 64);  // 63.5, the tie, to even
  EXPECT_FLOAT_EQ(x.scales[0], 2.5F / 127.0F);
}

TEST_P(ScalarQuantize, MakesZerosOfAZeroBlock) {
  const auto x = quantize_for(scalar_table(), GetParam(), std::vector<float>(256, -0.0F), 256);
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(x.codes[i], 0);
  }
  EXPECT_EQ(x.scales[0], 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Formats, ScalarQuantize, ::testing::Values(DType::Q8_0, DType::Q4_K),
                         type_name);

TEST(ScalarRmsNorm, DividesByTheRootOfTheMeanSquare) {
  Random random(34);
  const auto x = normal_floats(random, 333);
  const auto weight = normal_floats(random, 333);
  std::vector<float> y(333);
  scalar_table().rms_norm(x, weight, 1e-6F, y);
  double squares = 0.0;
  for (const float value : x) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double root = std::sqrt(squares / 333.0 + static_cast<double>(1e-6F));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = static_cast<double>(x[i]) / root * static_cast<double>(weight[i]);
    EXPECT_NEAR(static_cast<double>(y[i]), expected, kFloatTolerance * std::fabs(expected));
  }
}

TEST(ScalarRope, TurnsAdjacentPairs) {
  std::vector<float> x{1.0F, 0.0F, 0.0F, 2.0F};
  const std::array cos{0.6F, 0.0F};
  const std::array sin{0.8F, 1.0F};
  scalar_table().rope_adjacent(x.data(), 1, 4, cos.data(), sin.data());
  EXPECT_EQ(x, (std::vector<float>{0.6F, 0.8F, -2.0F, 0.0F}));
}

TEST(ScalarRope, TurnsHalvesAsAdjacentPairsOfThePermutedHead) {
  Random random(35);
  constexpr std::size_t kDim = 32;
  const auto x = normal_floats(random, kDim);
  const auto cos = normal_floats(random, kDim / 2);
  const auto sin = normal_floats(random, kDim / 2);
  auto halves = x;
  scalar_table().rope_halves(halves.data(), 1, kDim, cos.data(), sin.data());
  std::vector<float> adjacent(kDim);
  for (std::size_t j = 0; j < kDim / 2; ++j) {
    adjacent[2 * j] = x[j];
    adjacent[2 * j + 1] = x[j + kDim / 2];
  }
  scalar_table().rope_adjacent(adjacent.data(), 1, kDim, cos.data(), sin.data());
  for (std::size_t j = 0; j < kDim / 2; ++j) {
    EXPECT_EQ(halves[j], adjacent[2 * j]);
    EXPECT_EQ(halves[j + kDim / 2], adjacent[2 * j + 1]);
  }
}

TEST(ScalarSwiGlu, EqualsItsFormula) {
  Random random(36);
  const auto gate = normal_floats(random, 500, 8.0F);
  const auto up = normal_floats(random, 500);
  std::vector<float> y(500);
  scalar_table().swiglu(gate, up, y);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto g = static_cast<double>(gate[i]);
    const double expected = g / (1.0 + std::exp(-g)) * static_cast<double>(up[i]);
    EXPECT_NEAR(static_cast<double>(y[i]), expected, kFloatTolerance * std::fabs(expected));
  }
}

TEST(ScalarAdd, AddsInPlace) {
  std::vector<float> x{1.0F, 2.0F, 3.0F};
  scalar_table().add(x, std::vector<float>{0.5F, -2.0F, 1e-9F});
  EXPECT_EQ(x, (std::vector<float>{1.5F, 0.0F, 3.0F}));
}

}  // namespace
}  // namespace smol::kernels::test
