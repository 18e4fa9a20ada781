// Products of panels without VNNI. Byte products are added in pairs (maddubs), then as int16 as far
// as they cannot overflow: the sum of eight vectors of pairs is at most 16 * 15 * 127 = 30,480 for
// codes of four bits, that of four at most 8 * 31 * 127 = 31,496 for codes of five, that of two at
// most 4 * 63 * 127 = 32,004 for codes of six; madd multiplies by the scale.
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/avx2/ops.h"
#include "kernels/panel.h"
#include "kernels/x86/panel_ops.h"

SMOL_TARGET_BEGIN("avx2,fma,f16c")

namespace smol::kernels::x86 {
namespace {

struct Avx2Ops : PanelOps256 {
  static constexpr bool kWide = false;
  static constexpr bool kFlipsSigned = false;
  static constexpr bool kShortSums = false;

  // The scale of each row twice, as int16.
  template <bool kSigned>
  static Vec spread_scales(const std::uint8_t* rows, std::size_t part) noexcept {
    const Vec bytes = both_halves(load128(rows));
    const auto first = static_cast<char>(8 * part);
    constexpr char kZero = -128;
    const auto at = [&](int row) { return static_cast<char>(first + row); };
    if constexpr (kSigned) {
      const Vec high = _mm256_setr_epi8(kZero, at(0), kZero, at(0), kZero, at(1), kZero, at(1),
                                        kZero, at(2), kZero, at(2), kZero, at(3), kZero, at(3),
                                        kZero, at(4), kZero, at(4), kZero, at(5), kZero, at(5),
                                        kZero, at(6), kZero, at(6), kZero, at(7), kZero, at(7));
      return _mm256_srai_epi16(_mm256_shuffle_epi8(bytes, high), 8);
    } else {
      const Vec low = _mm256_setr_epi8(at(0), kZero, at(0), kZero, at(1), kZero, at(1), kZero,
                                       at(2), kZero, at(2), kZero, at(3), kZero, at(3), kZero,
                                       at(4), kZero, at(4), kZero, at(5), kZero, at(5), kZero,
                                       at(6), kZero, at(6), kZero, at(7), kZero, at(7), kZero);
      return _mm256_shuffle_epi8(bytes, low);
    }
  }

  static Vec add_pairs(Vec sum, Vec a, Vec b) noexcept {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }

  static Vec unit_scale() noexcept { return _mm256_set1_epi16(1); }

  // |code| * (x with the sign of code): 128 * 127 * 2 = 32,512 leaves no room for a second pair.
  static Vec add_signed(Vec sum, Vec codes, Vec x) noexcept {
    const Vec pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(x, codes));
    return add_pairs(sum, pairs, unit_scale());
  }

  // Codes of four bits stay int16 and unscaled until join().
  template <class Format>
  static constexpr bool kJoinsNarrow = !Format::kSigned && Format::kCodeMax <= 15;

  template <class Format, std::size_t kGroups>
  static Vec multiply_codes(const Vec* codes, const Vec* x, Vec scale) noexcept {
    static_assert(kGroups == 4);
    if constexpr (Format::kSigned) {
      const Vec low = add_signed(add_signed(zero(), codes[0], x[0]), codes[1], x[1]);
      return add_signed(add_signed(low, codes[2], x[2]), codes[3], x[3]);
    }
    const Vec low = _mm256_add_epi16(_mm256_maddubs_epi16(codes[0], x[0]),
                                     _mm256_maddubs_epi16(codes[1], x[1]));
    const Vec high = _mm256_add_epi16(_mm256_maddubs_epi16(codes[2], x[2]),
                                      _mm256_maddubs_epi16(codes[3], x[3]));
    if constexpr (kJoinsNarrow<Format>) {
      return _mm256_add_epi16(low, high);
    } else if constexpr (Format::kCodeMax <= 31) {
      return _mm256_madd_epi16(_mm256_add_epi16(low, high), scale);
    }
    return add_pairs(_mm256_madd_epi16(low, scale), high, scale);
  }

  template <class Format>
  static Vec join(Vec first, Vec second, Vec scale) noexcept {
    return kJoinsNarrow<Format> ? _mm256_madd_epi16(_mm256_add_epi16(first, second), scale)
                                : _mm256_add_epi32(first, second);
  }
};

}  // namespace
}  // namespace smol::kernels::x86

#include "kernels/panel_formats.h"
#include "kernels/panel_products.h"

SMOL_TARGET_END

namespace smol::kernels::avx2 {

MatMul matmul_panels(gguf::DType weights) noexcept {
  return panel_products<x86::Avx2Ops>(weights);
}

}  // namespace smol::kernels::avx2
