// Quantized weights times int8 activations. One row at a time: each block is decoded once for all
// tokens, and y itself holds the accumulators between blocks.
#include <cstring>

#include "kernels/math.h"
#include "kernels/scalar/decode.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

template <class Block>
Block load_block(const Matrix& w, std::size_t row, std::size_t index) noexcept {
  Block block;
  std::memcpy(&block, w.data + row * w.row_bytes + index * sizeof(Block), sizeof(Block));
  return block;
}

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
  const float dx = x.scales[t * (x.n_cols / 32) + b];
  const int isum = dot<32>(w.codes.data(), x.codes + t * x.n_cols + b * 32);
  acc = std::fma(w.d * dx, static_cast<float>(isum), acc);
  if constexpr (kMinimum) {
    const std::int16_t* sums = x.sums + t * (x.n_cols / kSumBlock) + 2 * b;
    acc = std::fma(w.m * dx, static_cast<float>(sums[0] + sums[1]), acc);
  }
  return acc;
}

// acc = fma(d dx, I, acc), or with a minimum: acc = fma(dx, fma(-dmin, M, d I), acc).
template <bool kMinimum>
float add_super(const SuperBlock& w, const Activations& x, std::size_t t, std::size_t b,
                float acc) noexcept {
  const float dx = x.scales[t * (x.n_cols / 256) + b];
  const std::int8_t* codes = x.codes + t * x.n_cols + b * 256;
  const int total = dot<256>(w.codes.data(), codes);
  if constexpr (!kMinimum) {
    return std::fma(w.d * dx, static_cast<float>(total), acc);
  }
  const std::int16_t* sums = x.sums + t * (x.n_cols / kSumBlock) + 16 * b;
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

template <class Block>
void matmul_blocks(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                   RowRange rows) noexcept {
  const std::size_t n_blocks = w.n_cols / gguf::traits(Block::kDType).block_elements;
  for (std::size_t r = rows.begin; r < rows.end; ++r) {
    clear_row(x, y, y_stride, r);
    for (std::size_t b = 0; b < n_blocks; ++b) {
      add_block(load_block<Block>(w, r, b), x, b, y + r, y_stride);
    }
  }
}

}  // namespace

MatMul matmul_small(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q4_0:
      return matmul_blocks<gguf::BlockQ40>;
    case DType::Q4_1:
      return matmul_blocks<gguf::BlockQ41>;
    case DType::Q5_0:
      return matmul_blocks<gguf::BlockQ50>;
    case DType::Q5_1:
      return matmul_blocks<gguf::BlockQ51>;
    case DType::Q8_0:
      return matmul_blocks<gguf::BlockQ80>;
    case DType::IQ4_NL:
      return matmul_blocks<gguf::BlockIq4Nl>;
    default:
      return nullptr;
  }
}

MatMul matmul_super(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q2_K:
      return matmul_blocks<gguf::BlockQ2K>;
    case DType::Q3_K:
      return matmul_blocks<gguf::BlockQ3K>;
    case DType::Q4_K:
      return matmul_blocks<gguf::BlockQ4K>;
    case DType::Q5_K:
      return matmul_blocks<gguf::BlockQ5K>;
    case DType::Q6_K:
      return matmul_blocks<gguf::BlockQ6K>;
    case DType::IQ4_XS:
      return matmul_blocks<gguf::BlockIq4Xs>;
    default:
      return nullptr;
  }
}

MatMul matmul(gguf::DType weights) noexcept {
  switch (activation_format(weights)) {
    case ActivationFormat::F32:
      return matmul_float(weights);
    case ActivationFormat::Q8x32:
      return matmul_small(weights);
    default:
      return matmul_super(weights);
  }
}

}  // namespace smol::kernels::scalar
