// Arithmetic of numbers.
#pragma once

#include "jinja/operators.h"

namespace smol::jinja {

// Requires: both are numbers.
Value arithmetic(Runtime& runtime, BinaryOp op, const Value& a, const Value& b);

// round(x, digits) of Python: exact, halves to even.
Value round_number(const Value& number, std::int64_t digits);

}  // namespace smol::jinja
