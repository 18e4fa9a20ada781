// The % operator of strings.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

// format % args: `args` is a tuple of values, a mapping or one value.
Value format_printf(Runtime& runtime, const Value& format, const Value& args);

}  // namespace smol::jinja
