// Quantized weights times int8 activations, from rows and from panels. 16 rows at a time, one a
// lane: a column of their blocks is decoded once for all tokens, and y itself holds the
// accumulators between blocks.
#include <algorithm>
#include <cstring>

#include "kernels/fma.h"
#include "kernels/math.h"
#include "kernels/panel.h"
#include "kernels/panel_cells.h"
#include "kernels/scalar/decode.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

static_assert(kLanes == kPanelRows);

// The blocks of a matrix in rows.
template <class Source>
struct RowBlocks {
  using Block = Source;

  static Block read(const Matrix& w, std::size_t row, std::size_t index) noexcept {
    Block block;
    std::memcpy(&block, w.data + row * w.row_bytes + index * sizeof(Block), sizeof(Block));
    return block;
  }
};

// The blocks of a matrix in panels.
template <class Cell>
struct PanelBlocks {
  using Block = typename Cell::Block;

  static Block read(const Matrix& w, std::size_t row, std::size_t index) noexcept {
    const std::byte* panel = w.data + row / kPanelRows * panel_bytes(w.row_bytes);
    return block_of(reinterpret_cast<const Cell*>(panel)[index], row % kPanelRows);
  }
};

// Up to 16 neighbouring blocks of a column of blocks, decoded; what lies behind the last is zero.
template <class Block>
struct Tile {
  using Decoded = decltype(decode(Block{}));
  static constexpr std::size_t kColumns = std::tuple_size_v<decltype(Decoded::codes)>;
  static constexpr bool kMinimum = kHasMinimum<Block>;
  std::array<Decoded, kLanes> blocks;
  Lanes d, m;  // m: the factor of the second term

  void put(std::size_t lane, const Decoded& block) noexcept {
    blocks[lane] = block;
    d[lane] = block.d;
    if constexpr (kColumns == 32) {
      m[lane] = block.m;
    } else {
      m[lane] = block.dmin;
    }
  }
};

using Integers = std::array<std::int32_t, kLanes>;

// Products of int16 that are added in int32: what the compiler makes wide.
template <std::size_t N>
std::int32_t dot(const std::int16_t* a, const std::int16_t* b) noexcept {
  std::int32_t sum = 0;
  for (std::size_t j = 0; j < N; ++j) {
    sum += std::int32_t{a[j]} * std::int32_t{b[j]};
  }
  return sum;
}

// I of each lane: the sum of code * x.
template <class Block>
Integers code_sums(const Tile<Block>& tile, const std::int8_t* x) noexcept {
  constexpr std::size_t kColumns = Tile<Block>::kColumns;
  std::array<std::int16_t, kColumns> wide;
  std::copy_n(x, kColumns, wide.begin());
  Integers sums;
  for (std::size_t l = 0; l < kLanes; ++l) {
    sums[l] = dot<kColumns>(tile.blocks[l].codes.data(), wide.data());
  }
  return sums;
}

// M of each lane: the sum of min * (sum of x).
template <class Block>
Integers min_sums(const Tile<Block>& tile, const std::int16_t* x_sums) noexcept {
  Integers sums;
  for (std::size_t l = 0; l < kLanes; ++l) {
    sums[l] = dot<16>(tile.blocks[l].mins.data(), x_sums);
  }
  return sums;
}

// acc = fma(d dx, I, acc)
void add_scaled(const Lanes& d, float dx, const Integers& sums, Lanes& acc) noexcept {
  for (std::size_t l = 0; l < kLanes; ++l) {
    acc[l] = fma_float(d[l] * dx, static_cast<float>(sums[l]), acc[l]);
  }
}

// One token's share of a column of blocks.
template <class Block>
void add_token(const Tile<Block>& tile, const Activations& x, std::size_t at, Lanes& acc) noexcept {
  constexpr std::size_t kColumns = Tile<Block>::kColumns;
  const float dx = x.scales[at];
  const std::int16_t* x_sums = x.sums + at * (kColumns / kSumBlock);
  const Integers sums = code_sums(tile, x.codes + at * kColumns);
  if constexpr (kColumns == 256 && Tile<Block>::kMinimum) {
    // acc = fma(dx, fma(-dmin, M, d I), acc)
    const Integers mins = min_sums(tile, x_sums);
    for (std::size_t l = 0; l < kLanes; ++l) {
      const float product = tile.d[l] * static_cast<float>(sums[l]);
      const float term = fma_float(-tile.m[l], static_cast<float>(mins[l]), product);
      acc[l] = fma_float(dx, term, acc[l]);
    }
    return;
  }
  add_scaled(tile.d, dx, sums, acc);
  if constexpr (kColumns == 32 && Tile<Block>::kMinimum) {
    // Then acc = fma(m dx, S, acc).
    Integers x_sum;
    x_sum.fill(x_sums[0] + x_sums[1]);
    add_scaled(tile.m, dx, x_sum, acc);
  }
}

// Rows [row, row + count), count at most 16.
template <class Blocks>
void multiply_rows(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                   std::size_t row, std::size_t count) noexcept {
  using Block = typename Blocks::Block;
  using BlockTile = Tile<Block>;
  for (std::size_t t = 0; t < x.n_tokens; ++t) {
    std::fill_n(y + t * y_stride + row, count, 0.0F);
  }
  BlockTile tile{};
  for (std::size_t b = 0; b < w.n_cols / BlockTile::kColumns; ++b) {
    for (std::size_t l = 0; l < count; ++l) {
      tile.put(l, decode(Blocks::read(w, row + l, b)));
    }
    for (std::size_t t = 0; t < x.n_tokens; ++t) {
      float* out = y + t * y_stride + row;
      Lanes acc{};
      std::copy_n(out, count, acc.begin());
      add_token(tile, x, b * x.n_tokens + t, acc);
      std::copy_n(acc.begin(), count, out);
    }
  }
}

template <class Blocks>
void matmul_blocks(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                   RowRange rows) noexcept {
  for (std::size_t r = rows.begin; r < rows.end; r += kLanes) {
    multiply_rows<Blocks>(w, x, y, y_stride, r, std::min(kLanes, rows.end - r));
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
