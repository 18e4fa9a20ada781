#include "jinja/methods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "jinja/arguments.h"
#include "jinja/compare.h"
#include "jinja/globals.h"
#include "jinja/markup.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/string_case.h"
#include "jinja/string_methods.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

Value str_maketrans(Runtime& runtime, const Value& /*self*/, const CallArgs& call) {
  const Bound args(call, {"maketrans", {"x", "y", "z"}, 1, true});
  Dict table;
  if (!args.has(1)) {
    if (!args[0].is(Kind::Dict)) {
      raise_type("if you give only one argument to maketrans it must be a dict");
    }
    for (const auto& [key, value] : args[0].dict()) {
      const bool character = key.is_string();
      const std::u32string text = character ? decode(key.bytes()) : U"";
      if (character && text.size() != 1) {
        raise_value("string keys in translate table must be of length 1");
      }
      table.set(character ? Value::integer(static_cast<std::int64_t>(text[0])) : key, value,
                runtime.budget());
    }
    return runtime.dict(std::move(table));
  }
  const std::u32string from = decode(require_text(args[0], "maketrans argument").bytes());
  const std::u32string to = decode(require_text(args[1], "maketrans argument").bytes());
  if (from.size() != to.size()) {
    raise_value("the first two maketrans arguments must have equal length");
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    table.set(Value::integer(static_cast<std::int64_t>(from[i])),
              Value::integer(static_cast<std::int64_t>(to[i])), runtime.budget());
  }
  if (args.has(2)) {
    for (const char32_t c : decode(require_text(args[2], "maketrans argument").bytes())) {
      table.set(Value::integer(static_cast<std::int64_t>(c)), Value::none(), runtime.budget());
    }
  }
  return runtime.dict(std::move(table));
}

// ---- list and tuple ----

Value sequence_count(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"count", {"value"}, 1, true});
  const List& items = self.items();
  return Value::integer(std::count_if(items.begin(), items.end(), [&](const Value& item) {
    return item.same_as(args[0]) || equals(runtime.budget(), item, args[0]);
  }));
}

Value sequence_index(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"index", {"value", "start", "stop"}, 1, true});
  const List& items = self.items();
  const auto size = static_cast<std::int64_t>(items.size());
  const auto clamp = [size](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const std::int64_t start = args.has(1) ? clamp(to_index(args[1])) : 0;
  const std::int64_t stop = args.has(2) ? clamp(to_index(args[2])) : size;
  for (std::int64_t i = start; i < stop; ++i) {
    const Value& item = items[static_cast<std::size_t>(i)];
    if (item.same_as(args[0]) || equals(runtime.budget(), item, args[0])) {
      return Value::integer(i);
    }
  }
  raise_value("the value is not in the list");
}

Value list_copy(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "copy");
  return self;  // lists never change
}

// ---- dict ----

Value dict_keys(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "keys");
  return make_dict_view(self, ViewKind::Keys);
}

Value dict_values(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "values");
  return make_dict_view(self, ViewKind::Values);
}

Value dict_items(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "items");
  return make_dict_view(self, ViewKind::Items);
}

Value dict_get(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"get", {"key", "default"}, 1, true});
  const Value* found = self.dict().find(args[0], runtime.budget());
  if (found != nullptr) {
    return *found;
  }
  return args.has(1) ? args[1] : Value::none();
}

Value dict_fromkeys(Runtime& runtime, const Value& /*self*/, const CallArgs& args) {
  return dict_from_keys(runtime, args);
}

// ---- numbers ----

Value int_bit_length(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "bit_length");
  return Value::integer(static_cast<std::int64_t>(to_big(self).bit_length()));
}

Value int_bit_count(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "bit_count");
  return Value::integer(static_cast<std::int64_t>(to_big(self).bit_count()));
}

Value number_conjugate(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "conjugate");
  return plus(self);
}

Value int_as_integer_ratio(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "as_integer_ratio");
  return runtime.tuple({plus(self), Value::integer(1)});
}

Value float_as_integer_ratio(Runtime& runtime, const Value& self, const CallArgs& args) {
  bind_nothing(args, "as_integer_ratio");
  double number = self.number();
  if (!std::isfinite(number)) {
    raise(FaultKind::Overflow, "cannot convert Infinity or NaN to integer ratio");
  }
  std::size_t shift = 0;
  while (number != std::trunc(number)) {
    number *= 2;
    ++shift;
  }
  return runtime.tuple(
      {Value::integer(BigInt::from_double(number)), Value::integer(BigInt(1).shifted_left(shift))});
}

Value float_is_integer(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  bind_nothing(args, "is_integer");
  const double number = self.number();
  return Value::boolean(std::isfinite(number) && number == std::trunc(number));
}

// ---- tables, sorted by name ----

