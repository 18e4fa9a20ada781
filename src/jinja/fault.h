// What goes wrong while a template runs, before it has a place in the source: the exception types
// of Python that Jinja2 itself catches or that a caller tells apart. Turned into TemplateError in
// one place.
#pragma once

#include <string>

#include "base/error.h"

namespace smol::jinja {

enum class FaultKind {
  Type,
  Value,
  Lookup,
  Attribute,
  Arithmetic,  // division by zero, overflow
  Overflow,
  Undefined,
  Security,
  Runtime,
  Raised,  // raise_exception()
  Limit,   // a bound of the sandbox: never caught inside
};

class Fault : public Error {
 public:
  Fault(FaultKind kind, const std::string& message)
      : Error(ErrorCode::BadInput, message), kind_(kind) {}

  FaultKind kind() const noexcept { return kind_; }

 private:
  FaultKind kind_;
};

[[noreturn]] inline void raise(FaultKind kind, const std::string& message) {
  throw Fault(kind, message);
}

[[noreturn]] inline void raise_type(const std::string& message) {
  throw Fault(FaultKind::Type, message);
}

[[noreturn]] inline void raise_value(const std::string& message) {
  throw Fault(FaultKind::Value, message);
}

}  // namespace smol::jinja
