// int() and float() of Python on strings.
#pragma once

#include <string_view>

#include "jinja/value.h"

namespace smol::jinja {

// Throws Fault{Value}.
Value parse_integer(std::string_view text, std::int64_t base);
double parse_float(std::string_view text);

}  // namespace smol::jinja
