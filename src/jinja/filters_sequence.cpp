// Filters on sequences that yield a value or a list.
#include <algorithm>
#include <string>

#include "jinja/arguments.h"
#include "jinja/attribute_path.h"
#include "jinja/attributes.h"
#include "jinja/compare.h"
#include "jinja/filter_functions.h"
#include "jinja/iteration.h"
#include "jinja/names.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/strings.h"

namespace smol::jinja::filters {
namespace {

using Kind = Value::Kind;

Value empty_sequence(std::string hint) {
  Undefined info;
  info.hint = std::move(hint);
  return Value::undefined(std::move(info));
}

// sorted(items, key=..., reverse=...) with the keys at hand.
List sort_by(Runtime& runtime, const List& items, const List& keys, bool reverse) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ordered(runtime.budget(), Ordering::Less, keys[reverse ? b : a], keys[reverse ? a : b]);
  });
  List sorted;
  sorted.reserve(items.size());
  for (const std::size_t index : order) {
    sorted.push_back(items[index]);
  }
  return sorted;
}

bool flag(Runtime& runtime, const Bound& args, std::size_t index) {
  return args.has(index) && truthy(runtime, args[index]);
}

Value extreme(Runtime& runtime, const Value& input, const CallArgs& call, bool largest) {
  const Bound args(call, {largest ? "do_max" : "do_min", {"case_sensitive", "attribute"}});
  const bool case_sensitive = flag(runtime, args, 0);
  const AttributePath path(args.given(1) ? args[1] : Value::none());
  Iteration items(runtime, input);
  std::optional<Value> best;
  Value best_key;
  while (auto item = items.next(runtime)) {
    Value key = path.get(runtime, *item);
    key = case_sensitive ? key : ignore_case(runtime, key);
    const bool better =
        !best ||
        ordered(runtime.budget(), largest ? Ordering::Greater : Ordering::Less, key, best_key);
    if (better) {
      best = std::move(item);
      best_key = std::move(key);
    }
  }
  return best ? *best : empty_sequence("No aggregated item, sequence was empty.");
}

}  // namespace

Value length(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "len");
  return Value::integer(static_cast<std::int64_t>(smol::jinja::length(runtime, input)));
}

Value first(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_first");
  auto item = Iteration(runtime, input).next(runtime);
  return item ? std::move(*item) : empty_sequence("No first item, sequence was empty.");
}

Value last(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_last");
  if (input.is_string() || input.is_sequence()) {
    if (smol::jinja::length(runtime, input) == 0) {
      return empty_sequence("No last item, sequence was empty.");
    }
    return get_item(runtime, input, Value::integer(-1));
  }
  List items = to_reversed(runtime, input);
  return items.empty() ? empty_sequence("No last item, sequence was empty.") : items.front();
}

Value list(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_list");
  return input.is(Kind::Array) ? input : runtime.list(to_list(runtime, input));
}

Value reverse(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_reverse");
  if (input.is_string()) {
    return get_slice(runtime, input, {}, {}, Value::integer(-1));
  }
  if (!is_iterable(input)) {
    raise(FaultKind::Runtime, "argument must be iterable");
  }
  const bool reversible =
      !input.is(Kind::Object) || input.object().iterate_reversed(runtime) != nullptr;
  if (reversible) {
    return make_list_iterator(to_reversed(runtime, input), "list_reverseiterator");
  }
  List items = to_list(runtime, input);
  std::reverse(items.begin(), items.end());
  return runtime.list(std::move(items));
}

Value random(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_random");
  const std::size_t count = smol::jinja::length(runtime, input);
  if (count == 0) {
    return empty_sequence("No random item, sequence was empty.");
  }
  const Value index = Value::integer(static_cast<std::int64_t>(runtime.random(count)));
  Value item = get_item(runtime, input, index);
  if (item.is_undefined()) {
    raise(FaultKind::Lookup, "random() needs a sequence");
  }
  return item;
}

Value sum(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_sum", {"attribute", "start"}});
  const AttributePath path(args.given(0) ? args[0] : Value::none());
  Value total = args.has(1) ? args[1] : Value::integer(0);
  if (total.is_string()) {
    raise_type("sum() can't sum strings [use ''.join(seq) instead]");
  }
  Iteration items(runtime, input);
  while (const auto item = items.next(runtime)) {
    total = binary(runtime, BinaryOp::Add, total, path.get(runtime, *item));
  }
  return total;
}

Value sort(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_sort", {"reverse", "case_sensitive", "attribute"}});
  const SortKey key(args.given(2) ? args[2] : Value::none(), flag(runtime, args, 1));
  const List items = to_list(runtime, input);
  List keys;
  keys.reserve(items.size());
  for (const Value& item : items) {
    keys.push_back(key.get(runtime, item));
  }
  return runtime.list(sort_by(runtime, items, keys, flag(runtime, args, 0)));
}

Value dictsort(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_dictsort", {"case_sensitive", "by", "reverse"}});
  const std::string by = args.has(1) ? (args[1].is_string() ? args[1].bytes() : "") : "key";
  if (by != "key" && by != "value") {
    raise(FaultKind::Runtime, "You can only sort by either \"key\" or \"value\"");
  }
  const bool case_sensitive = flag(runtime, args, 0);
  const List pairs = to_list(runtime, smol::jinja::call_method(runtime, input, "items", {}));
  List keys;
  keys.reserve(pairs.size());
  for (const Value& pair : pairs) {
    const Value& key = pair.items()[by == "value" ? 1 : 0];
    keys.push_back(case_sensitive ? key : ignore_case(runtime, key));
  }
  return runtime.list(sort_by(runtime, pairs, keys, flag(runtime, args, 2)));
}

Value min(Runtime& runtime, const Value& input, const CallArgs& args) {
  return extreme(runtime, input, args, false);
}

Value max(Runtime& runtime, const Value& input, const CallArgs& args) {
  return extreme(runtime, input, args, true);
}

Value groupby(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_groupby", {"attribute", "default", "case_sensitive"}, 1});
  const AttributePath path(args[0], args[1]);
  const bool case_sensitive = flag(runtime, args, 2);
  const List items = to_list(runtime, input);
  const auto key_of = [&](const Value& item) {
    Value key = path.get(runtime, item);
    return case_sensitive ? key : ignore_case(runtime, key);
  };
  List keys;
  for (const Value& item : items) {
    keys.push_back(key_of(item));
  }
  List groups;
  List members;
  Value current;
  const auto finish = [&] {
    if (!members.empty()) {
      Value grouper = case_sensitive ? current : path.get(runtime, members.front());
      groups.push_back(Value::group(std::move(grouper), runtime.list(std::move(members))));
      members = {};
    }
  };
  for (const Value& item : sort_by(runtime, items, keys, false)) {
    Value key = key_of(item);
    if (members.empty() || !equals(runtime.budget(), key, current)) {
      finish();
      current = std::move(key);
    }
    members.push_back(item);
  }
  finish();
  return runtime.list(std::move(groups));
}

}  // namespace smol::jinja::filters
