// Vectors as panel_products.h wants them: four columns of four of a panel's rows, multiplied by
// sdot. Codes of up to seven bits are the same signed and unsigned, so all formats go through the
// signed product. Included inside the target region of each file that multiplies with them.
#pragma once

namespace smol::kernels {
namespace {

struct NeonOps {
  using Vec = int32x4_t;
  using Float = float32x4_t;
  static constexpr std::size_t kBytes = 16;
  static constexpr std::size_t kPanels = 1;
  static constexpr std::size_t kCodeRegisters = 8;
  static constexpr bool kWide = true;
  static constexpr bool kFlipsSigned = false;
  static constexpr bool kShortSums = false;

  static Vec zero() noexcept { return vdupq_n_s32(0); }

  static Vec load(const void* from) noexcept {
    return vreinterpretq_s32_u8(vld1q_u8(static_cast<const std::uint8_t*>(from)));
  }

  // The same four bytes for every row.
  static Vec broadcast(const void* from) noexcept {
    std::int32_t four = 0;
    std::memcpy(&four, from, sizeof(four));
    return vdupq_n_s32(four);
  }

  static Vec set_int(int value) noexcept { return vdupq_n_s32(value); }

  // Bits of every byte: shifted right (left if negative), then masked.
  template <int kShift, int kMask>
  static Vec bits(Vec x) noexcept {
    uint8x16_t bytes = vreinterpretq_u8_s32(x);
    if constexpr (kShift > 0) {
      bytes = vshrq_n_u8(bytes, kShift);
    } else if constexpr (kShift < 0) {
      bytes = vshlq_n_u8(bytes, -kShift);
    }
    return vreinterpretq_s32_u8(vandq_u8(bytes, vdupq_n_u8(kMask)));
  }

  static Vec either(Vec a, Vec b) noexcept { return vorrq_s32(a, b); }

  static Vec add(Vec a, Vec b) noexcept { return vaddq_s32(a, b); }

  // a - kFactor * b
  template <int kFactor>
  static Vec subtract_times(Vec a, Vec b) noexcept {
    return vmlsq_n_s32(a, b, kFactor);
  }

  static Vec subtract(Vec a, Vec b) noexcept { return vsubq_s32(a, b); }

  static Float set_float(float x) noexcept { return vdupq_n_f32(x); }

  static Float to_float(Vec x) noexcept { return vcvtq_f32_s32(x); }

  static Float multiply(Float a, Float b) noexcept { return vmulq_f32(a, b); }

  // a * b + c
  static Float add_product(Float a, Float b, Float c) noexcept { return vfmaq_f32(c, a, b); }

  // c - a * b
  static Float subtract_product(Float a, Float b, Float c) noexcept { return vfmsq_f32(c, a, b); }

  // Halves of this part's rows.
  static Float load_halves(const std::uint16_t* rows, std::size_t part) noexcept {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(rows + 4 * part)));
  }

  static Float zero_floats() noexcept { return vdupq_n_f32(0); }

  static void store_floats(float* to, Float x) noexcept { vst1q_f32(to, x); }

  // The scale of each row as int32.
  template <bool kSigned>
  static Vec spread_scales(const std::uint8_t* rows, std::size_t part) noexcept {
    std::uint32_t four = 0;
    std::memcpy(&four, rows + 4 * part, sizeof(four));
    const uint8x8_t bytes = vreinterpret_u8_u32(vdup_n_u32(four));
    if constexpr (kSigned) {
      return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(bytes))));
    } else {
      return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(bytes))));
    }
  }

  // Products of int16, added in pairs.
  static Vec add_pairs(Vec sum, Vec a, Vec b) noexcept {
    const int16x8_t left = vreinterpretq_s16_s32(a);
    const int16x8_t right = vreinterpretq_s16_s32(b);
    const int32x4_t low = vmull_s16(vget_low_s16(left), vget_low_s16(right));
    return vaddq_s32(sum, vpaddq_s32(low, vmull_high_s16(left, right)));
  }

  static Vec unit_scale() noexcept { return zero(); }

  // Two chains: each product waits for the one before.
  template <class Format, std::size_t kGroups>
  static Vec add_codes(Vec sum, const Vec* codes, const Vec* x, Vec scale) noexcept {
    Vec even = zero();
    Vec odd = zero();
    for (std::size_t g = 0; g < kGroups; g += 2) {
      even = add_dots(even, codes[g], x[g]);
      odd = add_dots(odd, codes[g + 1], x[g + 1]);
    }
    const Vec both = vaddq_s32(even, odd);
    return Format::kScaled ? vmlaq_s32(sum, both, scale) : vaddq_s32(sum, both);
  }

  static Vec add_dots(Vec sum, Vec codes, Vec x) noexcept {
    return vdotq_s32(sum, vreinterpretq_s8_s32(codes), vreinterpretq_s8_s32(x));
  }

  // Each returns the scales, one entry for each group of columns that shares one.
  static const CellScales* unpack_factors(const CellQ4K& cell, PanelFactors& out) noexcept {
    for (std::size_t p = 0; p < 4; ++p) {
      const uint8x16_t low0 = vld1q_u8(cell.low[2 * p].data());
      const uint8x16_t low1 = vld1q_u8(cell.low[2 * p + 1].data());
      const uint8x16_t high = vld1q_u8(cell.high[p].data());
      const uint8x16_t nibble = vdupq_n_u8(0x0F);
      const uint8x16_t upper = vdupq_n_u8(0x30);
      const auto join = [upper](uint8x16_t bits, uint8x16_t rest) {
        return vorrq_u8(bits, vandq_u8(rest, upper));
      };
      vst1q_u8(out.scales[2 * p].data(), join(vandq_u8(low0, nibble), vshlq_n_u8(high, 4)));
      vst1q_u8(out.scales[2 * p + 1].data(), join(vandq_u8(low1, nibble), vshlq_n_u8(high, 2)));
      store_pairs<false>(join(vshrq_n_u8(low0, 4), high),
                         join(vshrq_n_u8(low1, 4), vshrq_n_u8(high, 2)), out.pairs[p]);
    }
    return out.scales.data();
  }

  static const CellScales* unpack_factors(const CellQ6K& cell, PanelFactors& out) noexcept {
    for (std::size_t p = 0; p < 8; ++p) {
      store_pairs<true>(vld1q_u8(cell.scales[2 * p].data()),
                        vld1q_u8(cell.scales[2 * p + 1].data()), out.pairs[p]);
    }
    return cell.scales.data();
  }

  // Bytes a and b of 16 rows -> pairs of int16.
  template <bool kSigned>
  static void store_pairs(uint8x16_t a, uint8x16_t b, std::array<std::int16_t, 32>& out) noexcept {
    for (std::size_t half = 0; half < 2; ++half) {
      const uint8x16_t pairs = half == 0 ? vzip1q_u8(a, b) : vzip2q_u8(a, b);
      std::int16_t* to = out.data() + 16 * half;
      if constexpr (kSigned) {
        vst1q_s16(to, vmovl_s8(vget_low_s8(vreinterpretq_s8_u8(pairs))));
        vst1q_s16(to + 8, vmovl_high_s8(vreinterpretq_s8_u8(pairs)));
      } else {
        vst1q_s16(to, vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(pairs))));
        vst1q_s16(to + 8, vreinterpretq_s16_u16(vmovl_high_u8(pairs)));
      }
    }
  }
};

}  // namespace
}  // namespace smol::kernels
