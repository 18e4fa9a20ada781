// Filters on numbers, and default and attr.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "jinja/arguments.h"
#include "jinja/arithmetic.h"
#include "jinja/attributes.h"
#include "jinja/filter_functions.h"
#include "jinja/names.h"
#include "jinja/number_format.h"
#include "jinja/number_parse.h"
#include "jinja/operators.h"

namespace smol::jinja::filters {
namespace {

using Kind = Value::Kind;

Value truncate_float(double value) {
  if (std::isnan(value)) {
    raise_value("cannot convert float NaN to integer");
  }
  if (std::isinf(value)) {
    raise(FaultKind::Overflow, "cannot convert float infinity to integer");
  }
  return Value::integer(BigInt::from_double(value));
}

// int(value, base) of Python.
Value to_integer(const Value& value, std::int64_t base) {
  if (value.is_undefined()) {
    fail_undefined(value);
  }
  if (value.is_string()) {
    return parse_integer(value.bytes(), base);
  }
  if (value.is(Kind::Float)) {
    return truncate_float(value.number());
  }
  if (!value.is_integral()) {
    raise_type("int() argument must be a string, a bytes-like object or a real number, not '" +
               std::string(type_name(value)) + "'");
  }
  return plus(value);
}

// float(value) of Python.
double to_floating(const Value& value) {
  if (value.is_undefined()) {
    fail_undefined(value);
  }
  if (value.is_string()) {
    return parse_float(value.bytes());
  }
  if (!value.is_number()) {
    raise_type("float() argument must be a string or a real number, not '" +
               std::string(type_name(value)) + "'");
  }
  return to_double(value);
}

bool is_conversion(const Fault& fault) noexcept {
  return fault.kind() == FaultKind::Type || fault.kind() == FaultKind::Value;
}

Value power_of_ten(Runtime& runtime, const Value& exponent) {
  return binary(runtime, BinaryOp::Pow, Value::integer(10), exponent);
}

Value floor_or_ceil(const Value& value, bool ceil) {
  if (!value.is(Kind::Float)) {
    return plus(value);
  }
  return truncate_float(ceil ? std::ceil(value.number()) : std::floor(value.number()));
}

}  // namespace

Value abs(Runtime& /*runtime*/, const Value& input, const CallArgs& args) {
  bind_nothing(args, "abs");
  if (!input.is_number()) {
    raise_type("bad operand type for abs(): '" + std::string(type_name(input)) + "'");
  }
  if (input.is(Kind::Float)) {
    return Value::number(std::fabs(input.number()));
  }
  return Value::integer(to_big(input).magnitude());
}

Value integer(Runtime& /*runtime*/, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_int", {"default", "base"}});
  Value fallback = args.has(0) ? args[0] : Value::integer(0);
  try {
    return to_integer(input, args.has(1) ? to_index(args[1]) : 10);
  } catch (const Fault& fault) {
    if (!is_conversion(fault)) {
      throw;
    }
  }
  try {
    return truncate_float(to_floating(input));
  } catch (const Fault& fault) {
    if (!is_conversion(fault) && fault.kind() != FaultKind::Overflow) {
      throw;
    }
  }
  return fallback;
}

Value floating(Runtime& /*runtime*/, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_float", {"default"}});
  try {
    return Value::number(to_floating(input));
  } catch (const Fault& fault) {
    if (!is_conversion(fault)) {
      throw;
    }
  }
  return args.has(0) ? args[0] : Value::number(0.0);
}

Value round(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_round", {"precision", "method"}});
  const std::string method =
      args.has(1) && args[1].is_string() ? args[1].bytes() : (args.has(1) ? "" : "common");
  if (method != "common" && method != "ceil" && method != "floor") {
    raise(FaultKind::Runtime, "method must be common, ceil or floor");
  }
  const Value precision = args.has(0) ? args[0] : Value::integer(0);
  if (method == "common") {
    if (!input.is_number()) {
      raise_type("type " + std::string(type_name(input)) + " doesn't define __round__ method");
    }
    if (precision.is_none()) {
      const Value rounded = round_number(input, 0);
      return rounded.is(Kind::Float) ? truncate_float(rounded.number()) : rounded;
    }
    return round_number(input, to_index(precision));
  }
  const Value scale = power_of_ten(runtime, precision);
  const Value scaled = binary(runtime, BinaryOp::Mul, input, scale);
  if (!scaled.is_number()) {
    raise_type("must be real number, not " + std::string(type_name(scaled)));
  }
  return binary(runtime, BinaryOp::Div, floor_or_ceil(scaled, method == "ceil"),
                power_of_ten(runtime, precision));
}

Value filesizeformat(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_filesizeformat", {"binary"}});
  static constexpr std::array<std::string_view, 8> kPrefixes = {"k", "M", "G", "T",
                                                                "P", "E", "Z", "Y"};
  const double bytes = to_floating(input);
  const bool in_binary = args.has(0) && truthy(runtime, args[0]);
  const double base = in_binary ? 1024 : 1000;
  std::string text;
  if (bytes == 1) {
    text = "1 Byte";
  } else if (bytes < base) {
    text = std::to_string(truncate_float(bytes).integer()) + " Bytes";
  } else {
    double unit = base;
    std::size_t index = 0;
    do {
      unit *= base;
    } while (bytes >= unit && ++index < kPrefixes.size());
    index = std::min(index, kPrefixes.size() - 1);
    unit = std::pow(base, static_cast<double>(index + 2));
    text = format_float(runtime, base * bytes / unit, {'f', 1}) + " ";
    text += in_binary && index == 0 ? "K" : kPrefixes[index];
    text += in_binary ? "iB" : "B";
  }
  return runtime.text(std::move(text), Origin::Input);
}

Value default_value(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_default", {"default_value", "boolean"}});
  const bool by_truth = args.has(1) && truthy(runtime, args[1]);
  if (!input.is_undefined() && (!by_truth || truthy(runtime, input))) {
    return input;
  }
  return args.has(0) ? args[0] : Value::string({}, Origin::Template);
}

Value attr(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_attr", {"name"}, 1});
  require_text(args[0], "attribute name");
  Value value = python_attribute(runtime, input, args[0].bytes());
  if (!value.is_missing()) {
    return guard_attribute(input, args[0].bytes(), std::move(value));
  }
  if (input.is_undefined() && !args[0].bytes().starts_with("__")) {
    fail_undefined(input);
  }
  return undefined_attribute(input, args[0]);
}

}  // namespace smol::jinja::filters
