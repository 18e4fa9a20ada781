// Methods of str that search.
#include <algorithm>
#include <optional>
#include <string>

#include "jinja/arguments.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"

namespace smol::jinja {
namespace {

// The part text[start:end] that a search looks at; nullopt: start lies behind the text.
std::optional<Range> window(const std::string& text, const Bound& args) {
  if (!args.given(1) && !args.given(2)) {
    return Range{0, text.size()};
  }
  const auto length = static_cast<std::int64_t>(count_characters(text));
  const auto clamp = [length](std::int64_t index) {
    return index < 0 ? std::max<std::int64_t>(0, index + length) : index;
  };
  const std::int64_t start = args.given(1) ? clamp(to_index(args[1])) : 0;
  const std::int64_t end = std::min(length, args.given(2) ? clamp(to_index(args[2])) : length);
  if (start > end) {
    return std::nullopt;
  }
  return Range{byte_of_character(text, static_cast<std::size_t>(start)),
               byte_of_character(text, static_cast<std::size_t>(end))};
}

// The character index where the argument is found; -1 if it is not.
std::int64_t search(const Value& self, const CallArgs& call, std::string_view name,
                    bool from_right) {
  const Bound args(call, {name, {"sub", "start", "end"}, 1, true});
  const std::string& part = require_text(args[0], "sub").bytes();
  const auto range = window(self.bytes(), args);
  if (!range) {
    return -1;
  }
  const std::string_view text = std::string_view(self.bytes()).substr(0, range->end);
  auto found =
      from_right ? rfind_bytes(text, part, text.size()) : find_bytes(text, part, range->begin);
  if (!found || *found < range->begin) {
    return -1;
  }
  return static_cast<std::int64_t>(count_characters(text.substr(0, *found)));
}

Value search_or_fail(const Value& self, const CallArgs& call, std::string_view name,
                     bool from_right) {
  const std::int64_t index = search(self, call, name, from_right);
  if (index < 0) {
    raise_value("substring not found");
  }
  return Value::integer(index);
}

bool matches(std::string_view text, const Value& part, bool at_end, std::string_view name) {
  if (!part.is_string()) {
    raise_type(std::string(name) + " first arg must be str or a tuple of str, not " +
               std::string(type_name(part)));
  }
  return at_end ? text.ends_with(part.bytes()) : text.starts_with(part.bytes());
}

Value affix(const Value& self, const CallArgs& call, std::string_view name, bool at_end) {
  const Bound args(call, {name, {"prefix", "start", "end"}, 1, true});
  const auto range = window(self.bytes(), args);
  if (!range) {
    return Value::boolean(false);
  }
  const std::string_view text =
      std::string_view(self.bytes()).substr(range->begin, range->end - range->begin);
  if (args[0].is(Value::Kind::Tuple)) {
    const List& parts = args[0].items();
    return Value::boolean(std::any_of(parts.begin(), parts.end(), [&](const Value& part) {
      return matches(text, part, at_end, name);
    }));
  }
  return Value::boolean(matches(text, args[0], at_end, name));
}

}  // namespace

Value str_find(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  return Value::integer(search(self, args, "find", false));
}

Value str_rfind(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  return Value::integer(search(self, args, "rfind", true));
}

Value str_index(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  return search_or_fail(self, args, "index", false);
}

Value str_rindex(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  return search_or_fail(self, args, "rindex", true);
}

Value str_count(Runtime& /*runtime*/, const Value& self, const CallArgs& call) {
  const Bound args(call, {"count", {"sub", "start", "end"}, 1, true});
  const std::string& part = require_text(args[0], "sub").bytes();
  const auto range = window(self.bytes(), args);
  if (!range) {
    return Value::integer(0);
  }
  const std::string_view text =
      std::string_view(self.bytes()).substr(range->begin, range->end - range->begin);
  if (part.empty()) {
    return Value::integer(static_cast<std::int64_t>(count_characters(text)) + 1);
  }
  std::int64_t count = 0;
  for (auto at = find_bytes(text, part); at; at = find_bytes(text, part, *at + part.size())) {
    ++count;
  }
  return Value::integer(count);
}

Value str_startswith(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  return affix(self, args, "startswith", false);
}

Value str_endswith(Runtime& /*runtime*/, const Value& self, const CallArgs& args) {
  return affix(self, args, "endswith", true);
}

}  // namespace smol::jinja
