// Products and quantization: each instruction set returns the bytes of the scalar definition, which
// multiplies rows as they lie in a file.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "kernels/panel.h"
#include "kernels/parity.h"
#include "kernels/scalar/ops.h"
#include "kernels/support.h"
#include "kernels/tables.h"

namespace smol::kernels::test {
namespace {

using gguf::DType;

MatMul definition_of(DType dtype) {
  const bool is_float = activation_format(dtype) == ActivationFormat::F32;
  return is_float ? scalar::matmul_float(dtype) : scalar::matmul_rows(dtype);
}

// Activations whose codes are all +-127, the signs as `pattern` says.
enum class Pattern { Positive, Negative, Alternating, Random };

std::vector<float> extreme_values(Random& random, std::size_t n, Pattern pattern) {
  std::vector<float> values(n, 3.0F);
  for (std::size_t i = 0; i < n; ++i) {
    const bool odd = pattern == Pattern::Alternating ? i % 2 == 1 : (random_bits(random) & 1U) == 1;
    const bool negative = pattern == Pattern::Negative || (pattern != Pattern::Positive && odd);
    values[i] = negative ? -3.0F : 3.0F;
  }
  return values;
}

// Activations whose codes are themselves: in each 256 one is 127, and the magnitudes of the first
// 32 add up to `peak` in each half.
std::vector<float> peaked_values(std::size_t n, int peak, float sign) {
  std::vector<float> values(n, 0.0F);
  for (std::size_t block = 0; block < n; block += 256) {
    for (std::size_t half = block; half < block + 32; half += 16) {
      int left = peak;
      for (std::size_t i = half; i < half + 16; ++i) {
        const int code = std::min(left, 127);
        values[i] = sign * static_cast<float>(code);
        left -= code;
      }
    }
  }
  return values;
}

class MatMulParity : public ParityTest {
 protected:
  // y of the definition and of the table; columns outside `rows` stay untouched.
  void expect_same_product(const TestMatrix& w, const TestActivations& x, RowRange rows) {
    const Matrix matrix = w.view();
    const std::size_t stride = matrix.n_rows + 3;
    std::vector<float> expected(x.view.n_tokens * stride, -7.0F);
    std::vector<float> found = expected;
    definition_of(matrix.dtype)(w.in_rows(), x.view, expected.data(), stride, rows);
    table().matmul(matrix.dtype)(matrix, x.view, found.data(), stride, rows);
    ASSERT_TRUE(same_bits(expected, found)) << gguf::traits(matrix.dtype).name << " tokens "
                                            << x.view.n_tokens << " rows " << matrix.n_rows;
  }

  // With both signs of activations of a peak.
  void expect_same_peaks(const TestMatrix& w, std::size_t n_tokens, int peak) {
    const Matrix matrix = w.view();
    for (const float sign : {1.0F, -1.0F}) {
      const std::vector<float> values = peaked_values(n_tokens * matrix.n_cols, peak, sign);
      const auto x = quantize_for(scalar(), matrix.dtype, values, matrix.n_cols);
      ASSERT_EQ(x.peaks.front(), peak);
      expect_same_product(w, x, {0, matrix.n_rows});
    }
  }

