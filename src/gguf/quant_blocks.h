// Blocks of quantized weights, byte for byte as GGUF files hold them (little-endian, consecutive
// along a row). Fields named d, dmin, m are half precision bits. The value of element j is given
// with each block; q is the unsigned code stored for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gguf/dtype.h"

namespace smol::gguf {

inline constexpr std::size_t kSmallBlock = 32;
inline constexpr std::size_t kSuperBlock = 256;

// d * (q - 8); qs[j] holds element j (low nibble) and 16 + j (high nibble), as in all blocks of 32.
struct BlockQ40 {
  static constexpr DType kDType = DType::Q4_0;
  std::uint16_t d;
  std::array<std::uint8_t, 16> qs;
};

// d * q + m
struct BlockQ41 {
  static constexpr DType kDType = DType::Q4_1;
  std::uint16_t d, m;
  std::array<std::uint8_t, 16> qs;
};

// d * (q - 16); bit j of qh (little-endian) is the fifth bit of element j.
struct BlockQ50 {
  static constexpr DType kDType = DType::Q5_0;
  std::uint16_t d;
  std::array<std::uint8_t, 4> qh;
  std::array<std::uint8_t, 16> qs;
};

// d * q + m
struct BlockQ51 {
  static constexpr DType kDType = DType::Q5_1;
  std::uint16_t d, m;
  std::array<std::uint8_t, 4> qh;
  std::array<std::uint8_t, 16> qs;
};

// d * qs[j]
struct BlockQ80 {
  static constexpr DType kDType = DType::Q8_0;
  std::uint16_t d;
  std::array<std::int8_t, 32> qs;
};

// 16 sub-blocks of 16: d * (scale & 15) * q - dmin * (scale >> 4).
struct BlockQ2K {
  static constexpr DType kDType = DType::Q2_K;
  std::array<std::uint8_t, 16> scales;
  std::array<std::uint8_t, 64> qs;
  std::uint16_t d, dmin;
};

// 16 sub-blocks of 16 with 6-bit scales: d * (scale - 32) * (q - 4).
struct BlockQ3K {
  static constexpr DType kDType = DType::Q3_K;
  std::array<std::uint8_t, 32> hmask;
  std::array<std::uint8_t, 64> qs;
  std::array<std::uint8_t, 12> scales;
  std::uint16_t d;
};

// 8 sub-blocks of 32 with 6-bit scales and minima: d * scale * q - dmin * min.
struct BlockQ4K {
  static constexpr DType kDType = DType::Q4_K;
  std::uint16_t d, dmin;
  std::array<std::uint8_t, 12> scales;
  std::array<std::uint8_t, 128> qs;
};

// As Q4_K, with a fifth bit in qh.
struct BlockQ5K {
  static constexpr DType kDType = DType::Q5_K;
  std::uint16_t d, dmin;
  std::array<std::uint8_t, 12> scales;
  std::array<std::uint8_t, 32> qh;
  std::array<std::uint8_t, 128> qs;
};

// 16 sub-blocks of 16 with signed scales: d * scale * (q - 32).
struct BlockQ6K {
  static constexpr DType kDType = DType::Q6_K;
  std::array<std::uint8_t, 128> ql;
  std::array<std::uint8_t, 64> qh;
  std::array<std::int8_t, 16> scales;
  std::uint16_t d;
};

// d * kIq4Values[q]
struct BlockIq4Nl {
  static constexpr DType kDType = DType::IQ4_NL;
  std::uint16_t d;
  std::array<std::uint8_t, 16> qs;
};

// 8 sub-blocks of 32 with 6-bit scales: d * (scale - 32) * kIq4Values[q].
struct BlockIq4Xs {
  static constexpr DType kDType = DType::IQ4_XS;
  std::uint16_t d, scales_h;
  std::array<std::uint8_t, 4> scales_l;
  std::array<std::uint8_t, 128> qs;
};

static_assert(sizeof(BlockQ40) == 18);
static_assert(sizeof(BlockQ41) == 20);
static_assert(sizeof(BlockQ50) == 22);
static_assert(sizeof(BlockQ51) == 24);
static_assert(sizeof(BlockQ80) == 34);
static_assert(sizeof(BlockQ2K) == 84);
static_assert(sizeof(BlockQ3K) == 110);
static_assert(sizeof(BlockQ4K) == 144);
static_assert(sizeof(BlockQ5K) == 176);
static_assert(sizeof(BlockQ6K) == 210);
static_assert(sizeof(BlockIq4Nl) == 18);
static_assert(sizeof(BlockIq4Xs) == 136);

inline constexpr std::array<std::int8_t, 16> kIq4Values{-127, -104, -83, -65, -49, -35, -22, -10,
                                                        1,    13,   25,  38,  53,  69,  89,  113};

struct ScaleMin {
  std::uint8_t scale, min;  // 0 to 63
};

// Scale and minimum of sub-block `j` (0 to 7) in the 12 bytes of Q4_K and Q5_K.
constexpr ScaleMin scale_min_k4(const std::array<std::uint8_t, 12>& packed,
                                std::size_t j) noexcept {
  if (j < 4) {
    return {static_cast<std::uint8_t>(packed[j] & 63U),
            static_cast<std::uint8_t>(packed[j + 4] & 63U)};
  }
  const unsigned lows = packed[j + 4];
  const unsigned scale_high = packed[j - 4];
  const unsigned min_high = packed[j];
  return {static_cast<std::uint8_t>((lows & 15U) | ((scale_high >> 6U) << 4U)),
          static_cast<std::uint8_t>((lows >> 4U) | ((min_high >> 6U) << 4U))};
}

// The inverse: 8 pairs of 6 bits each into 12 bytes.
constexpr std::array<std::uint8_t, 12> pack_k4(const std::array<ScaleMin, 8>& pairs) noexcept {
  std::array<std::uint8_t, 12> packed{};
  for (std::size_t j = 0; j < 4; ++j) {
    const ScaleMin low = pairs[j];
    const ScaleMin high = pairs[j + 4];
    packed[j] = static_cast<std::uint8_t>(low.scale | ((high.scale >> 4U) << 6U));
    packed[j + 4] = static_cast<std::uint8_t>(low.min | ((high.min >> 4U) << 6U));
    packed[j + 8] = static_cast<std::uint8_t>((high.scale & 15U) | ((high.min & 15U) << 4U));
  }
  return packed;
}

// The signed scale (-32 to 31) of sub-block `k` (0 to 15) in the 12 bytes of Q3_K.
constexpr int scale_q3k(const std::array<std::uint8_t, 12>& packed, std::size_t k) noexcept {
  const unsigned low = k < 8 ? packed[k] & 15U : packed[k - 8] >> 4U;
  const unsigned high = (packed[8 + k % 4] >> (2 * (k / 4))) & 3U;
  return static_cast<int>(low | (high << 4U)) - 32;
}

// The signed scale (-32 to 31) of sub-block `ib` (0 to 7) of IQ4_XS.
constexpr int scale_iq4xs(const BlockIq4Xs& block, std::size_t ib) noexcept {
  const unsigned low = (block.scales_l[ib / 2] >> (4 * (ib % 2))) & 15U;
  const unsigned high = (static_cast<unsigned>(block.scales_h) >> (2 * ib)) & 3U;
  return static_cast<int>(low | (high << 4U)) - 32;
}

}  // namespace smol::gguf
