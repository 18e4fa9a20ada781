// How values are called in messages: type(x).__name__ and jinja's object_type_repr.
#pragma once

#include <string>
#include <string_view>

#include "jinja/value.h"

namespace smol::jinja {

std::string_view type_name(const Value& value);    // "int", "NoneType", "Markup"
std::string object_type_repr(const Value& value);  // "dict object", "None"

// What an undefined value says when it is used. Throws Fault.
[[noreturn]] void fail_undefined(const Value& undefined);

}  // namespace smol::jinja
