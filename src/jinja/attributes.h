// Attribute and item access by jinja's rules, within the immutable sandbox.
#pragma once

#include <string_view>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja {

using MethodFunction = Value (*)(Runtime& runtime, const Value& self, const CallArgs& args);

// obj.name: the attribute, else the item, else an undefined value.
Value get_attribute(Runtime& runtime, const Value& object, std::string_view name);
// obj[key]: the item, else (for strings) the attribute, else an undefined value.
Value get_item(Runtime& runtime, const Value& object, const Value& key);
// obj[start:stop:step]; Missing or None where left out.
Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                const Value& step);

// getattr() of Python alone: Missing if there is none. No sandbox.
Value python_attribute(Runtime& runtime, const Value& object, std::string_view name);
// What the sandbox makes of an attribute that exists: itself, or an undefined value that says why
// not.
Value guard_attribute(const Value& object, std::string_view name, Value value);

Value call_value(Runtime& runtime, const Value& callee, const CallArgs& args);
// obj.name(args), without a bound method in between where obj is a built-in value.
Value call_method(Runtime& runtime, const Value& object, std::string_view name,
                  const CallArgs& args);

Value undefined_attribute(const Value& object, const Value& name);

}  // namespace smol::jinja
