// Elementary functions in double precision from our own arithmetic (explicit std::fma), so that
// tables made with them have the same bits on every machine and C library. Errors below 1 unit in
// the last place.
#pragma once

namespace smol::kernels {

struct SinCos {
  double sin, cos;
};

// |x| <= 2^20 (a Cody-Waite reduction by three parts of pi/2); NaN beyond that, for infinities and
// NaN.
SinCos sincos_double(double x) noexcept;

// e^x; infinity above 709.78, 0 below -708.3 (no subnormal results).
double exp_double(double x) noexcept;

// ln(x) for normal positive x; -infinity at 0 and for subnormals, NaN for negative x, infinity at
// infinity.
double log_double(double x) noexcept;

// base^exponent for normal positive base: e^(exponent * ln(base)), the product in double-double.
double pow_double(double base, double exponent) noexcept;

}  // namespace smol::kernels
