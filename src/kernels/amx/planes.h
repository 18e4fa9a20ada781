// Cells with their integer scales multiplied in, as tiles take them. Included inside the target
// region.
#pragma once

#include "kernels/amx/tile_registers.h"

namespace smol::kernels::x86 {
namespace {

inline constexpr std::size_t kColumns = 256;  // of a cell
inline constexpr std::size_t kTileColumns = kTileRowBytes;
inline constexpr std::size_t kTilesPerCell = kColumns / kTileColumns;

// One byte of the products of scale and code, as tiles: [columns / 64][group of 4 columns].
using Plane = std::array<std::array<CellGroup, kTileRows>, kTilesPerCell>;

struct alignas(64) Planes {
  Plane low;   // unsigned
  Plane high;  // signed
};

inline __m512i load512(const void* from) noexcept {
  return _mm512_loadu_si512(from);
}

inline void store_group(CellGroup& to, __m512i x) noexcept {
  _mm512_store_si512(to.data(), x);
}

// One byte of each row -> int16, twice: beside both halves of a row's four bytes.
template <bool kSigned>
__m512i spread_words(const CellScales& rows) noexcept {
  const __m128i bytes = load128(rows.data());
  const __m512i wide = kSigned ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
  return _mm512_or_si512(_mm512_and_si512(wide, _mm512_set1_epi32(0xFFFF)),
                         _mm512_slli_epi32(wide, 16));
}

struct Q4KProducts {
  using Cell = CellQ4K;
  static constexpr int kPlaneShift = 3;
  static constexpr bool kMinimum = true;

  // A scale is 8 * high + low; a digit times a code is at most 105, so that both bytes of a word
  // are multiplied at once.
  struct Digits {
    __m512i low, high;
  };

  static Digits digits_of(const CellScales& scales) noexcept {
    const __m512i words = spread_words<false>(scales);
    return {_mm512_and_si512(words, _mm512_set1_epi16(7)), _mm512_srli_epi16(words, 3)};
  }

  static void unpack(const Cell& cell, const PanelFactors& factors, Planes& out) noexcept {
    const __m512i nibble = _mm512_set1_epi8(15);
    for (std::size_t p = 0; p < kTilesPerCell; ++p) {
      const Digits first = digits_of(factors.scales[2 * p]);
      const Digits second = digits_of(factors.scales[2 * p + 1]);
      for (std::size_t g = 0; g < 8; ++g) {
        const __m512i both = load512(cell.qs[p][g].data());
        const __m512i a = _mm512_and_si512(both, nibble);
        const __m512i b = _mm512_and_si512(_mm512_srli_epi16(both, 4), nibble);
        store_group(out.low[p][g], _mm512_mullo_epi16(a, first.low));
        store_group(out.high[p][g], _mm512_mullo_epi16(a, first.high));
        store_group(out.low[p][g + 8], _mm512_mullo_epi16(b, second.low));
        store_group(out.high[p][g + 8], _mm512_mullo_epi16(b, second.high));
      }
    }
  }
};

struct Q6KProducts {
  using Cell = CellQ6K;
  static constexpr int kPlaneShift = 8;
  static constexpr bool kMinimum = false;

  // The products of 32-lower codes with a scale, of even and of odd columns, as the two bytes of
  // words.
  static void store_products(__m512i codes, __m512i scale, CellGroup& low,
                             CellGroup& high) noexcept {
    const __m512i offset = _mm512_set1_epi16(32);
    const __m512i even_codes = _mm512_and_si512(codes, _mm512_set1_epi16(255));
    const __m512i even = _mm512_mullo_epi16(_mm512_sub_epi16(even_codes, offset), scale);
    const __m512i odd_codes = _mm512_srli_epi16(codes, 8);
    const __m512i odd = _mm512_mullo_epi16(_mm512_sub_epi16(odd_codes, offset), scale);
    constexpr __mmask64 kOddBytes = 0xAAAAAAAAAAAAAAAA;
    store_group(low, _mm512_mask_blend_epi8(kOddBytes, even, _mm512_slli_epi16(odd, 8)));
    store_group(high, _mm512_mask_blend_epi8(kOddBytes, _mm512_srli_epi16(even, 8), odd));
  }

  // Bits of every byte: shifted right (left if negative), then masked.
  template <int kShift, int kMask>
  static __m512i bits(const CellGroup& from) noexcept {
    __m512i x = load512(from.data());
    if constexpr (kShift > 0) {
      x = _mm512_srli_epi16(x, kShift);
    } else if constexpr (kShift < 0) {
      x = _mm512_slli_epi16(x, -kShift);
    }
    return _mm512_and_si512(x, _mm512_set1_epi8(kMask));
  }

  // A quarter of a half of the cell: 32 columns.
  template <std::size_t kQuarter>
  static __m512i codes(const CellQ6K::Group& group) noexcept {
    constexpr int kHighShift = 2 * static_cast<int>(kQuarter) - 4;
    const CellGroup& low = kQuarter % 2 == 0 ? group.low0 : group.low1;
    const __m512i nibbles = bits<kQuarter / 2 * 4, 15>(low);
    const __m512i high = bits<kHighShift, 0x30>(group.high);
    return _mm512_or_si512(nibbles, high);
  }

  template <std::size_t kQuarter>
  static void unpack_quarter(const Cell& cell, std::size_t half, Planes& out) noexcept {
    const std::size_t tile = 2 * half + kQuarter / 2;
    for (std::size_t g = 0; g < 8; ++g) {
      const __m512i scale = spread_words<true>(cell.scales[8 * half + 2 * kQuarter + g / 4]);
      const std::size_t row = kQuarter % 2 * 8 + g;
      store_products(codes<kQuarter>(cell.codes[half][g]), scale, out.low[tile][row],
                     out.high[tile][row]);
    }
  }

  static void unpack(const Cell& cell, const PanelFactors& /*factors*/, Planes& out) noexcept {
    for (std::size_t half = 0; half < 2; ++half) {
      unpack_quarter<0>(cell, half, out);
      unpack_quarter<1>(cell, half, out);
      unpack_quarter<2>(cell, half, out);
      unpack_quarter<3>(cell, half, out);
    }
  }
};

}  // namespace
}  // namespace smol::kernels::x86
