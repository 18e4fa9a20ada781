#include "jinja/tests.h"

#include <algorithm>
#include <array>

#include "jinja/arguments.h"
#include "jinja/compare.h"
#include "jinja/filters.h"
#include "jinja/iteration.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/string_case.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

// value % divisor == remainder
bool remainder_is(Runtime& runtime, const Value& value, const Value& divisor,
                  std::int64_t remainder) {
  return equals(runtime.budget(), binary(runtime, BinaryOp::Mod, value, divisor),
                Value::integer(remainder));
}

bool is_odd(Runtime& runtime, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_odd");
  return remainder_is(runtime, value, Value::integer(2), 1);
}

bool is_even(Runtime& runtime, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_even");
  return remainder_is(runtime, value, Value::integer(2), 0);
}

bool is_divisible(Runtime& runtime, const Value& value, const CallArgs& call) {
  const Bound args(call, {"test_divisibleby", {"num"}, 1});
  return remainder_is(runtime, value, args[0], 0);
}

bool is_defined(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_defined");
  return !value.is_undefined();
}

bool is_undefined(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_undefined");
  return value.is_undefined();
}

// The argument of `is filter` and `is test` is looked up in a dict: it must be hashable.
bool is_filter(Runtime& runtime, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_filter");
  hash_value(runtime.budget(), value);
  return value.is_string() && find_filter(value.bytes()) != nullptr;
}

bool is_test(Runtime& runtime, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_test");
  hash_value(runtime.budget(), value);
  return value.is_string() && find_test(value.bytes()) != nullptr;
}

bool is_none(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_none");
  return value.is_none();
}

bool is_boolean(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_boolean");
  return value.is(Kind::Bool);
}

bool is_false(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_false");
  return value.is(Kind::Bool) && !value.boolean();
}

bool is_true(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_true");
  return value.is(Kind::Bool) && value.boolean();
}

bool is_integer(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_integer");
  return value.is(Kind::Int) || value.is(Kind::BigInt);
}

bool is_float(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_float");
  return value.is(Kind::Float);
}

bool is_lower(Runtime& runtime, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_lower");
  return is_lower_text(to_text(runtime, value).bytes());
}

bool is_upper(Runtime& runtime, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_upper");
  return is_upper_text(to_text(runtime, value).bytes());
}

bool is_string(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_string");
  return value.is_string();
}

bool is_mapping(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_mapping");
  return value.is(Kind::Dict);
}

bool is_number(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_number");
  return value.is_number();
}

bool is_sequence(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_sequence");
  return value.is_string() || value.is_sequence() || value.is(Kind::Dict) || value.is_undefined() ||
         (value.is(Kind::Object) && value.object().type_name() == "range");
}

bool is_same(Runtime& /*runtime*/, const Value& value, const CallArgs& call) {
  const Bound args(call, {"test_sameas", {"other"}, 1});
  return value.same_as(args[0]);
}

bool is_iterable_value(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_iterable");
  return is_iterable(value);
}

bool is_callable(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "callable");
  return value.is_undefined() || (value.is(Kind::Object) && value.object().callable());
}

bool is_escaped(Runtime& /*runtime*/, const Value& value, const CallArgs& args) {
  bind_nothing(args, "test_escaped");
  return value.is_markup();
}

bool is_in(Runtime& runtime, const Value& value, const CallArgs& call) {
  const Bound args(call, {"test_in", {"seq"}, 1});
  return contains(runtime, args[0], value);
}

bool is_equal(Runtime& runtime, const Value& value, const CallArgs& call) {
  const Bound args(call, {"eq", {"other"}, 1, true});
  return equals(runtime.budget(), value, args[0]);
}

bool is_not_equal(Runtime& runtime, const Value& value, const CallArgs& args) {
  return !is_equal(runtime, value, args);
}

template <Ordering ordering>
bool compares(Runtime& runtime, const Value& value, const CallArgs& call) {
  const Bound args(call, {"compare", {"other"}, 1, true});
  return ordered(runtime.budget(), ordering, value, args[0]);
}

struct TestEntry {
  std::string_view name;
  TestFunction function;
};

// Sorted by name.
constexpr std::array kTests = std::to_array<TestEntry>({
    {"!=", is_not_equal},
    {"<", compares<Ordering::Less>},
    {"<=", compares<Ordering::LessEqual>},
    {"==", is_equal},
    {">", compares<Ordering::Greater>},
    {">=", compares<Ordering::GreaterEqual>},
    {"boolean", is_boolean},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_false},
    {"filter", is_filter},
    {"float", is_float},
    {"ge", compares<Ordering::GreaterEqual>},
    {"greaterthan", compares<Ordering::Greater>},
    {"gt", compares<Ordering::Greater>},
    {"in", is_in},
    {"integer", is_integer},
    {"iterable", is_iterable_value},
    {"le", compares<Ordering::LessEqual>},
    {"lessthan", compares<Ordering::Less>},
    {"lower", is_lower},
    {"lt", compares<Ordering::Less>},
    {"mapping", is_mapping},
    {"ne", is_not_equal},
    {"none", is_none},
    {"number", is_number},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_string},
    {"test", is_test},
    {"true", is_true},
    {"undefined", is_undefined},
    {"upper", is_upper},
});

}  // namespace

TestFunction find_test(std::string_view name) noexcept {
  const auto* const it = std::lower_bound(
      kTests.begin(), kTests.end(), name,
      [](const TestEntry& entry, std::string_view wanted) { return entry.name < wanted; });
  return it != kTests.end() && it->name == name ? it->function : nullptr;
}

}  // namespace smol::jinja
