// Quantized blocks -> integers and the floats they are multiplied with, one overload a type.
#pragma once

#include <array>
#include <cstdint>

#include "gguf/half.h"
#include "gguf/quant_blocks.h"

namespace smol::kernels::scalar {

// 32 weights: d * code + m.
struct SmallBlock {
  std::array<std::int16_t, 32> codes;
  float d, m;
};

// 256 weights: d * code - dmin * min, one min for each group of 16. The codes have been multiplied
// with their integer scales: at most 128 * 32 = 4,096 (Q6_K).
struct SuperBlock {
  std::array<std::int16_t, 256> codes;
  std::array<std::int16_t, 16> mins;
  float d, dmin;
};

SmallBlock decode(const gguf::BlockQ40& block) noexcept;
SmallBlock decode(const gguf::BlockQ41& block) noexcept;
SmallBlock decode(const gguf::BlockQ50& block) noexcept;
SmallBlock decode(const gguf::BlockQ51& block) noexcept;
SmallBlock decode(const gguf::BlockQ80& block) noexcept;
SmallBlock decode(const gguf::BlockIq4Nl& block) noexcept;
SuperBlock decode(const gguf::BlockQ2K& block) noexcept;
SuperBlock decode(const gguf::BlockQ3K& block) noexcept;
SuperBlock decode(const gguf::BlockQ4K& block) noexcept;
SuperBlock decode(const gguf::BlockQ5K& block) noexcept;
SuperBlock decode(const gguf::BlockQ6K& block) noexcept;
SuperBlock decode(const gguf::BlockIq4Xs& block) noexcept;

// Whether a type has the second term (m, dmin).
template <class Block>
inline constexpr bool kHasMinimum = requires(Block block) {
  block.m;
}

|| requires(Block block) {
  block.dmin;
};

}  // namespace smol::kernels::scalar