  // With `n` activations of every pattern.
  void expect_same_extremes(Random& random, const TestMatrix& w, std::size_t n) {
    const Matrix matrix = w.view();
    for (const Pattern pattern :
         {Pattern::Positive, Pattern::Negative, Pattern::Alternating, Pattern::Random}) {
      const auto x =
          quantize_for(scalar(), matrix.dtype, extreme_values(random, n, pattern), matrix.n_cols);
      expect_same_product(w, x, {0, matrix.n_rows});
    }
  }
};

// So many go through products of their own in some tables.
constexpr std::size_t kManyTokens = 35;

TEST_P(MatMulParity, MatMulHasTheSameBytesForEveryTypeAndTokenCount) {
  Random random(11);
  for (const DType dtype : all_types()) {
    const std::size_t block = gguf::traits(dtype).block_elements;
    const std::size_t n_cols = block == 1 ? 77 : 3 * block;
    const TestMatrix w = make_matrix(random, dtype, 19, n_cols, Fill::Normal);
    std::vector<std::size_t> token_counts = {31, 32, 33, 34, 40, 47, 48, 49, 67, 545};
    for (std::size_t n_tokens = 1; n_tokens <= 25; ++n_tokens) {
      token_counts.push_back(n_tokens);
    }
    for (const std::size_t n_tokens : token_counts) {
      const auto x =
          quantize_for(scalar(), dtype, normal_floats(random, n_tokens * n_cols), n_cols);
      expect_same_product(w, x, {0, 19});
    }
  }
}

TEST_P(MatMulParity, MatMulHasTheSameBytesForEveryRowCount) {
  Random random(10);
  for (const DType dtype : all_types()) {
    for (const std::size_t n_rows : sizes({1, 7, 15, 16, 17, 32, 35})) {
      const TestMatrix w = make_matrix(random, dtype, n_rows, 256, Fill::Normal);
      for (const std::size_t n_tokens : sizes({1, 4, 5})) {
        const auto x = quantize_for(scalar(), dtype, normal_floats(random, n_tokens * 256), 256);
        expect_same_product(w, x, {0, n_rows});
      }
    }
  }
}

TEST_P(MatMulParity, MatMulHasTheSameBytesForRowsOfSeveralChunks) {
  Random random(12);
  for (const DType dtype : all_types()) {
    const std::size_t n_cols = std::size_t{256} * 17;
    const TestMatrix w = make_matrix(random, dtype, 5, n_cols, Fill::Normal);
    for (const std::size_t n_tokens : sizes({1, 3, 9, 33, 300})) {
      const auto x =
          quantize_for(scalar(), dtype, normal_floats(random, n_tokens * n_cols), n_cols);
      expect_same_product(w, x, {0, 5});
    }
  }
}

TEST_P(MatMulParity, MatMulWritesOnlyItsRows) {
  Random random(13);
  for (const DType dtype : all_types()) {
    const TestMatrix w = make_matrix(random, dtype, 43, 256, Fill::Normal);
    for (const std::size_t n_tokens : {std::size_t{3}, kManyTokens}) {
      const auto x = quantize_for(scalar(), dtype, normal_floats(random, n_tokens * 256), 256);
      expect_same_product(w, x, {16, 32});
      expect_same_product(w, x, {32, 43});
      expect_same_product(w, x, {16, 16});
      if (!has_panels(dtype)) {
        expect_same_product(w, x, {2, 9});
        expect_same_product(w, x, {4, 5});
      }
    }
  }
}

TEST_P(MatMulParity, MatMulHasTheSameBytesAtTheExtremesOfCodesAndScales) {
  constexpr std::size_t kColumns = 512;
  Random random(14);
  for (const DType dtype : all_types()) {
    for (const Fill fill : kAllFills) {
      const TestMatrix w = make_matrix(random, dtype, 4, kColumns, fill);
      for (const std::size_t n_tokens : {std::size_t{1}, std::size_t{3}, kManyTokens}) {
        expect_same_extremes(random, w, n_tokens * kColumns);
      }
    }
  }
}

TEST_P(MatMulParity, MatMulHasTheSameBytesWhereSumsJustFitInt16AndWhereTheyDoNot) {
  constexpr std::size_t kColumns = 512;
  Random random(18);
  for (const DType dtype : {DType::Q4_K, DType::Q6_K}) {
    for (const Fill fill : {Fill::AllOnes, Fill::SignBits}) {
      const TestMatrix w = make_matrix(random, dtype, 33, kColumns, fill);
      for (const int peak : {1022, 1023, 1024, 1025, 1056, 1091, 1092, 1093, 1094, 2032}) {
        expect_same_peaks(w, 3, peak);
        expect_same_peaks(w, kManyTokens, peak);
      }
    }
  }
}

TEST_P(MatMulParity, MatMulHasTheSameBytesForHugeAndTinyActivations) {
  Random random(15);
  for (const DType dtype : all_types()) {
    const TestMatrix w = make_matrix(random, dtype, 5, 256, Fill::Normal);
    for (const float sigma : {1e30F, 1e-30F, 1e-42F, 0.0F}) {
      for (const std::size_t n_tokens : {std::size_t{3}, kManyTokens}) {
        const auto x =
            quantize_for(scalar(), dtype, normal_floats(random, n_tokens * 256, sigma), 256);
        expect_same_product(w, x, {0, 5});
      }
    }
  }
}

TEST_P(MatMulParity, MatMulTakesRandomBytesAsWeights) {
  Random random(16);
  for (const DType dtype : all_types()) {
    TestMatrix w = make_matrix(random, dtype, 9, 768, Fill::Normal);
    for (std::byte& byte : w.bytes()) {
      byte = static_cast<std::byte>(random_bits(random) & 0xFFU);
    }
    w.pack();
    for (const std::size_t n_tokens : {std::size_t{4}, kManyTokens}) {
      const auto x = quantize_for(scalar(), dtype, normal_floats(random, n_tokens * 768), 768);
      expect_same_product(w, x, {0, 9});
    }
  }
}

void expect_same_quantization(const KernelTable& scalar, const KernelTable& table, DType weights,
                              const std::vector<float>& x) {
  const TestActivations expected = quantize_for(scalar, weights, x, x.size());
  const TestActivations found = quantize_for(table, weights, x, x.size());
  EXPECT_EQ(expected.codes, found.codes);
  EXPECT_EQ(expected.sums, found.sums);
  EXPECT_EQ(expected.joined, found.joined);
  EXPECT_EQ(expected.peaks, found.peaks);
  EXPECT_TRUE(same_bits(expected.scales, found.scales));
}

TEST_P(MatMulParity, QuantizeHasTheSameBytes) {
  Random random(17);
  for (const DType weights : {DType::Q8_0, DType::Q4_K}) {
    for (const float sigma : {1.0F, 1e-20F, 1e-36F, 1e-38F, 1e-44F, 1e37F, 0.0F}) {
      expect_same_quantization(scalar(), table(), weights, normal_floats(random, 2048, sigma));
    }
  }
}

TEST_P(MatMulParity, QuantizeHasTheSameBytesForTiesAndForWhatIsNotFinite) {
  std::vector<float> ties(256);
  for (std::size_t i = 0; i < ties.size(); ++i) {
    ties[i] = i == 0 ? 127.0F : static_cast<float>(i % 127) - 63.5F;
  }
  for (const DType weights : {DType::Q8_0, DType::Q4_K}) {
    expect_same_quantization(scalar(), table(), weights, ties);
    for (const float odd :
         {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), -0.0F}) {
      std::vector<float> x = ties;
      x[37] = odd;
      expect_same_quantization(scalar(), table(), weights, x);
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MatMulParity);
INSTANTIATE_TEST_SUITE_P(Isa, MatMulParity, ::testing::ValuesIn(tables_to_compare()), table_name);

}  // namespace
}  // namespace smol::kernels::test
