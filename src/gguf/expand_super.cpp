// Super-blocks of 256 elements.
#include "gguf/expand_blocks.h"
#include "gguf/half.h"

namespace smol::gguf {
namespace {

// Q2_K and Q3_K: two bits of element 128 * half + 32 * step + l.
unsigned two_bits(const std::array<std::uint8_t, 64>& qs, std::size_t half, std::size_t step,
                  std::size_t l) noexcept {
  return (qs[32 * half + l] >> (2 * step)) & 3U;
}

// Q4_K, Q5_K, IQ4_XS style pairs: byte 32 * pair + l holds elements 64 * pair + l and 64 * pair +
// 32 + l.
unsigned paired_nibble(const std::array<std::uint8_t, 128>& qs, std::size_t sub_block,
                       std::size_t l) noexcept {
  const unsigned both = qs[32 * (sub_block / 2) + l];
  return sub_block % 2 == 0 ? both & 15U : both >> 4U;
}

}  // namespace

void expand(const BlockQ2K& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (std::size_t j = 0; j < kSuperBlock; ++j) {
    const std::size_t half = j / 128;
    const std::size_t step = j / 32 % 4;
    const unsigned scale = block.scales[j / 16];
    const auto q = static_cast<float>(two_bits(block.qs, half, step, j % 32));
    out[j] = d * static_cast<float>(scale & 15U) * q - dmin * static_cast<float>(scale >> 4U);
  }
}

void expand(const BlockQ3K& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t j = 0; j < kSuperBlock; ++j) {
    const std::size_t half = j / 128;
    const std::size_t step = j / 32 % 4;
    const std::size_t l = j % 32;
    const bool high = ((block.hmask[l] >> (4 * half + step)) & 1U) != 0;
    const int q = static_cast<int>(two_bits(block.qs, half, step, l)) - (high ? 0 : 4);
    out[j] = d * static_cast<float>(scale_q3k(block.scales, j / 16)) * static_cast<float>(q);
  }
}

void expand(const BlockQ4K& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (std::size_t sub = 0; sub < 8; ++sub) {
    const ScaleMin pair = scale_min_k4(block.scales, sub);
    const float scale = d * static_cast<float>(pair.scale);
    const float min = dmin * static_cast<float>(pair.min);
    for (std::size_t l = 0; l < 32; ++l) {
      out[32 * sub + l] = scale * static_cast<float>(paired_nibble(block.qs, sub, l)) - min;
    }
  }
}

void expand(const BlockQ5K& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  const float dmin = f16_to_f32(block.dmin);
  for (std::size_t sub = 0; sub < 8; ++sub) {
    const ScaleMin pair = scale_min_k4(block.scales, sub);
    const float scale = d * static_cast<float>(pair.scale);
    const float min = dmin * static_cast<float>(pair.min);
    for (std::size_t l = 0; l < 32; ++l) {
      const unsigned fifth = (block.qh[l] >> sub) & 1U;
      const unsigned q = paired_nibble(block.qs, sub, l) | (fifth << 4U);
      out[32 * sub + l] = scale * static_cast<float>(q) - min;
    }
  }
}

void expand(const BlockQ6K& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t j = 0; j < kSuperBlock; ++j) {
    const std::size_t half = j / 128;
    const std::size_t quarter = j / 32 % 4;  // two nibbles of ql, four pairs of bits of qh
    const std::size_t l = j % 32;
    const unsigned low_byte = block.ql[64 * half + 32 * (quarter % 2) + l];
    const unsigned low = quarter < 2 ? low_byte & 15U : low_byte >> 4U;
    const unsigned high = (block.qh[32 * half + l] >> (2 * quarter)) & 3U;
    const int q = static_cast<int>(low | (high << 4U)) - 32;
    out[j] = d * static_cast<float>(block.scales[j / 16]) * static_cast<float>(q);
  }
}

void expand(const BlockIq4Xs& block, float* out) noexcept {
  const float d = f16_to_f32(block.d);
  for (std::size_t sub = 0; sub < 8; ++sub) {
    const float scale = d * static_cast<float>(scale_iq4xs(block, sub));
    for (std::size_t l = 0; l < 16; ++l) {
      const unsigned both = block.qs[16 * sub + l];
      out[32 * sub + l] = scale * static_cast<float>(kIq4Values[both & 15U]);
      out[32 * sub + 16 + l] = scale * static_cast<float>(kIq4Values[both >> 4U]);
    }
  }
}

}  // namespace smol::gguf
