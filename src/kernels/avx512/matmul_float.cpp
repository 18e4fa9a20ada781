// F32, F16 and BF16 weights: two rows and up to two tokens at a time, 16 lanes in two registers
// each.
#include <algorithm>

#include "gguf/half.h"
#include "kernels/avx512/ops.h"
#include "kernels/math.h"
#include "kernels/x86/vectors.h"

namespace smol::kernels::avx512 {

SMOL_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")

namespace {

struct FromF32 {
  static constexpr std::size_t kBytes = 4;

  static __m512 load(const std::byte* from) noexcept { return _mm512_loadu_ps(from); }

  static float load_one(const std::byte* from) noexcept {
    return std::bit_cast<float>(x86::load_u32(from));
  }
};

struct FromF16 {
  static constexpr std::size_t kBytes = 2;

  static __m512 load(const std::byte* from) noexcept { return _mm512_cvtph_ps(x86::load256(from)); }

  static float load_one(const std::byte* from) noexcept {
    return gguf::f16_to_f32(x86::load_u16(from));
  }
};

struct FromBf16 {
  static constexpr std::size_t kBytes = 2;

  static __m512 load(const std::byte* from) noexcept {
    const __m512i wide = _mm512_cvtepu16_epi32(x86::load256(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }

  static float load_one(const std::byte* from) noexcept {
    return gguf::bf16_to_f32(x86::load_u16(from));
  }
};

// The last, short step touches only the lanes it has elements for.
template <class From>
float finish(__m512 lanes, const std::byte* w, const float* x, std::size_t count) noexcept {
  Lanes all{};
  _mm512_storeu_ps(all.data(), lanes);
  for (std::size_t l = 0; l < count; ++l) {
    all[l] = std::fma(From::load_one(w + l * From::kBytes), x[l], all[l]);
  }
  return sum_lanes(all);
}

template <class From, std::size_t kRows, std::size_t kTokens>
void dot_tile(const Matrix& w, const float* x, std::size_t row, float* y,
              std::size_t y_stride) noexcept {
  __m512 acc[kRows][kTokens] = {};
  const std::byte* rows = w.data + row * w.row_bytes;
  const std::size_t whole = w.n_cols / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t r = 0; r < kRows; ++r) {
      const __m512 weights = From::load(rows + r * w.row_bytes + i * From::kBytes);
      for (std::size_t t = 0; t < kTokens; ++t) {
        acc[r][t] = _mm512_fmadd_ps(weights, _mm512_loadu_ps(x + t * w.n_cols + i), acc[r][t]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::byte* tail = rows + r * w.row_bytes + whole * From::kBytes;
    for (std::size_t t = 0; t < kTokens; ++t) {
      y[t * y_stride + row + r] =
          finish<From>(acc[r][t], tail, x + t * w.n_cols + whole, w.n_cols - whole);
    }
  }
}

template <class From, std::size_t kRows>
void dot_rows(const Matrix& w, const Activations& x, std::size_t row, float* y,
              std::size_t y_stride) noexcept {
  std::size_t t = 0;
  for (; t + 4 <= x.n_tokens; t += 4) {
    dot_tile<From, kRows, 4>(w, x.f32 + t * w.n_cols, row, y + t * y_stride, y_stride);
  }
  for (; t < x.n_tokens; ++t) {
    dot_tile<From, kRows, 1>(w, x.f32 + t * w.n_cols, row, y + t * y_stride, y_stride);
  }
}

template <class From>
void matmul_lanes(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                  RowRange rows) noexcept {
  std::size_t r = rows.begin;
  for (; r + 4 <= rows.end; r += 4) {
    dot_rows<From, 4>(w, x, r, y, y_stride);
  }
  for (; r < rows.end; ++r) {
    dot_rows<From, 1>(w, x, r, y, y_stride);
  }
}

}  // namespace

SMOL_TARGET_END

MatMul matmul_float(gguf::DType weights) noexcept {
  switch (weights) {
    case gguf::DType::F32:
      return matmul_lanes<FromF32>;
    case gguf::DType::F16:
      return matmul_lanes<FromF16>;
    case gguf::DType::BF16:
      return matmul_lanes<FromBf16>;
    default:
      return nullptr;
  }
}

}  // namespace smol::kernels::avx512
