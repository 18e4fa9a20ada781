#include "jinja/attributes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "jinja/methods.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/slice_bounds.h"
#include "jinja/strings.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

// Double-underscore attributes that every Python object has, and those of some kinds.
constexpr std::array kObjectAttributes = std::to_array<std::string_view>({"__class__",
                                                                          "__delattr__",
                                                                          "__dir__",
                                                                          "__doc__",
                                                                          "__eq__",
                                                                          "__format__",
                                                                          "__ge__",
                                                                          "__getstate__",
                                                                          "__gt__",
                                                                          "__hash__",
                                                                          "__init__",
                                                                          "__le__",
                                                                          "__lt__",
                                                                          "__ne__",
                                                                          "__new__",
                                                                          "__repr__",
                                                                          "__reduce__",
                                                                          "__reduce_ex__",
                                                                          "__setattr__",
                                                                          "__sizeof__",
                                                                          "__str__",
                                                                          "__getattribute__",
                                                                          "__init_subclass__",
                                                                          "__subclasshook__"});
constexpr std::array kContainerAttributes =
    std::to_array<std::string_view>({"__len__", "__contains__", "__getitem__", "__iter__"});
constexpr std::array kStringAttributes = std::to_array<std::string_view>(
    {"__add__", "__mod__", "__mul__", "__rmod__", "__rmul__", "__getnewargs__"});
constexpr std::array kMutableAttributes = std::to_array<std::string_view>(
    {"__setitem__", "__delitem__", "__reversed__", "__class_getitem__"});
constexpr std::array kNumberAttributes = std::to_array<std::string_view>(
    {"__abs__", "__add__", "__bool__", "__divmod__", "__float__", "__floordiv__", "__int__",
     "__mod__", "__mul__", "__neg__", "__pos__", "__pow__", "__radd__", "__round__", "__sub__",
     "__truediv__", "__trunc__", "__ceil__", "__floor__"});

bool in(std::string_view name, const auto& names) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool has_dunder(const Value& object, std::string_view name) noexcept {
  if (in(name, kObjectAttributes)) {
    return true;
  }
  switch (object.kind()) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::BigInt:
    case Kind::Float:
      return in(name, kNumberAttributes);
    case Kind::String:
      return in(name, kContainerAttributes) || in(name, kStringAttributes) ||
             (object.is_markup() && (name == "__html__" || name == "__html_format__"));
    case Kind::Tuple:
      return in(name, kContainerAttributes) || name == "__add__" || name == "__mul__";
    case Kind::Array:
      return in(name, kContainerAttributes) || in(name, kMutableAttributes) || name == "__add__" ||
             name == "__mul__";
    case Kind::Dict:
      return in(name, kContainerAttributes) || in(name, kMutableAttributes) || name == "__or__";
    case Kind::Undefined:
      return in(name, kContainerAttributes) || in(name, kNumberAttributes) || name == "__call__";
    default:
      return false;
  }
}

class BoundMethod final : public Object {
 public:
  BoundMethod(Value self, const Method& method)
      : Object(self.depth() + 1), self_(std::move(self)), method_(method) {}

  std::string_view type_name() const noexcept override { return "builtin_function_or_method"; }

  MarkedString repr(Runtime& /*runtime*/) override {
    return {"<built-in method " + std::string(method_.name) + " of " +
                std::string(smol::jinja::type_name(self_)) + " object>",
            Origin::Template};
  }

  bool callable() const noexcept override { return true; }

  Value call(Runtime& runtime, const CallArgs& args) override {
    return call_method(runtime, method_, self_, args);
  }

 private:
  Value self_;
  const Method& method_;
};

// real, imag, numerator, denominator.
Value number_attribute(const Value& number, std::string_view name) {
  const bool integral = number.is_integral();
  if (name == "real" || (integral && name == "numerator")) {
    return plus(number);
  }
  if (name == "imag") {
    return integral ? Value::integer(0) : Value::number(0.0);
  }
  return integral && name == "denominator" ? Value::integer(1) : Value();
}

// The item at a Python index; Missing out of range.
Value item_at(const List& items, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(items.size());
  const std::int64_t at = index < 0 ? index + size : index;
  return at >= 0 && at < size ? items[static_cast<std::size_t>(at)] : Value();
}

Value character_at(Runtime& runtime, const Value& string, std::int64_t index) {
  const std::string& bytes = string.bytes();
  runtime.budget().step(bytes.size() / 256);
  if (index < 0) {
    index += static_cast<std::int64_t>(count_characters(bytes));
  }
  if (index < 0) {
    return {};
  }
  const std::size_t begin = byte_of_character(bytes, static_cast<std::size_t>(index));
  if (begin >= bytes.size()) {
    return {};
  }
  const std::size_t end = begin + byte_of_character(std::string_view(bytes).substr(begin), 1);
  return runtime.text(string.text().substr(begin, end), string.is_markup());
}

// obj[key] of Python alone; Missing where it raises TypeError or LookupError.
Value python_item(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is(Kind::Dict)) {
    try {
      const Value* found = object.dict().find(key, runtime.budget());
      return found == nullptr ? Value() : *found;
    } catch (const Fault& fault) {
      if (fault.kind() != FaultKind::Type) {
        throw;
      }
      return {};
    }
  }
  if (object.is(Kind::Object)) {
    return object.object().item(runtime, key);
  }
  if (!key.is_integral()) {
    return {};
  }
  if (object.is_sequence()) {
    return item_at(object.items(), to_index(key));
  }
  return object.is_string() ? character_at(runtime, object, to_index(key)) : Value();
}

