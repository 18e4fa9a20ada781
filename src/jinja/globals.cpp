#include "jinja/globals.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>

#include "jinja/arguments.h"
#include "jinja/iteration.h"
#include "jinja/lipsum.h"
#include "jinja/names.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/strftime.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

Value range(Runtime& /*runtime*/, const CallArgs& call) {
  const Bound args(call, {"range", {"start", "stop", "step"}, 1, true});
  const std::int64_t first = to_index(args[0]);
  const std::int64_t step = args.has(2) ? to_index(args[2]) : 1;
  if (step == 0) {
    raise_value("range() arg 3 must not be zero");
  }
  return args.has(1) ? make_range(first, to_index(args[1]), step) : make_range(0, first, step);
}

Value dict(Runtime& runtime, const CallArgs& args) {
  return runtime.dict(dict_from_arguments(runtime, args));
}

Value namespace_object(Runtime& runtime, const CallArgs& args) {
  return make_namespace(runtime, dict_from_arguments(runtime, args));
}

Value cycler(Runtime& runtime, const CallArgs& args) {
  if (!args.keyword.empty()) {
    raise_type("cycler() got an unexpected keyword argument");
  }
  return make_cycler(runtime, args.positional);
}

Value joiner(Runtime& runtime, const CallArgs& call) {
  const Bound args(call, {"joiner", {"sep"}});
  return make_joiner(runtime, args.has(0) ? args[0] : runtime.text(", ", Origin::Template));
}

Value raise_exception(Runtime& runtime, const CallArgs& call) {
  const Bound args(call, {"raise_exception", {"message"}, 1});
  raise(FaultKind::Raised, to_text(runtime, args[0]).bytes());
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm result{};
  localtime_r(&now, &result);
  return result;
}

Value strftime_now(Runtime& runtime, const CallArgs& call) {
  const Bound args(call, {"strftime_now", {"format"}, 1});
  const MarkedString& format = require_text(args[0], "strftime() argument 1");
  const std::tm now = runtime.options().now ? *runtime.options().now : local_time();
  return runtime.text(format_time(runtime.budget(), format.bytes(), now), Origin::Input);
}

// Adds the pairs of a mapping or of a list of pairs.
void add_entries(Runtime& runtime, Dict& dict, const Value& source) {
  if (source.is_undefined()) {
    fail_undefined(source);  // Python asks it for its keys
  }
  if (source.is(Value::Kind::Dict)) {
    for (const auto& [key, value] : source.dict()) {
      dict.set(key, value, runtime.budget());
    }
    return;
  }
  Iteration pairs(runtime, source);
  while (const auto pair = pairs.next(runtime)) {
    const List items = to_list(runtime, *pair);
    if (items.size() != 2) {
      raise_value("dictionary update sequence element has length " + std::to_string(items.size()) +
                  "; 2 is required");
    }
    runtime.budget().charge(2 * sizeof(Value));
    dict.set(items[0], items[1], runtime.budget());
  }
}

struct Global {
  std::string_view name;
  Value value;
};

}  // namespace

Dict dict_from_arguments(Runtime& runtime, const CallArgs& args) {
  if (args.positional.size() > 1) {
    raise_type("dict expected at most 1 argument, got " + std::to_string(args.positional.size()));
  }
  Dict dict;
  for (const Value& source : args.positional) {
    add_entries(runtime, dict, source);
  }
  for (const auto& [key, value] : args.keyword) {
    dict.set(key, value, Origin::Template);
  }
  return dict;
}

Value dict_from_keys(Runtime& runtime, const CallArgs& call) {
  const Bound args(call, {"fromkeys", {"iterable", "value"}, 1, true});
  Dict dict;
  Iteration keys(runtime, args[0]);
  while (auto key = keys.next(runtime)) {
    runtime.budget().charge(2 * sizeof(Value));
    dict.set(std::move(*key), args.has(1) ? args[1] : Value::none(), runtime.budget());
  }
  return runtime.dict(std::move(dict));
}

const Value* find_global(std::string_view name) {
  static const std::array kGlobals = std::to_array<Global>({
      {"range", make_function("<function safe_range>", range)},
      {"dict", make_function("<class 'dict'>", dict)},
      {"namespace", make_function("<class 'jinja2.utils.Namespace'>", namespace_object)},
      {"cycler", make_function("<class 'jinja2.utils.Cycler'>", cycler)},
      {"joiner", make_function("<class 'jinja2.utils.Joiner'>", joiner)},
      {"lipsum", make_function("<function generate_lorem_ipsum>", lipsum)},
      {"raise_exception", make_function("<function raise_exception>", raise_exception)},
      {"strftime_now", make_function("<function strftime_now>", strftime_now)},
  });
  const auto* const it = std::find_if(kGlobals.begin(), kGlobals.end(),
                                      [name](const Global& global) { return global.name == name; });
  return it == kGlobals.end() ? nullptr : &it->value;
}

}  // namespace smol::jinja
