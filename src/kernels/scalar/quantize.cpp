// Activations -> int8 with one scale a block.
#include <algorithm>

#include "kernels/math.h"
#include "kernels/scalar/ops.h"

namespace smol::kernels::scalar {
namespace {

// As integers, magnitudes order like the values and NaN comes above infinity.
float largest_magnitude(std::span<const float> x) noexcept {
  std::uint32_t largest = 0;
  for (const float value : x) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU);
  }
  return std::bit_cast<float>(largest);
}

void quantize(std::span<const float> x, std::size_t block, std::int8_t* codes, float* scales,
              std::int16_t* sums) noexcept {
  for (std::size_t b = 0; b < x.size() / block; ++b) {
    const BlockScale scale = block_scale(largest_magnitude(x.subspan(b * block, block)));
    scales[b] = scale.scale;
    for (std::size_t i = b * block; i < (b + 1) * block; ++i) {
      codes[i] = quantize_code(x[i], scale.inverse);
    }
  }
  for (std::size_t g = 0; g < x.size() / kSumBlock; ++g) {
    int sum = 0;
    for (std::size_t i = g * kSumBlock; i < (g + 1) * kSumBlock; ++i) {
      sum += codes[i];
    }
    sums[g] = static_cast<std::int16_t>(sum);
  }
}

}  // namespace

void quantize_q8x32(std::span<const float> x, std::int8_t* codes, float* scales,
                    std::int16_t* sums) noexcept {
  quantize(x, 32, codes, scales, sums);
}

void quantize_q8x256(std::span<const float> x, std::int8_t* codes, float* scales,
                     std::int16_t* sums) noexcept {
  quantize(x, 256, codes, scales, sums);
}

}  // namespace smol::kernels::scalar
