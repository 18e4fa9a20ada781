// The names that every template knows: range, dict, namespace, cycler, joiner, lipsum,
// raise_exception, strftime_now.
#pragma once

#include <string_view>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

// Null if there is no such global.
const Value* find_global(std::string_view name);

// dict(...) and dict.fromkeys(...)
Dict dict_from_arguments(Runtime& runtime, const CallArgs& args);
Value dict_from_keys(Runtime& runtime, const CallArgs& args);

}  // namespace smol::jinja
