#include "engine/exp_double.h"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace smol::engine {
namespace {

constexpr double kLowest = -708.0;  // exp of it is still a normal number
constexpr double kLog2E = 1.4426950408889634;
// ln 2 in two parts: the first has 21 trailing zero bits, so that k * kLn2High is exact (Cody and
// Waite 1980).
constexpr double kLn2High = 0x1.62e42fee00000p-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
// Adding it rounds to an integer, which then stands in the low bits.
constexpr double kRound = 0x1.8p52;

// Taylor's series of exp on [-ln2/2, ln2/2]: the first term left out is 0.35^14 / 14! = 5e-18. Even
// and odd terms apart, for two short chains in place of a long one.
double polynomial(double r) noexcept {
  const double r2 = r * r;
  double odd = 1.0 / 6227020800;
  odd = odd * r2 + 1.0 / 39916800;
  odd = odd * r2 + 1.0 / 362880;
  odd = odd * r2 + 1.0 / 5040;
  odd = odd * r2 + 1.0 / 120;
  odd = odd * r2 + 1.0 / 6;
  odd = odd * r2 + 1.0;
  double even = 1.0 / 479001600;
  even = even * r2 + 1.0 / 3628800;
  even = even * r2 + 1.0 / 40320;
  even = even * r2 + 1.0 / 720;
  even = even * r2 + 1.0 / 24;
  even = even * r2 + 1.0 / 2;
  even = even * r2 + 1.0;
  return odd * r + even;
}

// Without branches, so that the compiler can take several at once.
double exp_of(double x) noexcept {
  const double clamped = x >= kLowest ? x : kLowest;
  const double shifted = clamped * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (clamped - k * kLn2High) - k * kLn2Low;
  const auto exponent = std::bit_cast<std::uint64_t>(shifted) << 52U;  // k in two's complement
  const auto result = std::bit_cast<double>(std::bit_cast<std::uint64_t>(polynomial(r)) + exponent);
  return x >= kLowest ? result : 0.0;
}

}  // namespace

double exp_double(double x) noexcept {
  return exp_of(x);
}

void exp_doubles(std::span<const double> x, std::span<double> out) noexcept {
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = exp_of(x[i]);
  }
}

}  // namespace smol::engine
