#include "jinja/operators.h"

#include <limits>
#include <string>

#include "jinja/arithmetic.h"
#include "jinja/compare.h"
#include "jinja/iteration.h"
#include "jinja/markup.h"
#include "jinja/names.h"
#include "jinja/printf_format.h"
#include "jinja/strings.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

std::string_view symbol(BinaryOp op) noexcept {
  switch (op) {
    case BinaryOp::Add:
      return "+";
    case BinaryOp::Sub:
      return "-";
    case BinaryOp::Mul:
      return "*";
    case BinaryOp::Div:
      return "/";
    case BinaryOp::FloorDiv:
      return "//";
    case BinaryOp::Mod:
      return "%";
    case BinaryOp::Pow:
      break;
  }
  return "** or pow()";
}

Value concatenate(Runtime& runtime, const Value& a, const Value& b) {
  if (a.is_markup() || b.is_markup()) {
    MarkedString joined = escape(runtime, a).text();
    joined.append(escape(runtime, b).text());
    return runtime.text(std::move(joined), true);
  }
  runtime.budget().charge(a.bytes().size() + b.bytes().size());
  MarkedString joined = a.text();
  joined.append(b.text());
  return runtime.text(std::move(joined));
}

Value join_sequences(Runtime& runtime, const Value& a, const Value& b) {
  runtime.budget().charge(a.items().size() + b.items().size(), sizeof(Value));
  List items = a.items();
  items.insert(items.end(), b.items().begin(), b.items().end());
  return a.is(Kind::Array) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

Value repeat(Runtime& runtime, const Value& value, const Value& count) {
  const std::int64_t index = to_index(count);
  const auto times = static_cast<std::size_t>(index < 0 ? 0 : index);
  if (value.is_string()) {
    runtime.budget().charge(times, value.bytes().size());
    MarkedString repeated;
    for (std::size_t i = 0; i < times && !value.bytes().empty(); ++i) {
      repeated.append(value.text());
    }
    return runtime.text(std::move(repeated), value.is_markup());
  }
  runtime.budget().charge(times, value.items().size() * sizeof(Value));
  List items;
  for (std::size_t i = 0; i < times && !value.items().empty(); ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return value.is(Kind::Array) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

bool repeats(const Value& value, const Value& count) noexcept {
  return (value.is_string() || value.is_sequence()) && count.is_integral();
}

}  // namespace

Value binary(Runtime& runtime, BinaryOp op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return arithmetic(runtime, op, a, b);
  }
  if (op == BinaryOp::Mod && a.is_string()) {
    return format_printf(runtime, a, b);
  }
  if (a.is_undefined() || b.is_undefined()) {
    fail_undefined(a.is_undefined() ? a : b);
  }
  if (op == BinaryOp::Add && a.is_string() && b.is_string()) {
    return concatenate(runtime, a, b);
  }
  if (op == BinaryOp::Add && a.is_sequence() && a.kind() == b.kind()) {
    return join_sequences(runtime, a, b);
  }
  if (op == BinaryOp::Mul && (repeats(a, b) || repeats(b, a))) {
    return a.is_integral() ? repeat(runtime, b, a) : repeat(runtime, a, b);
  }
  if (op == BinaryOp::Add && (a.is_string() || a.is_sequence())) {
    raise_type("can only concatenate " + std::string(type_name(a)) + " (not \"" +
               std::string(type_name(b)) + "\") to " + std::string(type_name(a)));
  }
  raise_type("unsupported operand type(s) for " + std::string(symbol(op)) + ": '" +
             std::string(type_name(a)) + "' and '" + std::string(type_name(b)) + "'");
}

Value negate(const Value& value) {
  if (value.is_undefined()) {
    fail_undefined(value);
  }
  if (value.is(Kind::Float)) {
    return Value::number(-value.number());
  }
  if (!value.is_integral()) {
    raise_type("bad operand type for unary -: '" + std::string(type_name(value)) + "'");
  }
  return Value::integer(-to_big(value));
}

Value plus(const Value& value) {
  if (value.is_undefined()) {
    fail_undefined(value);
  }
  if (!value.is_number()) {
    raise_type("bad operand type for unary +: '" + std::string(type_name(value)) + "'");
  }
  return value.is(Kind::Bool) ? Value::integer(to_big(value)) : value;
}

bool truthy(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::Missing:
    case Kind::Undefined:
    case Kind::None:
      return false;
    case Kind::Bool:
      return value.boolean();
    case Kind::Int:
      return value.integer() != 0;
    case Kind::BigInt:
      return true;
    case Kind::Float:
      return value.number() != 0.0;
    case Kind::String:
      return !value.bytes().empty();
    case Kind::Array:
    case Kind::Tuple:
      return !value.items().empty();
    case Kind::Dict:
      return !value.dict().empty();
    case Kind::Object:
      break;
  }
  return value.object().length(runtime).value_or(1) != 0;
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) {
      raise_type("'in <string>' requires string as left operand, not " +
                 std::string(type_name(item)));
    }
    runtime.budget().step(container.bytes().size() / 256);
    return find_bytes(container.bytes(), item.bytes()).has_value();
  }
  if (container.is(Kind::Dict)) {
    return container.dict().find(item, runtime.budget()) != nullptr;
  }
  if (container.is(Kind::Object)) {
    if (const auto answer = container.object().contains(runtime, item)) {
      return *answer;
    }
  }
  if (!is_iterable(container)) {
    raise_type("argument of type '" + std::string(type_name(container)) + "' is not iterable");
  }
  Iteration items(runtime, container);
  while (const auto other = items.next(runtime)) {
    if (other->same_as(item) || equals(runtime.budget(), *other, item)) {
      return true;
    }
  }
  return false;
}

std::size_t length(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::Undefined:
      return 0;
    case Kind::String:
      runtime.budget().step(value.bytes().size() / 256);
      return count_characters(value.bytes());
    case Kind::Array:
    case Kind::Tuple:
      return value.items().size();
    case Kind::Dict:
      return value.dict().size();
    case Kind::Object:
      if (const auto count = value.object().length(runtime)) {
        return *count;
      }
      break;
    default:
      break;
  }
  raise_type("object of type '" + std::string(type_name(value)) + "' has no len()");
}

std::int64_t to_index(const Value& value) {
  switch (value.kind()) {
    case Kind::Bool:
      return static_cast<std::int64_t>(value.boolean());
    case Kind::Int:
      return value.integer();
    case Kind::BigInt:
      return value.big().negative() ? std::numeric_limits<std::int64_t>::min()
                                    : std::numeric_limits<std::int64_t>::max();
    default:
      raise_type("'" + std::string(type_name(value)) +
                 "' object cannot be interpreted as an integer");
  }
}

double to_double(const Value& number) {
  switch (number.kind()) {
    case Kind::Bool:
      return number.boolean() ? 1.0 : 0.0;
    case Kind::Int:
      return static_cast<double>(number.integer());
    case Kind::BigInt:
      return number.big().to_double();
    default:
      return number.number();
  }
}

std::int64_t small_int(const Value& value) {
  return value.is(Kind::Bool) ? static_cast<std::int64_t>(value.boolean()) : value.integer();
}

BigInt to_big(const Value& integral) {
  switch (integral.kind()) {
    case Kind::Bool:
      return BigInt(static_cast<std::int64_t>(integral.boolean()));
    case Kind::BigInt:
      return integral.big();
    default:
      return BigInt(integral.integer());
  }
}

}  // namespace smol::jinja
