// Blocks of 256 weights. Byte products are added in pairs (maddubs; codes of at most 6 bits cannot
// saturate it: 63 * 127 * 2 = 16,002), then multiplied with their scale and added in pairs again
// (madd).
#include "kernels/avx2/ops.h"
#include "kernels/x86/decode_tiles.h"

namespace smol::kernels::avx2 {

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace {

using x86::kTileRows;
using x86::SuperKind;
using x86::SuperTile;
using Job = x86::TileJob<SuperTile>;

constexpr std::size_t kBlock = 256;
constexpr std::size_t kSums = kBlock / kSumBlock;

// Pair sums of code * x as int16. Signed: |code| * (x with the sign of code), at most 127 * 127
// * 2.
template <SuperKind kKind>
__m256i multiply_codes(__m256i codes, __m256i x) noexcept {
  if constexpr (kKind == SuperKind::Signed) {
    return _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(x, codes));
  } else {
    return _mm256_maddubs_epi16(codes, x);
  }
}

// A token's share of one super-block.
struct TokenBlock {
  const std::int8_t* codes;
  const std::int16_t* sums;
  float scale;
};

TokenBlock token_block(const Activations& x, std::size_t t, std::size_t b) noexcept {
  return {x.codes + t * x.n_cols + b * kBlock, x.sums + t * (x.n_cols / kSumBlock) + b * kSums,
          x.scales[t * (x.n_cols / kBlock) + b]};
}

// Eight partial sums a row; `min` only where the kind has minima.
struct RowSums {
  __m256i dot, min;
};

template <SuperKind kKind>
__m128 add_block(const RowSums (&sums)[kTileRows], __m128 d, __m128 dmin, float dx,
                 __m128 acc) noexcept {
  const __m128i dot = x86::sum_each(sums[0].dot, sums[1].dot, sums[2].dot, sums[3].dot);
  if constexpr (kKind == SuperKind::Minimum) {
    const __m128i min = x86::sum_each(sums[0].min, sums[1].min, sums[2].min, sums[3].min);
    return x86::add_minimum(dot, min, d, dmin, dx, acc);
  }
  return x86::add_scaled(dot, d, dx, acc);
}

// The sum over minima: the starting value of `dot` for offsets.
template <SuperKind kKind>
RowSums start_sums(__m256i mins, const TokenBlock& x) noexcept {
  const __m256i zero = _mm256_setzero_si256();
  if constexpr (kKind == SuperKind::Signed) {
    return {zero, zero};
  }
  const __m256i min = _mm256_madd_epi16(mins, x86::load256(x.sums));
  if constexpr (kKind == SuperKind::Offset) {
    return {min, zero};
  }
  return {zero, min};
}

template <class Format>
RowSums dot_row(const std::byte* block, const TokenBlock& x) noexcept {
  const x86::SuperRow row = Format::decode(block);
  RowSums sums = start_sums<Format::kKind>(row.mins, x);
  for (int s = 0; s < 8; ++s) {
    const __m256i pairs =
        multiply_codes<Format::kKind>(row.codes[s], x86::load256(x.codes + 32 * s));
    sums.dot =
        _mm256_add_epi32(sums.dot, _mm256_madd_epi16(pairs, x86::spread_scale(row.scales, s)));
  }
  return sums;
}

template <class Format>
std::array<float, kTileRows> one_token(const x86::RowTile& rows, const Activations& x) noexcept {
  using Block = typename Format::Block;
  __m128 acc = _mm_setzero_ps();
  for (std::size_t b = 0; b < x.n_cols / kBlock; ++b) {
    const auto blocks = x86::blocks_at<Format>(rows, b);
    const TokenBlock token = token_block(x, 0, b);
    RowSums sums[kTileRows];
    for (std::size_t r = 0; r < kTileRows; ++r) {
      sums[r] = dot_row<Format>(blocks[r], token);
    }
    const __m128 d = x86::load_halves(blocks.data(), offsetof(Block, d));
    __m128 dmin = _mm_setzero_ps();
    if constexpr (Format::kKind == SuperKind::Minimum) {
      dmin = x86::load_halves(blocks.data(), offsetof(Block, dmin));
    }
    acc = add_block<Format::kKind>(sums, d, dmin, token.scale, acc);
  }
  std::array<float, kTileRows> out{};
  _mm_storeu_ps(out.data(), acc);
  return out;
}

// kTokens tokens at once: a weight register serves each of them.
template <SuperKind kKind, std::size_t kTokens>
void multiply_tokens(const Job& job, std::size_t t) noexcept {
  __m128 acc[kTokens];
  for (std::size_t i = 0; i < kTokens; ++i) {
    acc[i] = x86::load_acc(job.y + (t + i) * job.y_stride, job.n_rows, job.first);
  }
  for (std::size_t b = 0; b < job.count; ++b) {
    const SuperTile& tile = job.tiles[b];
    TokenBlock tokens[kTokens];
    RowSums sums[kTokens][kTileRows];
    for (std::size_t i = 0; i < kTokens; ++i) {
      tokens[i] = token_block(*job.x, t + i, job.first + b);
      for (std::size_t r = 0; r < kTileRows; ++r) {
        sums[i][r] = start_sums<kKind>(x86::load256(tile.mins[r].data()), tokens[i]);
      }
    }
    for (std::size_t s = 0; s < 8; ++s) {
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const __m256i codes = x86::load256(tile.codes[r].data() + 32 * s);
        const __m256i scales = x86::load256(tile.scales[r].data() + 16 * s);
        for (std::size_t i = 0; i < kTokens; ++i) {
          const __m256i pairs =
              multiply_codes<kKind>(codes, x86::load256(tokens[i].codes + 32 * s));
          sums[i][r].dot = _mm256_add_epi32(sums[i][r].dot, _mm256_madd_epi16(pairs, scales));
        }
      }
    }
    const __m128 d = _mm_loadu_ps(tile.d.data());
    const __m128 dmin = _mm_loadu_ps(tile.dmin.data());
    for (std::size_t i = 0; i < kTokens; ++i) {
      acc[i] = add_block<kKind>(sums[i], d, dmin, tokens[i].scale, acc[i]);
    }
  }
  for (std::size_t i = 0; i < kTokens; ++i) {
    x86::store_acc(job.y + (t + i) * job.y_stride, job.n_rows, acc[i]);
  }
}

template <SuperKind kKind>
void multiply(const Job& job) noexcept {
  std::size_t t = 0;
  for (; t + 2 <= job.x->n_tokens; t += 2) {
    multiply_tokens<kKind, 2>(job, t);
  }
  if (t < job.x->n_tokens) {
    multiply_tokens<kKind, 1>(job, t);
  }
}

template <class Format>
void matmul_super_as(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                     RowRange rows) noexcept {
  static constexpr x86::SuperKernel kKernel{kBlock, x86::decode_super<Format>,
                                            multiply<Format::kKind>, one_token<Format>};
  x86::matmul_tiles(kKernel, w, x, y, y_stride, rows);
}

}  // namespace

SMOL_TARGET_END

MatMul matmul_super(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q2_K:
      return matmul_super_as<x86::Q2K>;
    case DType::Q3_K:
      return matmul_super_as<x86::Q3K>;
    case DType::Q4_K:
      return matmul_super_as<x86::Q4K>;
    case DType::Q5_K:
      return matmul_super_as<x86::Q5K>;
    case DType::Q6_K:
      return matmul_super_as<x86::Q6K>;
    case DType::IQ4_XS:
      return matmul_super_as<x86::Iq4Xs>;
    default:
      return nullptr;
  }
}

}  // namespace smol::kernels::avx2
