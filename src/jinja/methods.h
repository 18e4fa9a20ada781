// The methods of Python's built-in types.
#pragma once

#include <string_view>

#include "jinja/attributes.h"
#include "jinja/value.h"

namespace smol::jinja {

struct Method {
  std::string_view name;
  MethodFunction function;    // null: it changes its object, which the sandbox forbids
  bool keeps_markup = false;  // of a markup string the result is markup, too
};

// Null if values of this kind have no such method.
const Method* find_method(const Value& object, std::string_view name) noexcept;
const Method* find_string_method(std::string_view name) noexcept;

// Calls it and makes the result markup where it should be.
Value call_method(Runtime& runtime, const Method& method, const Value& self, const CallArgs& args);

}  // namespace smol::jinja
