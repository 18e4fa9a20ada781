// Call arguments -> parameters, as Python binds them.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "jinja/object.h"
#include "jinja/value.h"

namespace smol::jinja {

struct Signature {
  std::string_view function;
  std::initializer_list<std::string_view> parameters;
  std::size_t required = 0;      // the first ones
  bool positional_only = false;  // no keyword arguments
};

// The value of each parameter, Missing where none was passed.
class Bound {
 public:
  // Throws Fault{Type}: too many, unknown, repeated or missing arguments.
  Bound(const CallArgs& args, const Signature& signature);

  const Value& operator[](std::size_t index) const { return values_[index]; }

  bool has(std::size_t index) const noexcept { return !values_[index].is_missing(); }

  // Passed, and not None.
  bool given(std::size_t index) const noexcept { return has(index) && !values_[index].is_none(); }

 private:
  std::vector<Value> values_;
};

// Throws Fault{Type} unless there are none.
void bind_nothing(const CallArgs& args, std::string_view function);

// The text of a parameter that must be a string.
const MarkedString& require_text(const Value& value, std::string_view what);

}  // namespace smol::jinja
