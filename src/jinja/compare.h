// Python's ==, hash() and < of values.
#pragma once

#include <cstddef>
#include <string_view>

#include "jinja/value.h"

namespace smol::jinja {

bool equals(Budget& budget, const Value& a, const Value& b);
// Equal values have equal hashes. Throws Fault{Type} for lists and dicts ("unhashable type:
// 'list'").
std::size_t hash_value(Budget& budget, const Value& value);
std::size_t hash_bytes(std::string_view bytes) noexcept;

enum class Ordering { Less, LessEqual, Greater, GreaterEqual };

// Throws Fault{Type} if the two cannot be ordered, Fault{Undefined} for undefined ones.
bool ordered(Budget& budget, Ordering ordering, const Value& a, const Value& b);

}  // namespace smol::jinja
