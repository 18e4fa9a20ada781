// The panel layout: what goes in comes out, and scalar products of panels are those of rows.
#include "kernels/panel.h"

#include <cstring>

#include <gtest/gtest.h>

#include "gguf/dequantize.h"
#include "kernels/panel_cells.h"
#include "kernels/scalar/ops.h"
#include "kernels/support.h"
#include "kernels/tables.h"

namespace smol::kernels::test {
namespace {

using gguf::DType;

std::vector<DType> panel_types() {
  std::vector<DType> types;
  for (const DType dtype : all_types()) {
    if (has_panels(dtype)) {
      types.push_back(dtype);
    }
  }
  return types;
}

TestMatrix random_matrix(Random& random, DType dtype, std::size_t n_rows, std::size_t n_cols) {
  TestMatrix w = make_matrix(random, dtype, n_rows, n_cols, Fill::Normal);
  for (std::byte& byte : w.bytes()) {
    byte = static_cast<std::byte>(random_bits(random) & 0xFFU);
  }
  w.pack();
  return w;
}

TEST(Panel, ServesTheCommonTypes) {
  EXPECT_EQ(panel_types().size(), 6U);
  EXPECT_TRUE(has_panels(DType::Q4_K));
  EXPECT_TRUE(has_panels(DType::Q6_K));
  EXPECT_FALSE(has_panels(DType::F32));
  EXPECT_FALSE(has_panels(DType::Q5_K));
}

TEST(Panel, TakesTheBytesOfItsRowsRoundedUpToALine) {
  EXPECT_EQ(panel_bytes(144), 2304U);
  EXPECT_EQ(panel_bytes(210), 3392U);  // 3360
  EXPECT_EQ(matrix_bytes(DType::Q4_K, 33, 288), 3U * 4608U);
  EXPECT_EQ(matrix_bytes(DType::F32, 33, 288), 33U * 288U);
}

template <class Cell>
void expect_round_trip() {
  using Block = typename Cell::Block;
  Random random(5);
  std::array<Block, kPanelRows> blocks;
  auto bytes = std::as_writable_bytes(std::span(blocks));
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random_bits(random) & 0xFFU);
  }
  Cell cell{};
  for (std::size_t r = 0; r < kPanelRows; ++r) {
    put_block(cell, r, blocks[r]);
  }
  for (std::size_t r = 0; r < kPanelRows; ++r) {
    const Block found = block_of(cell, r);
    EXPECT_EQ(std::memcmp(&found, &blocks[r], sizeof(Block)), 0) << "row " << r;
  }
}

TEST(Panel, CellsGiveBackEveryByteOfTheirBlocks) {
  expect_round_trip<CellQ4K>();
  expect_round_trip<CellQ6K>();
  expect_round_trip<CellQ80>();
  expect_round_trip<CellQ40>();
  expect_round_trip<CellQ41>();
  expect_round_trip<CellQ50>();
}

TEST(Panel, RowsThatAreMissingAreZeros) {
  Random random(6);
  for (const DType dtype : panel_types()) {
    const std::size_t block = gguf::traits(dtype).block_elements;
    const TestMatrix w = make_matrix(random, dtype, 18, 3 * block, Fill::AllOnes);
    Matrix longer = w.view();
    longer.n_rows = 32;
    std::vector<float> row(3 * block, 1.0F);
    for (std::size_t r = 18; r < 32; ++r) {
      gather_row(longer, r, row);
      for (const float value : row) {
        EXPECT_EQ(value, 0.0F) << gguf::traits(dtype).name << " row " << r;
      }
    }
  }
}

TEST(Panel, GatherGivesTheDequantizedRowOfEveryType) {
  Random random(7);
  for (const DType dtype : all_types()) {
    const std::size_t n_cols = 512;
    const TestMatrix w = make_matrix(random, dtype, 21, n_cols, Fill::Normal);
    const Matrix rows = w.in_rows();
    for (const std::size_t r : sizes({0, 1, 15, 16, 20})) {
      std::vector<float> expected(n_cols);
      std::vector<float> found(n_cols);
      gguf::dequantize(dtype, {rows.data + r * rows.row_bytes, rows.row_bytes}, expected);
      gather_row(w.view(), r, found);
      EXPECT_TRUE(same_bits(expected, found)) << gguf::traits(dtype).name << " row " << r;
    }
  }
}

TEST(Panel, ScalarProductsOfPanelsHaveTheBytesOfThoseOfRows) {
  Random random(8);
  for (const DType dtype : panel_types()) {
    const TestMatrix w = random_matrix(random, dtype, 37, 768);
    for (const std::size_t n_tokens : sizes({1, 3})) {
      const auto x =
          quantize_for(scalar_table(), dtype, normal_floats(random, n_tokens * 768), 768);
      std::vector<float> expected(n_tokens * 37);
      std::vector<float> found(n_tokens * 37);
      scalar::matmul_rows(dtype)(w.in_rows(), x.view, expected.data(), 37, {0, 37});
      scalar_table().matmul(dtype)(w.view(), x.view, found.data(), 37, {0, 37});
      EXPECT_TRUE(same_bits(expected, found)) << gguf::traits(dtype).name;
    }
  }
}

}  // namespace
}  // namespace smol::kernels::test
