// exp() in double for arguments at most 0, of our own: the same bits on every machine. Within 1e-15
// relative of the exact value; 0 below -708 (where libm would give subnormal numbers).
#pragma once

#include <span>

namespace smol::engine {

// Requires: x <= 0 (-infinity included).
double exp_double(double x) noexcept;
// The same for each of `x`. Requires: spans of one size.
void exp_doubles(std::span<const double> x, std::span<double> out) noexcept;

}  // namespace smol::engine
