// Blocks of 256 weights. Byte products are added in pairs (maddubs; codes of at most 6 bits cannot
// saturate it), and vpdpwssd multiplies the pairs with their scale and accumulates: two
// instructions for 64 products.
#include "kernels/avx512/ops.h"
#include "kernels/x86/accumulate.h"
#include "kernels/x86/decode_tiles.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace {

using x86::kTileRows;
using x86::SuperKind;
using x86::SuperTile;
using Job = x86::TileJob<SuperTile>;

constexpr std::size_t kBlock = 256;

constexpr std::size_t kTokenTile = 4;

__m512i load512(const void* from) noexcept {
  return _mm512_loadu_si512(from);
}

__m512i join(__m256i low, __m256i high) noexcept {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

__m256i add_halves(__m512i value) noexcept {
  return _mm256_add_epi32(_mm512_castsi512_si256(value), _mm512_extracti64x4_epi64(value, 1));
}

// Pair sums of code * x as int16. Signed: |code| * (x with the sign of code), at most 127 * 127
// * 2.
template <SuperKind kKind>
__m512i multiply_codes(__m512i codes, __m512i x) noexcept {
  if constexpr (kKind == SuperKind::Signed) {
    const __m512i signed_x =
        _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(codes), _mm512_setzero_si512(), x);
    return _mm512_maddubs_epi16(_mm512_abs_epi8(codes), signed_x);
  } else {
    return _mm512_maddubs_epi16(codes, x);
  }
}

template <SuperKind kKind>
__m256i dot_row(const x86::SuperRow& row, const std::int8_t* x) noexcept {
  __m512i dot = _mm512_setzero_si512();
  for (std::size_t s = 0; s < 8; s += 2) {
    const __m512i codes = join(row.codes[s], row.codes[s + 1]);
    const __m512i scales =
        join(x86::spread_scale(row.scales, s), x86::spread_scale(row.scales, s + 1));
    dot = _mm512_dpwssd_epi32(dot, multiply_codes<kKind>(codes, load512(x + 32 * s)), scales);
  }
  return add_halves(dot);
}

template <std::size_t kTokens>
struct TileDots {
  __m256i of[kTokens][kTileRows];
};

template <SuperKind kKind, std::size_t kTokens>
TileDots<kTokens> dot_tile(const SuperTile& tile, const x86::SuperToken (&x)[kTokens]) noexcept {
  __m512i sums[kTokens][kTileRows] = {};
  for (std::size_t s = 0; s < 8; s += 2) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const __m512i codes = load512(tile.codes[r].data() + 32 * s);
      const __m512i scales = load512(tile.scales[r].data() + 16 * s);
      for (std::size_t i = 0; i < kTokens; ++i) {
        const __m512i pairs = multiply_codes<kKind>(codes, load512(x[i].codes + 32 * s));
        sums[i][r] = _mm512_dpwssd_epi32(sums[i][r], pairs, scales);
      }
    }
  }
  TileDots<kTokens> dots;
  for (std::size_t i = 0; i < kTokens; ++i) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      dots.of[i][r] = add_halves(sums[i][r]);
    }
  }
  return dots;
}

template <class Format>
std::array<float, kTileRows> one_token(const x86::RowTile& rows, const Activations& x) noexcept {
  using Block = typename Format::Block;
  __m128 acc = _mm_setzero_ps();
  for (std::size_t b = 0; b < x.n_cols / kBlock; ++b) {
    const auto blocks = x86::blocks_at<Format>(rows, b);
    const x86::SuperToken token = x86::super_token(x, 0, b);
    x86::SuperFactors factors = {};
    __m256i dots[kTileRows];
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const x86::SuperRow row = Format::decode(blocks[r]);
      factors.mins[r] = row.mins;
      dots[r] = dot_row<Format::kKind>(row, token.codes);
    }
    factors.d = x86::load_halves(blocks.data(), offsetof(Block, d));
    if constexpr (Format::kKind == SuperKind::Minimum) {
      factors.dmin = x86::load_halves(blocks.data(), offsetof(Block, dmin));
    }
    acc = x86::add_super<Format::kKind>(dots, factors, token, acc);
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
    x86::SuperToken tokens[kTokens];
    for (std::size_t i = 0; i < kTokens; ++i) {
      tokens[i] = x86::super_token(*job.x, t + i, job.first + b);
    }
    const TileDots<kTokens> dots = dot_tile<kKind, kTokens>(tile, tokens);
    const x86::SuperFactors factors = x86::super_factors(tile);
    for (std::size_t i = 0; i < kTokens; ++i) {
      acc[i] = x86::add_super<kKind>(dots.of[i], factors, tokens[i], acc[i]);
    }
  }
  for (std::size_t i = 0; i < kTokens; ++i) {
    x86::store_acc(job.y + (t + i) * job.y_stride, job.n_rows, acc[i]);
  }
}

template <SuperKind kKind>
void multiply(const Job& job) noexcept {
  std::size_t t = 0;
  for (; t + kTokenTile <= job.x->n_tokens; t += kTokenTile) {
    multiply_tokens<kKind, kTokenTile>(job, t);
  }
  for (; t < job.x->n_tokens; ++t) {
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
    case DType::Q5_K:
      return matmul_super_as<x86::Q5K>;
    case DType::IQ4_XS:
      return matmul_super_as<x86::Iq4Xs>;
    default:
      return nullptr;
  }
}

}  // namespace smol::kernels::avx512
