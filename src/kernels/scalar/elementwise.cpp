// Normalisation, rotary embedding, SwiGLU and addition.
#include <algorithm>

#include "kernels/math.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
void rms_norm(std::span<const float> x, std::span<const float> weight, float eps,
              std::span<float> y) noexcept {
  Lanes lanes{};
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    add_products(x.data() + i, x.data() + i, std::min(kLanes, x.size() - i), lanes);
  }
  const float factor = rms_factor(sum_lanes(lanes), x.size(), eps);
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = (x[i] * factor) * weight[i];
  }
}

void rope_adjacent(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                   const float* sin) noexcept {
  for (std::size_t h = 0; h < n_heads; ++h) {
    float* head = x + h * head_dim;
    for (std::size_t j = 0; j < head_dim / 2; ++j) {
      const Pair turned = turn({head[2 * j], head[2 * j + 1]}, cos[j], sin[j]);
      head[2 * j] = turned.a;
      head[2 * j + 1] = turned.b;
    }
  }
}

void rope_halves(float* x, std::size_t n_heads, std::size_t head_dim, const float* cos,
                 const float* sin) noexcept {
  const std::size_t half = head_dim / 2;
  for (std::size_t h = 0; h < n_heads; ++h) {
    float* head = x + h * head_dim;
    for (std::size_t j = 0; j < half; ++j) {
      const Pair turned = turn({head[j], head[j + half]}, cos[j], sin[j]);
      head[j] = turned.a;
      head[j + half] = turned.b;
    }
  }
}

void swiglu(std::span<const float> gate, std::span<const float> up, std::span<float> y) noexcept {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = silu(gate[i]) * up[i];
  }
}

void add(std::span<float> x, std::span<const float> y) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += y[i];
  }
}

}  // namespace smol::kernels::scalar
