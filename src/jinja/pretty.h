// pprint.pformat() of Python.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

MarkedString pretty(Runtime& runtime, const Value& value);

}  // namespace smol::jinja
