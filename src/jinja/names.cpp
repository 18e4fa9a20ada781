#include "jinja/names.h"

#include "jinja/object.h"
#include "jinja/text.h"

namespace smol::jinja {

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Missing:
    case Value::Kind::Undefined:
      return "Undefined";
    case Value::Kind::None:
      return "NoneType";
    case Value::Kind::Bool:
      return "bool";
    case Value::Kind::Int:
    case Value::Kind::BigInt:
      return "int";
    case Value::Kind::Float:
      return "float";
    case Value::Kind::String:
      return value.is_markup() ? "Markup" : "str";
    case Value::Kind::Array:
      return "list";
    case Value::Kind::Tuple:
      return value.sequence().is_group ? "_GroupTuple" : "tuple";
    case Value::Kind::Dict:
      return "dict";
    case Value::Kind::Object:
      return value.object().type_name();
  }
  return "object";
}

std::string object_type_repr(const Value& value) {
  if (value.is_none()) {
    return "None";
  }
  if (value.is_undefined()) {
    return "jinja2.runtime.Undefined object";
  }
  if (value.is_markup()) {
    return "markupsafe.Markup object";
  }
  if (value.is(Value::Kind::Object)) {
    return value.object().type_repr();
  }
  return std::string(type_name(value)) + " object";
}

void fail_undefined(const Value& undefined) {
  const Undefined& info = undefined.undefined();
  if (!info.hint.empty()) {
    raise(info.fault, info.hint);
  }
  const bool by_name = info.name && info.name->is_string();
  const std::string name =
      !info.name ? "None" : (by_name ? quote(info.name->bytes()) : short_repr(*info.name));
  if (info.object.empty()) {
    raise(info.fault, name + " is undefined");
  }
  if (!by_name) {
    raise(info.fault, info.object + " has no element " + name);
  }
  raise(info.fault, quote(info.object) + " has no attribute " + name);
}

}  // namespace smol::jinja
