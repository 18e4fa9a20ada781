// JSON text -> values: key order and integers of any size are kept.
#pragma once

#include <string_view>

#include "jinja/marked_string.h"
#include "jinja/value.h"

namespace smol::jinja {

// Linear in the text, also for objects of many keys. Throws Error{BadInput} with `what` (the
// thing's name); nesting deeper than 256 is refused. All strings, keys too, get `origin`.
Value value_from_json(std::string_view text, std::string_view what, Origin origin = Origin::Input);

}  // namespace smol::jinja
