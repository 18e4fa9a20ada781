// a * b + c, rounded once, in plain double arithmetic: the same bits as std::fma, which without an
// instruction for it is a call of the C library for each element, while loops over this vectorize.
// The product of two floats is exact in double. The sum is made exact as a pair (Knuth's TwoSum)
// and then rounded to odd, after which rounding to float cannot err twice (Boldo and Melquiond
// 2008, "Emulation of FMA and correctly rounded sums").
#pragma once

#include <bit>
#include <cstdint>

namespace smol::kernels {

#if defined(__FP_FAST_FMAF)  // the instruction itself
inline float fma_float(float a, float b, float c) noexcept {
  return __builtin_fmaf(a, b, c);
}
#else
inline float fma_float(float a, float b, float c) noexcept {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const auto addend = static_cast<double>(c);
  const double sum = product + addend;
  const double taken = sum - product;
  const double error = (product - (sum - taken)) + (addend - taken);
  // To odd: an even sum that is not exact moves one unit towards its error. In integers, since
  // plain SSE2 cannot select 64-bit lanes.
  constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63U;
  constexpr std::uint64_t kExponentUnit = std::uint64_t{1} << 52U;
  const auto sum_bits = std::bit_cast<std::uint64_t>(sum);
  const auto error_bits = std::bit_cast<std::uint64_t>(error);
  const std::uint64_t size = error_bits & ~kSignBit;
  // 1 if the error is neither zero nor, as that of an infinite sum, NaN.
  const std::uint64_t inexact = ((0 - size) & ~(size + kExponentUnit)) >> 63U;
  const std::uint64_t step = inexact & ~sum_bits;
  const std::uint64_t downwards = step & ((error_bits ^ sum_bits) >> 63U);
  return static_cast<float>(std::bit_cast<double>(sum_bits + step - 2 * downwards));
}
#endif

}  // namespace smol::kernels
