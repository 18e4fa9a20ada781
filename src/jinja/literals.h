// Literals inside template tags.
#pragma once

#include <string>
#include <string_view>

#include "jinja/value.h"

namespace smol::jinja {

// The characters between the quotes -> the string, with Python's escapes. Throws Fault{Value}.
std::string unescape_literal(std::string_view text);

// Lengths of the number at the start of `text`, 0 if there is none.
std::size_t match_float(std::string_view text) noexcept;
std::size_t match_integer(std::string_view text) noexcept;

Value float_literal(std::string_view text);
Value integer_literal(std::string_view text);

}  // namespace smol::jinja
