// Blocks of 32 elements.
#include "gguf/expand_blocks.h"
#include "gguf/half.h"

namespace smol::gguf {
namespace {

constexpr std::size_t kHalf = kSmallBlock / 2;

// The nibble of element j (0 to 31).
unsigned nibble(const std::array<std::uint8_t, 16>& qs, std::size_t j) noexcept {
  return j < kHalf ? qs[j] & 15U : qs[j - kHalf] >> 4U;
}

unsigned five_bits(const std::array<std::uint8_t, 16>& qs, const std::array<std::uint8_t, 4>& qh,
                   std::size_t j) noexcept {
  const unsigned fifth = (qh[j / 8] >> (j % 8)) & 1U;
  return nibble(qs, j) | (fifth << 4U);
}

}  // namespace

void expand(const BlockQ40& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    out[j] = d * static_cast<float>(static_cast<int>(nibble(block.qs, j)) - 8);
  }
}

void expand(const BlockQ41& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  const float m = f16_to_f32(block.m);
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    out[j] = d * static_cast<float>(nibble(block.qs, j)) + m;
  }
}

void expand(const BlockQ50& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    out[j] = d * static_cast<float>(static_cast<int>(five_bits(block.qs, block.qh, j)) - 16);
  }
}

void expand(const BlockQ51& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  const float m = f16_to_f32(block.m);
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    out[j] = d * static_cast<float>(five_bits(block.qs, block.qh, j)) + m;
  }
}

void expand(const BlockQ80& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    out[j] = d * static_cast<float>(block.qs[j]);
  }
}

void expand(const BlockIq4Nl& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t j = 0; j < kSmallBlock; ++j) {
    out[j] = d * static_cast<float>(kIq4Values[nibble(block.qs, j)]);
  }
}

}  // namespace smol::gguf