constexpr std::array kStringMethods = std::to_array<Method>({
    {"capitalize", str_capitalize, true},
    {"casefold", str_casefold, true},
    {"center", str_center, true},
    {"count", str_count},
    {"encode", str_encode},
    {"endswith", str_endswith},
    {"expandtabs", str_expandtabs, true},
    {"find", str_find},
    {"format", str_format},
    {"format_map", str_format_map},
    {"index", str_index},
    {"isalnum", str_isalnum},
    {"isalpha", str_isalpha},
    {"isascii", str_isascii},
    {"isdecimal", str_isdecimal},
    {"isdigit", str_isdigit},
    {"isidentifier", str_isidentifier},
    {"islower", str_islower},
    {"isnumeric", str_isnumeric},
    {"isprintable", str_isprintable},
    {"isspace", str_isspace},
    {"istitle", str_istitle},
    {"isupper", str_isupper},
    {"join", str_join, true},
    {"ljust", str_ljust, true},
    {"lower", str_lower, true},
    {"lstrip", str_lstrip, true},
    {"maketrans", str_maketrans},
    {"partition", str_partition, true},
    {"removeprefix", str_removeprefix, true},
    {"removesuffix", str_removesuffix, true},
    {"replace", str_replace, true},
    {"rfind", str_rfind},
    {"rindex", str_rindex},
    {"rjust", str_rjust, true},
    {"rpartition", str_rpartition, true},
    {"rsplit", str_rsplit, true},
    {"rstrip", str_rstrip, true},
    {"split", str_split, true},
    {"splitlines", str_splitlines, true},
    {"startswith", str_startswith},
    {"strip", str_strip, true},
    {"swapcase", str_swapcase, true},
    {"title", str_title, true},
    {"translate", str_translate, true},
    {"upper", str_upper, true},
    {"zfill", str_zfill, true},
});

constexpr std::array kListMethods = std::to_array<Method>({
    {"append", nullptr},
    {"clear", nullptr},
    {"copy", list_copy},
    {"count", sequence_count},
    {"extend", nullptr},
    {"index", sequence_index},
    {"insert", nullptr},
    {"pop", nullptr},
    {"remove", nullptr},
    {"reverse", nullptr},
    {"sort", nullptr},
});

constexpr std::array kTupleMethods = std::to_array<Method>({
    {"count", sequence_count},
    {"index", sequence_index},
});

constexpr std::array kDictMethods = std::to_array<Method>({
    {"clear", nullptr},
    {"copy", list_copy},
    {"fromkeys", dict_fromkeys},
    {"get", dict_get},
    {"items", dict_items},
    {"keys", dict_keys},
    {"pop", nullptr},
    {"popitem", nullptr},
    {"setdefault", nullptr},
    {"update", nullptr},
    {"values", dict_values},
});

constexpr std::array kIntMethods = std::to_array<Method>({
    {"as_integer_ratio", int_as_integer_ratio},
    {"bit_count", int_bit_count},
    {"bit_length", int_bit_length},
    {"conjugate", number_conjugate},
});

constexpr std::array kFloatMethods = std::to_array<Method>({
    {"as_integer_ratio", float_as_integer_ratio},
    {"conjugate", number_conjugate},
    {"is_integer", float_is_integer},
});

const Method* search(std::span<const Method> methods, std::string_view name) noexcept {
  const auto it = std::lower_bound(
      methods.begin(), methods.end(), name,
      [](const Method& method, std::string_view wanted) { return method.name < wanted; });
  return it != methods.end() && it->name == name ? &*it : nullptr;
}

Value mark_safe(Runtime& runtime, const Value& value) {
  if (value.is_string()) {
    return as_markup(runtime, value);
  }
  if (!value.is_sequence()) {
    return value;
  }
  List items;
  for (const Value& item : value.items()) {
    items.push_back(mark_safe(runtime, item));
  }
  return value.is(Kind::Array) ? runtime.list(std::move(items)) : runtime.tuple(std::move(items));
}

}  // namespace

const Method* find_string_method(std::string_view name) noexcept {
  return search(kStringMethods, name);
}

const Method* find_method(const Value& object, std::string_view name) noexcept {
  switch (object.kind()) {
    case Kind::String:
      return search(kStringMethods, name);
    case Kind::Array:
      return search(kListMethods, name);
    case Kind::Tuple:
      return search(kTupleMethods, name);
    case Kind::Dict:
      return search(kDictMethods, name);
    case Kind::Bool:
    case Kind::Int:
    case Kind::BigInt:
      return search(kIntMethods, name);
    case Kind::Float:
      return search(kFloatMethods, name);
    case Kind::Object:
      return object.object().method(name);
    default:
      return nullptr;
  }
}

Value call_method(Runtime& runtime, const Method& method, const Value& self, const CallArgs& args) {
  runtime.budget().step(1 + (self.is_string() ? self.bytes().size() / 256 : 0));
  Value result = method.function(runtime, self, args);
  return self.is_markup() && method.keeps_markup ? mark_safe(runtime, result) : result;
}

}  // namespace smol::jinja
