// F32, F16 and BF16 weights times float activations: 16-lane sums.
#include <algorithm>
#include <cstring>

#include "gguf/half.h"
#include "kernels/math.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

constexpr std::size_t kTokenTile = 8;

struct FromF32 {
  using Stored = float;

  static float convert(float value) noexcept { return value; }
};

struct FromF16 {
  using Stored = std::uint16_t;

  static float convert(std::uint16_t value) noexcept { return gguf::f16_to_f32(value); }
};

struct FromBf16 {
  using Stored = std::uint16_t;

  static float convert(std::uint16_t value) noexcept { return gguf::bf16_to_f32(value); }
};

// Up to 16 weights from `row` on, as floats.
template <class From>
Lanes load_weights(const std::byte* row, std::size_t first, std::size_t count) noexcept {
  std::array<typename From::Stored, kLanes> stored{};
  std::memcpy(stored.data(), row + first * sizeof(stored[0]), count * sizeof(stored[0]));
  Lanes weights{};
  for (std::size_t l = 0; l < count; ++l) {
    weights[l] = From::convert(stored[l]);
  }
  return weights;
}

template <class From>
std::array<float, kTokenTile> dot_tokens(const std::byte* row, const float* x, std::size_t n_cols,
                                         std::size_t n_tokens) noexcept {
  std::array<Lanes, kTokenTile> lanes{};
  for (std::size_t i = 0; i < n_cols; i += kLanes) {
    const std::size_t count = std::min(kLanes, n_cols - i);
    const Lanes weights = load_weights<From>(row, i, count);
    for (std::size_t t = 0; t < n_tokens; ++t) {
      add_products(weights.data(), x + t * n_cols + i, count, lanes[t]);
    }
  }
  std::array<float, kTokenTile> sums{};
  for (std::size_t t = 0; t < n_tokens; ++t) {
    sums[t] = sum_lanes(lanes[t]);
  }
  return sums;
}

template <class From>
void matmul_lanes(const Matrix& w, const Activations& x, float* y, std::size_t y_stride,
                  RowRange rows) noexcept {
  for (std::size_t r = rows.begin; r < rows.end; ++r) {
    for (std::size_t t = 0; t < x.n_tokens; t += kTokenTile) {
      const std::size_t count = std::min(kTokenTile, x.n_tokens - t);
      const auto sums =
          dot_tokens<From>(w.data + r * w.row_bytes, x.f32 + t * w.n_cols, w.n_cols, count);
      for (std::size_t i = 0; i < count; ++i) {
        y[(t + i) * y_stride + r] = sums[i];
      }
    }
  }
}

}  // namespace

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

}  // namespace smol::kernels::scalar
