#include "kernels/scalar/decode.h"

namespace smol::kernels::scalar {
namespace {

using gguf::f16_to_f32;
using gguf::kIq4Values;

using SmallCodes = std::array<std::int16_t, 32>;

SmallCodes nibbles(const std::array<std::uint8_t, 16>& qs, int offset) noexcept {
  SmallCodes codes{};
  for (std::size_t j = 0; j < 16; ++j) {
    codes[j] = static_cast<std::int16_t>((qs[j] & 15) + offset);
    codes[j + 16] = static_cast<std::int16_t>((qs[j] >> 4) + offset);
  }
  return codes;
}

SmallCodes five_bits(const std::array<std::uint8_t, 16>& qs, const std::array<std::uint8_t, 4>& qh,
                     int offset) noexcept {
  SmallCodes codes = nibbles(qs, offset);
  for (std::size_t j = 0; j < 32; ++j) {
    const int fifth = (qh[j / 8] >> (j % 8)) & 1;
    codes[j] = static_cast<std::int16_t>(codes[j] + 16 * fifth);
  }
  return codes;
}

// Multiplies the codes of a group of 16 with its scale.
void scale_group(SuperBlock& out, std::size_t group, int scale) noexcept {
  for (std::size_t j = 16 * group; j < 16 * group + 16; ++j) {
    out.codes[j] = static_cast<std::int16_t>(out.codes[j] * scale);
  }
}

// Q4_K and Q5_K: scales and minima of 8 sub-blocks, each for two groups of 16.
void apply_scales_k4(const std::array<std::uint8_t, 12>& packed, SuperBlock& out) noexcept {
  for (std::size_t g = 0; g < 16; ++g) {
    const gguf::ScaleMin pair = gguf::scale_min_k4(packed, g / 2);
    scale_group(out, g, pair.scale);
    out.mins[g] = pair.min;
  }
}

// Q2_K and Q3_K: byte 32 half + l holds two bits of the elements 128 half + 32 step + l.
int two_bits(const std::array<std::uint8_t, 64>& qs, std::size_t j) noexcept {
  return (qs[32 * (j / 128) + j % 32] >> (2 * (j / 32 % 4))) & 3;
}

}  // namespace

SmallBlock decode(const gguf::BlockQ40& block) noexcept {
  return {nibbles(block.qs, -8), f16_to_f32(block.d), 0.0F};
}

SmallBlock decode(const gguf::BlockQ41& block) noexcept {
  return {nibbles(block.qs, 0), f16_to_f32(block.d), f16_to_f32(block.m)};
}

SmallBlock decode(const gguf::BlockQ50& block) noexcept {
  return {five_bits(block.qs, block.qh, -16), f16_to_f32(block.d), 0.0F};
}

SmallBlock decode(const gguf::BlockQ51& block) noexcept {
  return {five_bits(block.qs, block.qh, 0), f16_to_f32(block.d), f16_to_f32(block.m)};
}

SmallBlock decode(const gguf::BlockQ80& block) noexcept {
  SmallBlock out{{}, f16_to_f32(block.d), 0.0F};
  for (std::size_t j = 0; j < 32; ++j) {
    out.codes[j] = block.qs[j];
  }
  return out;
}

SmallBlock decode(const gguf::BlockIq4Nl& block) noexcept {
  SmallBlock out{nibbles(block.qs, 0), f16_to_f32(block.d), 0.0F};
  for (std::int16_t& code : out.codes) {
    code = kIq4Values[static_cast<std::size_t>(code)];
  }
  return out;
}

SuperBlock decode(const gguf::BlockQ2K& block) noexcept {
  SuperBlock out{{}, {}, f16_to_f32(block.d), f16_to_f32(block.dmin)};
  for (std::size_t j = 0; j < 256; ++j) {
    out.codes[j] = static_cast<std::int16_t>(two_bits(block.qs, j));
  }
  for (std::size_t g = 0; g < 16; ++g) {
    scale_group(out, g, block.scales[g] & 15);
    out.mins[g] = static_cast<std::int16_t>(block.scales[g] >> 4);
  }
  return out;
}

SuperBlock decode(const gguf::BlockQ3K& block) noexcept {
  SuperBlock out{{}, {}, f16_to_f32(block.d), 0.0F};
  for (std::size_t j = 0; j < 256; ++j) {
    const int high = (block.hmask[j % 32] >> (j / 32)) & 1;
    out.codes[j] = static_cast<std::int16_t>(two_bits(block.qs, j) + 4 * high - 4);
  }
  for (std::size_t g = 0; g < 16; ++g) {
    scale_group(out, g, gguf::scale_q3k(block.scales, g));
  }
  return out;
}

SuperBlock decode(const gguf::BlockQ4K& block) noexcept {
  SuperBlock out{{}, {}, f16_to_f32(block.d), f16_to_f32(block.dmin)};
  for (std::size_t pair = 0; pair < 4; ++pair) {
    for (std::size_t l = 0; l < 32; ++l) {
      const unsigned both = block.qs[32 * pair + l];
      out.codes[64 * pair + l] = static_cast<std::int16_t>(both & 15U);
      out.codes[64 * pair + 32 + l] = static_cast<std::int16_t>(both >> 4U);
    }
  }
  apply_scales_k4(block.scales, out);
  return out;
}

SuperBlock decode(const gguf::BlockQ5K& block) noexcept {
  SuperBlock out{{}, {}, f16_to_f32(block.d), f16_to_f32(block.dmin)};
  for (std::size_t j = 0; j < 256; ++j) {
    const int both = block.qs[32 * (j / 64) + j % 32];
    const int nibble = (both >> (4 * (j / 32 % 2))) & 15;
    const int fifth = (block.qh[j % 32] >> (j / 32)) & 1;
    out.codes[j] = static_cast<std::int16_t>(nibble + 16 * fifth);
  }
  apply_scales_k4(block.scales, out);
  return out;
}

SuperBlock decode(const gguf::BlockQ6K& block) noexcept {
  SuperBlock out{{}, {}, f16_to_f32(block.d), 0.0F};
  for (std::size_t j = 0; j < 256; ++j) {
    const std::size_t half = j / 128;
    const std::size_t quarter = j / 32 % 4;
    const int both = block.ql[64 * half + 32 * (quarter % 2) + j % 32];
    const int low = (both >> (4 * (quarter / 2))) & 15;
    const int high = (block.qh[32 * half + j % 32] >> (2 * quarter)) & 3;
    out.codes[j] = static_cast<std::int16_t>(low + 16 * high - 32);
  }
  for (std::size_t g = 0; g < 16; ++g) {
    scale_group(out, g, block.scales[g]);
  }
  return out;
}

SuperBlock decode(const gguf::BlockIq4Xs& block) noexcept {
  SuperBlock out{{}, {}, f16_to_f32(block.d), 0.0F};
  for (std::size_t j = 0; j < 256; ++j) {
    const int both = block.qs[16 * (j / 32) + j % 16];
    const int nibble = (both >> (4 * (j / 16 % 2))) & 15;
    out.codes[j] = kIq4Values[static_cast<std::size_t>(nibble)];
  }
  for (std::size_t g = 0; g < 16; ++g) {
    scale_group(out, g, gguf::scale_iq4xs(block, g / 2));
  }
  return out;
}

}  // namespace smol::kernels::scalar
