#include "jinja/compare.h"

#include <cmath>
#include <compare>
#include <functional>
#include <optional>
#include <string>

#include "jinja/names.h"
#include "jinja/object.h"
#include "jinja/operators.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

std::partial_ordering compare_with_double(const Value& integral, double number) {
  if (std::isnan(number)) {
    return std::partial_ordering::unordered;
  }
  if (std::isinf(number)) {
    return number > 0 ? std::partial_ordering::less : std::partial_ordering::greater;
  }
  const std::strong_ordering whole = to_big(integral) <=> BigInt::from_double(number);
  if (whole != std::strong_ordering::equal) {
    return whole;
  }
  return 0.0 <=> (number - std::trunc(number));
}

// Requires: both are numbers.
std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  if (a.is(Kind::Float) && b.is(Kind::Float)) {
    return a.number() <=> b.number();
  }
  if (a.is(Kind::Float)) {
    return 0 <=> compare_with_double(b, a.number());
  }
  if (b.is(Kind::Float)) {
    return compare_with_double(a, b.number());
  }
  if (a.is(Kind::BigInt) || b.is(Kind::BigInt)) {
    return to_big(a) <=> to_big(b);
  }
  return small_int(a) <=> small_int(b);
}

bool equal_sequences(Budget& budget, const Value& a, const Value& b) {
  if (a.items().size() != b.items().size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!a.items()[i].same_as(b.items()[i]) && !equals(budget, a.items()[i], b.items()[i])) {
      return false;
    }
  }
  return true;
}

bool equal_dicts(Budget& budget, const Dict& a, const Dict& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (const auto& [key, value] : a) {
    const Value* other = b.find(key, budget);
    if (other == nullptr || (!value.same_as(*other) && !equals(budget, value, *other))) {
      return false;
    }
  }
  return true;
}

std::string_view symbol(Ordering ordering) noexcept {
  switch (ordering) {
    case Ordering::Less:
      return "<";
    case Ordering::LessEqual:
      return "<=";
    case Ordering::Greater:
      return ">";
    case Ordering::GreaterEqual:
      break;
  }
  return ">=";
}

bool holds(Ordering ordering, std::partial_ordering result) noexcept {
  switch (ordering) {
    case Ordering::Less:
      return result < 0;
    case Ordering::LessEqual:
      return result <= 0;
    case Ordering::Greater:
      return result > 0;
    case Ordering::GreaterEqual:
      break;
  }
  return result >= 0;
}

bool ordered_sequences(Budget& budget, Ordering ordering, const Value& a, const Value& b) {
  const List& x = a.items();
  const List& y = b.items();
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (!x[i].same_as(y[i]) && !equals(budget, x[i], y[i])) {
      return ordered(budget, ordering, x[i], y[i]);
    }
  }
  return holds(ordering, x.size() <=> y.size());
}

}  // namespace

std::size_t hash_bytes(std::string_view bytes) noexcept {
  return std::hash<std::string_view>{}(bytes);
}

std::size_t hash_value(Budget& budget, const Value& value) {
  budget.step();
  switch (value.kind()) {
    case Kind::Bool:
    case Kind::Int:
      return std::hash<std::int64_t>{}(small_int(value));
    case Kind::BigInt:
      return value.big().hash();
    case Kind::Float: {
      const double number = value.number();
      if (!std::isfinite(number) || number != std::trunc(number)) {
        return std::hash<double>{}(number);
      }
      return hash_value(budget, Value::integer(BigInt::from_double(number)));
    }
    case Kind::String:
      return hash_bytes(value.bytes());
    case Kind::Tuple: {
      std::size_t hash = 0x345678;
      for (const Value& item : value.items()) {
        hash = hash * 1000003U ^ hash_value(budget, item);
      }
      return hash;
    }
    case Kind::Array:
    case Kind::Dict:
      raise_type("unhashable type: '" + std::string(type_name(value)) + "'");
    case Kind::Object:
      return std::hash<const Object*>{}(&value.object());
    default:
      return static_cast<std::size_t>(value.kind());
  }
}

bool equals(Budget& budget, const Value& a, const Value& b) {
  budget.step();
  if (a.is_number() && b.is_number()) {
    return compare_numbers(a, b) == 0;
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Kind::String:
      return a.bytes() == b.bytes();
    case Kind::Array:
    case Kind::Tuple:
      return equal_sequences(budget, a, b);
    case Kind::Dict:
      return equal_dicts(budget, a.dict(), b.dict());
    case Kind::Object:
      return a.object().equals(budget, b.object());
    default:
      return true;  // Undefined, None
  }
}

bool ordered(Budget& budget, Ordering ordering, const Value& a, const Value& b) {
  budget.step();
  if (a.is_number() && b.is_number()) {
    return holds(ordering, compare_numbers(a, b));
  }
  if (a.is_string() && b.is_string()) {
    return holds(ordering, a.bytes() <=> b.bytes());
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    return ordered_sequences(budget, ordering, a, b);
  }
  if (a.is_undefined() || b.is_undefined()) {
    fail_undefined(a.is_undefined() ? a : b);
  }
  raise_type("'" + std::string(symbol(ordering)) + "' not supported between instances of '" +
             std::string(type_name(a)) + "' and '" + std::string(type_name(b)) + "'");
}

}  // namespace smol::jinja