Value slice_string(Runtime& runtime, const Value& string, const Value& start, const Value& stop,
                   const Value& step) {
  const std::string& bytes = string.bytes();
  runtime.budget().step(bytes.size() / 256);
  const SliceBounds bounds = slice_bounds(count_characters(bytes), start, stop, step);
  if (bounds.step == 1) {
    const std::size_t begin = byte_of_character(bytes, static_cast<std::size_t>(bounds.start));
    const std::size_t end =
        begin + byte_of_character(std::string_view(bytes).substr(begin), bounds.count);
    return runtime.text(string.text().substr(begin, end), string.is_markup());
  }
  runtime.budget().charge(bytes.size(), sizeof(Character));
  const std::vector<Character> all = characters(bytes);
  MarkedString result;
  std::int64_t at = bounds.start;
  for (std::size_t i = 0; i < bounds.count; ++i, at += i < bounds.count ? bounds.step : 0) {
    const Character& c = all[static_cast<std::size_t>(at)];
    result.append(string.text(), c.begin, c.end);
  }
  return runtime.text(std::move(result), string.is_markup());
}

}  // namespace

Value undefined_attribute(const Value& object, const Value& name) {
  return Value::undefined({{}, object_type_repr(object), std::make_shared<const Value>(name)});
}

Value python_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (object.is(Kind::Object)) {
    Value value = object.object().attribute(runtime, name);
    if (!value.is_missing()) {
      return value;
    }
  }
  if (const Method* method = find_method(object, name)) {
    return Value::object(std::make_shared<BoundMethod>(object, *method));
  }
  if (object.is_number()) {
    Value value = number_attribute(object, name);
    if (!value.is_missing()) {
      return value;
    }
  }
  if (object.is(Kind::Tuple) && object.sequence().is_group) {
    if (name == "grouper" || name == "list") {
      return object.items()[name == "list" ? 1 : 0];
    }
  }
  // Never handed out: the sandbox refuses what starts with an underscore.
  return name.starts_with("__") && has_dunder(object, name) ? Value::none() : Value();
}

Value guard_attribute(const Value& object, std::string_view name, Value value) {
  const Method* method = find_method(object, name);
  const bool changes = method != nullptr && method->function == nullptr;
  if (!name.starts_with('_') && !changes) {
    return value;
  }
  Undefined info;
  info.hint = "access to attribute " + quote(name) + " of " +
              quote(std::string(type_name(object))) + " object is unsafe.";
  info.fault = FaultKind::Security;
  return Value::undefined(std::move(info));
}

Value get_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  Value value = python_attribute(runtime, object, name);
  if (!value.is_missing()) {
    return guard_attribute(object, name, std::move(value));
  }
  if (object.is_undefined()) {
    fail_undefined(object);
  }
  if (object.is(Kind::Dict)) {
    if (const Value* found = object.dict().find(name)) {
      return *found;
    }
  } else if (object.is(Kind::Object)) {
    value = object.object().item(runtime, Value::string(std::string(name), Origin::Template));
    if (!value.is_missing()) {
      return value;
    }
  }
  return undefined_attribute(object, Value::string(std::string(name), Origin::Template));
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is_undefined()) {
    fail_undefined(object);
  }
  Value value = python_item(runtime, object, key);
  if (!value.is_missing()) {
    return value;
  }
  if (key.is_string()) {
    value = python_attribute(runtime, object, key.bytes());
    if (!value.is_missing()) {
      return guard_attribute(object, key.bytes(), std::move(value));
    }
  }
  return undefined_attribute(object, key);
}

Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                const Value& step) {
  if (object.is_undefined()) {
    fail_undefined(object);
  }
  if (object.is_string()) {
    return slice_string(runtime, object, start, stop, step);
  }
  if (object.is(Kind::Object)) {
    Value value = object.object().slice(runtime, start, stop, step);
    if (!value.is_missing()) {
      return value;
    }
  }
  if (object.is(Kind::Dict)) {
    raise_type("unhashable type: 'slice'");
  }
  if (!object.is_sequence()) {
    raise_type("'" + std::string(type_name(object)) + "' object is not subscriptable");
  }
  const List& items = object.items();
  const SliceBounds bounds = slice_bounds(items.size(), start, stop, step);
  runtime.budget().charge(bounds.count, sizeof(Value));
  List result;
  result.reserve(bounds.count);
  std::int64_t at = bounds.start;
  for (std::size_t i = 0; i < bounds.count; ++i, at += i < bounds.count ? bounds.step : 0) {
    result.push_back(items[static_cast<std::size_t>(at)]);
  }
  return object.is(Kind::Array) ? runtime.list(std::move(result))
                                : runtime.tuple(std::move(result));
}

Value call_value(Runtime& runtime, const Value& callee, const CallArgs& args) {
  if (callee.is_undefined()) {
    fail_undefined(callee);
  }
  if (!callee.is(Kind::Object)) {
    raise_type("'" + std::string(type_name(callee)) + "' object is not callable");
  }
  return callee.object().call(runtime, args);
}

Value call_method(Runtime& runtime, const Value& object, std::string_view name,
                  const CallArgs& args) {
  const Method* method = find_method(object, name);
  if (method != nullptr && method->function != nullptr) {
    return call_method(runtime, *method, object, args);
  }
  return call_value(runtime, get_attribute(runtime, object, name), args);
}

}  // namespace smol::jinja
