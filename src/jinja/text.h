// Python's str() and repr() of values, with the origin of each byte.
#pragma once

#include <string>
#include <string_view>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

// str(value), appended. What the engine adds itself (quotes, brackets) counts as the template's;
// numbers and names of constants count as input.
void append_text(Runtime& runtime, MarkedString& out, const Value& value);
MarkedString to_text(Runtime& runtime, const Value& value);
// repr(value)
void append_repr(Runtime& runtime, MarkedString& out, const Value& value);
MarkedString to_repr(Runtime& runtime, const Value& value);
// repr() with every character beyond ASCII escaped.
MarkedString to_ascii(Runtime& runtime, const Value& value);

// soft_str(): a string as it is, anything else as str() of it.
Value soft_text(Runtime& runtime, const Value& value);

std::string float_repr(double value);         // 1.0, 1e+20, inf
std::string quote(std::string_view text);     // repr of a str
std::string short_repr(const Value& scalar);  // for messages: scalars in full, others by type

}  // namespace smol::jinja
