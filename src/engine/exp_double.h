// exp() in double for arguments at most 0, of our own: the same bits on every machine. Within 1e-15
// relative of the exact value; 0 below -708 (where libm would give subnormal numbers).
#pragma once

namespace smol::engine {

// Requires: x <= 0 (-infinity included).
double exp_double(double x) noexcept;

}  // namespace smol::engine
