// Quantized weights times int8 activations, from rows and from panels. One row at a time: each
// block is decoded once for all tokens, and y itself holds the accumulators between blocks.
#include <cstring>

#include "kernels/math.h"
#include "kernels/panel.h"
#include "kernels/panel_cells.h"
#include "kernels/scalar/decode.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

// The blocks of one row of a matrix in rows.
template <class Source>
class RowBlocks {
 public:
  using Block = Source;

  RowBlocks(const Matrix& w, std::size_t row) : data_(w.data + row * w.row_bytes) {}

  Block at(std::size_t index) const noexcept {
    Block block;
    std::memcpy(&block, data_ + index * sizeof(Block), sizeof(Block));
    return block;
  }

 private:
  const std::byte* data_;
};

// The blocks of one row of a matrix in panels.
template <class Cell>
class PanelBlocks {
 public:
  using Block = typename Cell::Block;

  PanelBlocks(const Matrix& w, std::size_t row)
      : data_(w.data + row / kPanelRows * panel_bytes(w.row_bytes)), row_(row % kPanelRows) {}

  Block at(std::size_t index) const noexcept {
    Cell cell;
    std::memcpy(&cell, data_ + index * sizeof(Cell), sizeof(Cell));
    return block_of(cell, row_);
  }

 private:
  const std::byte* data_;
  std::size_t row_;
};

template <std::size_t N>
int dot(const std::int16_t* w, const std::int8_t* x) noexcept {
  int sum = 0;
  for (std::size_t j = 0; j < N; ++j) {
    sum += static_cast<int>(w[j]) * static_cast<int>(x[j]);
  }
  return sum;
}

void clear_row(const Activations& x, float* y, std::size_t y_stride, std::size_t row) noexcept {
  for (std::size_t t = 0; t < x.n_tokens; ++t) {
    y[t * y_stride + row] = 0.0F;
  }
}

// acc = fma(d dx, I, acc); with a minimum also acc = fma(m dx, S, acc).
template <bool kMinimum>
float add_small(const SmallBlock& w, const Activations& x, std::size_t t, std::size_t b,
                float acc) noexcept {
  const std::size_t at = b * x.n_tokens + t;
  const float dx = x.scales[at];
  const int isum = dot<32>(w.codes.data(), x.codes + at * 32);
  acc = std::fma(w.d * dx, static_cast<float>(isum), acc);
  if constexpr (kMinimum) {
    const std::int16_t* sums = x.sums + at * 2;
    acc = std::fma(w.m * dx, static_cast<float>(sums[0] + sums[1]), acc);
  }
  return acc;
}

// acc = fma(d dx, I, acc), or with a minimum: acc = fma(dx, fma(-dmin, M, d I), acc).
template <bool kMinimum>
float add_super(const SuperBlock& w, const Activations& x, std::size_t t, std::size_t b,
                float acc) noexcept {
  const std::size_t at = b * x.n_tokens + t;
  const float dx = x.scales[at];
  const int total = dot<256>(w.codes.data(), x.codes + at * 256);
  if constexpr (!kMinimum) {
    return std::fma(w.d * dx, static_cast<float>(total), acc);
  }
  const std::int16_t* sums = x.sums + at * 16;
  int min_total = 0;
  for (std::size_t g = 0; g < 16; ++g) {
    min_total += w.mins[g] * sums[g];
  }
  const float product = w.d * static_cast<float>(total);
  return std::fma(dx, std::fma(-w.dmin, static_cast<float>(min_total), product), acc);
}

// Adds block `b` of one row to the accumulators of every token.
template <class Block>
void add_block(const Block& stored, const Activations& x, std::size_t b, float* y,
               std::size_t y_stride) noexcept {
  const auto block = decode(stored);
  for (std::size_t t = 0; t < x.n_tokens; ++t) {
    float& acc = y[t * y_stride];
    if constexpr (block.codes.size() == 32) {
      acc = add_small<kHasMinimum<Block>>(block, x, t, b, acc);
    } else {
      acc = add_super<kHasMinimum<Block>>(block, x, t, b, acc);
    }
  }
}

template <class Blocks>
void matmul_blocks(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                   RowRange rows) noexcept {
  using Block = typename Blocks::Block;
  const std::size_t n_blocks = w.n_cols / gguf::traits(Block::kDType).block_elements;
  for (std::size_t r = rows.begin; r < rows.end; ++r) {
    const Blocks blocks(w, r);
    clear_row(x, y, y_stride, r);
    for (std::size_t b = 0; b < n_blocks; ++b) {
      add_block(blocks.at(b), x, b, y + r, y_stride);
    }
  }
}

}  // namespace

MatMul matmul_rows(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q4_0:
      return matmul_blocks<RowBlocks<gguf::BlockQ40>>;
    case DType::Q4_1:
      return matmul_blocks<RowBlocks<gguf::BlockQ41>>;
    case DType::Q5_0:
      return matmul_blocks<RowBlocks<gguf::BlockQ50>>;
    case DType::Q5_1:
      return matmul_blocks<RowBlocks<gguf::BlockQ51>>;
    case DType::Q8_0:
      return matmul_blocks<RowBlocks<gguf::BlockQ80>>;
    case DType::IQ4_NL:
      return matmul_blocks<RowBlocks<gguf::BlockIq4Nl>>;
    case DType::Q2_K:
      return matmul_blocks<RowBlocks<gguf::BlockQ2K>>;
    case DType::Q3_K:
      return matmul_blocks<RowBlocks<gguf::BlockQ3K>>;
    case DType::Q4_K:
      return matmul_blocks<RowBlocks<gguf::BlockQ4K>>;
    case DType::Q5_K:
      return matmul_blocks<RowBlocks<gguf::BlockQ5K>>;
    case DType::Q6_K:
      return matmul_blocks<RowBlocks<gguf::BlockQ6K>>;
    case DType::IQ4_XS:
      return matmul_blocks<RowBlocks<gguf::BlockIq4Xs>>;
    default:
      return nullptr;
  }
}

MatMul matmul_panels(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q4_0:
      return matmul_blocks<PanelBlocks<CellQ40>>;
    case DType::Q4_1:
      return matmul_blocks<PanelBlocks<CellQ41>>;
    case DType::Q5_0:
      return matmul_blocks<PanelBlocks<CellQ50>>;
    case DType::Q8_0:
      return matmul_blocks<PanelBlocks<CellQ80>>;
    case DType::Q4_K:
      return matmul_blocks<PanelBlocks<CellQ4K>>;
    case DType::Q6_K:
      return matmul_blocks<PanelBlocks<CellQ6K>>;
    default:
      return nullptr;
  }
}

MatMul matmul(gguf::DType weights) noexcept {
  if (activation_format(weights) == ActivationFormat::F32) {
    return matmul_float(weights);
  }
  return has_panels(weights) ? matmul_panels(weights) : matmul_rows(weights);
}

}  // namespace smol::kernels::scalar
