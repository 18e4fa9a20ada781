// Python's operators on values. All throw Fault{Type} for operands they do not take,
// Fault{Undefined} for undefined ones.
#pragma once

#include <cstddef>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

enum class BinaryOp { Add, Sub, Mul, Div, FloorDiv, Mod, Pow };

Value binary(Runtime& runtime, BinaryOp op, const Value& a, const Value& b);
Value negate(const Value& value);
Value plus(const Value& value);

bool truthy(Runtime& runtime, const Value& value);
// `item in container`
bool contains(Runtime& runtime, const Value& container, const Value& item);
// len(); throws Fault{Type}.
std::size_t length(Runtime& runtime, const Value& value);

// As a C index: int or bool, others throw Fault{Type}; huge ones are clamped.
std::int64_t to_index(const Value& value);
// float(x) of a number.
double to_double(const Value& number);
BigInt to_big(const Value& integral);
// Requires: a Bool or an Int.
std::int64_t small_int(const Value& value);

}  // namespace smol::jinja
