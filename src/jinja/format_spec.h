// format(value, spec) of Python: the format specification mini-language.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

MarkedString format_value(Runtime& runtime, const Value& value, const MarkedString& spec);

// str.format, sandboxed: fields read attributes and items by jinja's rules. `format` may be markup:
// then fields are escaped and the result is markup.
Value format_fields(Runtime& runtime, const Value& format, const CallArgs& args);

}  // namespace smol::jinja
