#include "kernels/math_double.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace smol::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2High = 0x1.62e42fefa39efp-1;
constexpr double kLn2Low = 0x1.abc9e3b39803fp-56;
constexpr double kLog2E = 0x1.71547652b82fep+0;
// 1.5 * 2^52: adding it leaves the rounded integer in the low bits.
constexpr double kRoundMagic64 = 0x1.8p52;

// hi + lo, |lo| at most half a unit in the last place of hi.
struct DoubleDouble {
  double hi, lo;
};

DoubleDouble fast_two_sum(double big, double small) noexcept {
  const double sum = big + small;
  return {sum, small - (sum - big)};
}

DoubleDouble two_product(double a, double b) noexcept {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

// 1 / k! for k = N, N-1, ... of the Taylor polynomials.
constexpr double inverse_factorial(int k) noexcept {
  double product = 1.0;
  for (int i = 2; i <= k; ++i) {
    product *= i;
  }
  return 1.0 / product;
}

// r - r^3/3! + ..., for |r + low| <= pi/4.
double sin_reduced(double r, double low) noexcept {
  const double z = r * r;
  double p = inverse_factorial(17);
  for (int k = 15; k >= 3; k -= 2) {
    p = std::fma(-p, z, inverse_factorial(k));
  }
  // sin(r + low) = r - (r^3 p - low cos r), with cos r ~ 1 - r^2/2
  const double tail = std::fma(-0.5 * z, low, low);
  return r + std::fma(-(z * r), p, tail);
}

// 1 - r^2/2! + ..., for |r + low| <= pi/4.
double cos_reduced(double r, double low) noexcept {
  const double z = r * r;
  double p = inverse_factorial(16);
  for (int k = 14; k >= 4; k -= 2) {
    p = std::fma(-p, z, inverse_factorial(k));
  }
  const double half = 0.5 * z;
  const double top = 1.0 - half;
  // What rounding took from 1 - r^2/2, the rest of the square, and the correction by low.
  const double lost = ((1.0 - top) - half) - 0.5 * std::fma(r, r, -z);
  return top + (std::fma(z * z, p, lost) - r * low);
}

// e^(hi + lo) for -708.3 <= hi <= 709.78.
double exp_parts(double hi, double lo) noexcept {
  const double shifted = std::fma(hi, kLog2E, kRoundMagic64);
  const double n = shifted - kRoundMagic64;
  const double r = std::fma(-n, kLn2High, hi);
  const double low = std::fma(-n, kLn2Low, lo);
  const DoubleDouble reduced = fast_two_sum(r, low);
  double q = inverse_factorial(14);
  for (int k = 13; k >= 2; --k) {
    q = std::fma(q, reduced.hi, inverse_factorial(k));
  }
  const double square = reduced.hi * reduced.hi;
  const DoubleDouble one = fast_two_sum(1.0, reduced.hi);
  const double tail = std::fma(square, q, reduced.lo + reduced.lo * reduced.hi) + one.lo;
  const double value = one.hi + tail;
  // Two factors, each a normal number: n may be 1024.
  const auto exponent = static_cast<std::int64_t>(n);
  const auto half = exponent / 2;
  const auto power = [](std::int64_t k) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
  };
  return value * power(half) * power(exponent - half);
}

constexpr double kExpLow = -708.3;
constexpr double kExpHigh = 709.78;

double exp_of(DoubleDouble x) noexcept {
  if (x.hi < kExpLow) {
    return 0.0;
  }
  if (x.hi > kExpHigh) {
    return kInfinity;
  }
  return std::isnan(x.hi) ? kNan : exp_parts(x.hi, x.lo);
}

// ln(x) = k ln 2 + 2 atanh(s), s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt(2)].
DoubleDouble log_of(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto k = static_cast<std::int64_t>(bits >> 52) - 1023;
  auto m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFU) | (std::uint64_t{1023} << 52));
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++k;
  }
  const double f = m - 1.0;  // exact
  const DoubleDouble denominator = fast_two_sum(2.0, f);
  const double s = f / denominator.hi;
  const double s_low = (std::fma(-s, denominator.hi, f) - s * denominator.lo) / denominator.hi;
  const double z = s * s;
  double p = 1.0 / 25.0;
  for (int j = 23; j >= 3; j -= 2) {
    p = std::fma(p, z, 1.0 / j);
  }
  // 2 atanh(s) = 2 s + 2 s^3 (1/3 + s^2/5 + ...); the cubic term is under 1/100 of the first.
  const double tail = std::fma(2.0 * z * s, p, 2.0 * s_low);
  const auto kd = static_cast<double>(k);
  const DoubleDouble ln2 = two_product(kd, kLn2High);
  // |k ln 2| > |2 s| wherever k is not 0
  const DoubleDouble sum = k == 0 ? DoubleDouble{2.0 * s, 0.0} : fast_two_sum(ln2.hi, 2.0 * s);
  return fast_two_sum(sum.hi, sum.lo + (std::fma(kd, kLn2Low, ln2.lo) + tail));
}

}  // namespace

SinCos sincos_double(double x) noexcept {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kPio2A = 0x1.921fb54442d18p+0;
  constexpr double kPio2B = 0x1.1a62633145c07p-54;
  constexpr double kPio2C = -0x1.f1976b7ed8fbcp-110;
  if (!(std::fabs(x) <= 0x1p20)) {
    return {kNan, kNan};
  }
  const double shifted = std::fma(x, kTwoOverPi, kRoundMagic64);
  const double n = shifted - kRoundMagic64;
  const double a = std::fma(-n, kPio2A, x);  // exact: a multiple of 2^-53 below 1
  const DoubleDouble b = two_product(n, kPio2B);
  const double r = a - b.hi;
  const double low = ((a - r) - b.hi) - std::fma(n, kPio2C, b.lo);
  const double s = sin_reduced(r, low);
  const double c = cos_reduced(r, low);
  switch (std::bit_cast<std::uint64_t>(shifted) & 3U) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

double exp_double(double x) noexcept {
  return exp_of({x, 0.0});
}

double log_double(double x) noexcept {
  if (std::isnan(x) || x < 0.0) {
    return kNan;
  }
  if (x < std::numeric_limits<double>::min()) {
    return -kInfinity;
  }
  return x == kInfinity ? kInfinity : log_of(x).hi;
}

double pow_double(double base, double exponent) noexcept {
  if (!(base >= std::numeric_limits<double>::min() && base < kInfinity)) {
    return kNan;
  }
  const DoubleDouble log = log_of(base);
  const double product = exponent * log.hi;
  const double rest = std::fma(exponent, log.hi, -product) + exponent * log.lo;
  return exp_of({product, rest});
}

}  // namespace smol::kernels
