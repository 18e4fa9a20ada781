// Blocks of 32 weights. vpdpbusd takes unsigned codes: signed ones are shifted by 128, and 128
// times the sum of the activations' codes is subtracted.
#include "kernels/avx512/ops.h"
#include "kernels/x86/accumulate.h"
#include "kernels/x86/decode_tiles.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace {

using x86::kTileRows;
using x86::SmallTile;
using Job = x86::TileJob<SmallTile>;

constexpr std::size_t kBlock = 32;
constexpr std::size_t kTokenTile = 4;

// Eight partial sums of code * x; a signed code counts as code + 128.
template <bool kSigned>
__m256i dot_codes(__m256i codes, __m256i x) noexcept {
  if constexpr (kSigned) {
    codes = _mm256_xor_si256(codes, _mm256_set1_epi8(-128));
  }
  return _mm256_dpbusd_epi32(_mm256_setzero_si256(), codes, x);
}

template <class Format>
__m128 add_block(const __m256i (&codes)[kTileRows], const x86::SmallToken& x, __m128 d, __m128 m,
                 __m128 acc) noexcept {
  constexpr int kOffset = Format::kSigned ? 128 : 0;
  const __m128i dots = x86::sum_each(
      dot_codes<Format::kSigned>(codes[0], x.codes), dot_codes<Format::kSigned>(codes[1], x.codes),
      dot_codes<Format::kSigned>(codes[2], x.codes), dot_codes<Format::kSigned>(codes[3], x.codes));
  return x86::add_small<Format::kMinimum, kOffset>(dots, x, d, m, acc);
}

template <class Format>
std::array<float, kTileRows> one_token(const x86::RowTile& rows, const Activations& x) noexcept {
  using Block = typename Format::Block;
  __m128 acc = _mm_setzero_ps();
  for (std::size_t b = 0; b < x.n_cols / kBlock; ++b) {
    const auto blocks = x86::blocks_at<Format>(rows, b);
    const __m256i codes[kTileRows] = {Format::codes(blocks[0]), Format::codes(blocks[1]),
                                      Format::codes(blocks[2]), Format::codes(blocks[3])};
    const __m128 d = x86::load_halves(blocks.data(), offsetof(Block, d));
    __m128 m = _mm_setzero_ps();
    if constexpr (Format::kMinimum) {
      m = x86::load_halves(blocks.data(), offsetof(Block, m));
    }
    acc = add_block<Format>(codes, x86::small_token(x, 0, b), d, m, acc);
  }
  std::array<float, kTileRows> out{};
  _mm_storeu_ps(out.data(), acc);
  return out;
}

template <class Format, std::size_t kTokens>
void multiply_tokens(const Job& job, std::size_t t) noexcept {
  __m128 acc[kTokens];
  for (std::size_t i = 0; i < kTokens; ++i) {
    acc[i] = x86::load_acc(job.y + (t + i) * job.y_stride, job.n_rows, job.first);
  }
  for (std::size_t b = 0; b < job.count; ++b) {
    const SmallTile& tile = job.tiles[b];
    const __m256i codes[kTileRows] = {
        x86::load256(tile.codes[0].data()), x86::load256(tile.codes[1].data()),
        x86::load256(tile.codes[2].data()), x86::load256(tile.codes[3].data())};
    const __m128 d = _mm_loadu_ps(tile.d.data());
    const __m128 m = _mm_loadu_ps(tile.m.data());
    for (std::size_t i = 0; i < kTokens; ++i) {
      const x86::SmallToken token = x86::small_token(*job.x, t + i, job.first + b);
      acc[i] = add_block<Format>(codes, token, d, m, acc[i]);
    }
  }
  for (std::size_t i = 0; i < kTokens; ++i) {
    x86::store_acc(job.y + (t + i) * job.y_stride, job.n_rows, acc[i]);
  }
}

template <class Format>
void multiply(const Job& job) noexcept {
  std::size_t t = 0;
  for (; t + kTokenTile <= job.x->n_tokens; t += kTokenTile) {
    multiply_tokens<Format, kTokenTile>(job, t);
  }
  for (; t < job.x->n_tokens; ++t) {
    multiply_tokens<Format, 1>(job, t);
  }
}

template <class Format>
void matmul_small_as(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                     RowRange rows) noexcept {
  static constexpr x86::SmallKernel kKernel{kBlock, x86::decode_small<Format>, multiply<Format>,
                                            one_token<Format>};
  x86::matmul_tiles(kKernel, w, x, y, y_stride, rows);
}

}  // namespace

SMOL_TARGET_END

MatMul matmul_small(gguf::DType weights) noexcept {
  using gguf::DType;
  switch (weights) {
    case DType::Q5_1:
      return matmul_small_as<x86::Q51>;
    case DType::IQ4_NL:
      return matmul_small_as<x86::Iq4Nl>;
    default:
      return nullptr;
  }
}

}  // namespace smol::kernels::avx512
