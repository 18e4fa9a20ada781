// Q8_0 and Q4_0.
#include "gguf/quantize.h"
#include "gguf/scale_search.h"

namespace smol::gguf {

BlockQ80 quantize_q80(std::span<const float, kSmallBlock> values) noexcept {
  constexpr float kLargestByte = 127.0F;
  float largest = 0.0F;
  for (const float value : values) {
    largest = std::max(largest, std::abs(value));
  }
  BlockQ80 block{};
  block.d = saturated_half(largest / kLargestByte);
  const float inverse = safe_reciprocal(f16_to_f32(block.d));
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    block.qs[j] =
        static_cast<std::int8_t>(nearest_code(values[j] * inverse, -kLargestByte, kLargestByte));
  }
  return block;
}

BlockQ40 quantize_q40(std::span<const float, kSmallBlock> values) noexcept {
  constexpr float kLow = -8.0F;
  constexpr float kHigh = 7.0F;
  constexpr std::size_t kHalfBlock = kSmallBlock / 2;
  BlockQ40 block{};
  block.d = saturated_half(search_scale(values, kLow, kHigh));
  const float inverse = safe_reciprocal(f16_to_f32(block.d));
  const auto code = [&](std::size_t j) {
    return static_cast<unsigned>(nearest_code(values[j] * inverse, kLow, kHigh) - kLow);
  };
  for (std::size_t j = 0; j < kHalfBlock; ++j) {
    block.qs[j] = static_cast<std::uint8_t>(code(j) | (code(j + kHalfBlock) << 4U));
  }
  return block;
}

}  // namespace smol::gguf
