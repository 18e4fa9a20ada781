// Filters on text.
#include <algorithm>
#include <string>

#include "jinja/arguments.h"
#include "jinja/attribute_path.h"
#include "jinja/filter_functions.h"
#include "jinja/iteration.h"
#include "jinja/markup.h"
#include "jinja/methods.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/printf_format.h"
#include "jinja/string_case.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

namespace smol::jinja::filters {
namespace {

// A string method as a filter without arguments.
Value apply_method(Runtime& runtime, const Value& input, const CallArgs& args,
                   std::string_view name) {
  bind_nothing(args, name);
  return call_method(runtime, *find_string_method(name), soft_text(runtime, input), {});
}

bool starts_word(char32_t c) noexcept {
  return c == U'-' || c == U'(' || c == U'{' || c == U'[' || c == U'<' ||
         unicode::has(c, unicode::Property::Space);
}

// A word of the title filter: first character upper, the rest lower.
void append_title_word(Runtime& runtime, MarkedString& out, const MarkedString& word) {
  const std::size_t first = byte_of_character(word.bytes(), 1);
  out.append(upper_text(runtime, word.substr(0, first)));
  out.append(lower_text(runtime, word.substr(first, word.size())));
}

// Strings of two kinds joined: as + of Python does it.
Value plus_text(Runtime& runtime, const Value& a, const Value& b) {
  return binary(runtime, BinaryOp::Add, a, b);
}

Value join_escaped(Runtime& runtime, const List& items, const Value& separator) {
  const bool any =
      separator.is_markup() ||
      std::any_of(items.begin(), items.end(), [](const Value& item) { return item.is_markup(); });
  const Value between =
      any ? smol::jinja::escape(runtime, separator) : runtime.text(to_text(runtime, separator));
  MarkedString out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) {
      out.append(between.text());
    }
    const Value text = soft_text(runtime, items[i]);
    out.append(any ? smol::jinja::escape(runtime, text).text() : text.text());
    runtime.budget().charge(between.bytes().size() + text.bytes().size());
  }
  return runtime.text(std::move(out), any);
}

}  // namespace

Value upper(Runtime& runtime, const Value& input, const CallArgs& args) {
  return apply_method(runtime, input, args, "upper");
}

Value lower(Runtime& runtime, const Value& input, const CallArgs& args) {
  return apply_method(runtime, input, args, "lower");
}

Value capitalize(Runtime& runtime, const Value& input, const CallArgs& args) {
  return apply_method(runtime, input, args, "capitalize");
}

Value title(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_title");
  const Value kept = soft_text(runtime, input);
  const MarkedString& text = kept.text();
  MarkedString out;
  std::size_t begin = 0;
  bool separators = false;
  runtime.budget().charge(text.size(), sizeof(Character));
  for (const Character& c : characters(text.bytes())) {
    if (starts_word(c.code_point) != separators) {
      append_title_word(runtime, out, text.substr(begin, c.begin));
      begin = c.begin;
      separators = !separators;
    }
  }
  append_title_word(runtime, out, text.substr(begin, text.size()));
  return runtime.text(std::move(out));
}

Value trim(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_trim", {"chars"}});
  const Value text = soft_text(runtime, input);
  const MarkedString* chars = args.given(0) ? &require_text(args[0], "strip arg") : nullptr;
  MarkedString stripped = strip_text(text.text(), Side::Both, chars);
  return stripped.size() == text.bytes().size()
             ? text
             : runtime.text(std::move(stripped), text.is_markup());
}

Value replace(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_replace", {"old", "new", "count"}, 2});
  const std::int64_t count = args.given(2) ? to_index(args[2]) : -1;
  if (!runtime.autoescape) {
    const MarkedString text = to_text(runtime, input);
    return runtime.text(
        replace_text(runtime, text, to_text(runtime, args[0]), to_text(runtime, args[1]), count));
  }
  const bool escapes = args[0].is_markup() || (args[1].is_markup() && !input.is_markup());
  const Value text = escapes ? smol::jinja::escape(runtime, input) : soft_text(runtime, input);
  const Value now = soft_text(runtime, args[1]);
  return runtime.text(
      replace_text(runtime, text.text(), to_text(runtime, args[0]),
                   text.is_markup() ? smol::jinja::escape(runtime, now).text() : now.text(), count),
      text.is_markup());
}

Value center(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_center", {"width"}});
  constexpr std::int64_t kDefault = 80;
  const Value text = soft_text(runtime, input);
  return runtime.text(center_text(runtime, text.text(), args.has(0) ? to_index(args[0]) : kDefault,
                                  MarkedString(" ", Origin::Template)),
                      text.is_markup());
}

Value indent(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_indent", {"width", "first", "blank"}});
  if (input.is_undefined()) {
    fail_undefined(input);
  }
  require_text(input, "indent");
  MarkedString indention;
  if (args.has(0) && args[0].is_string()) {
    indention = input.is_markup() ? as_markup(runtime, args[0]).text() : args[0].text();
  } else {
    const std::int64_t width = args.has(0) ? to_index(args[0]) : 4;
    runtime.budget().charge(static_cast<std::uint64_t>(std::max<std::int64_t>(width, 0)));
    indention =
        MarkedString(std::string(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' '),
                     Origin::Template);
  }
  const bool first = args.has(1) && truthy(runtime, args[1]);
  const bool blank = args.has(2) && truthy(runtime, args[2]);
  MarkedString text = input.text();
  text.append("\n", Origin::Template);  // so that a last empty line counts
  MarkedString out;
  bool any = false;
  for (const MarkedString& line : split_lines(runtime, text, false)) {
    if (any) {
      out.append("\n", Origin::Template);
    }
    if (any ? blank || !line.empty() : first) {
      runtime.budget().charge(indention.size());
      out.append(indention);
    }
    out.append(line);
    any = true;
  }
  return runtime.text(std::move(out), input.is_markup());
}

Value truncate(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_truncate", {"length", "killwords", "end", "leeway"}});
  constexpr std::int64_t kLength = 255;
  constexpr std::int64_t kLeeway = 5;
  const std::int64_t length = args.has(0) ? to_index(args[0]) : kLength;
  const Value end = args.has(2) ? args[2] : Value::string("...", Origin::Template);
  const std::int64_t leeway = args.given(3) ? to_index(args[3]) : kLeeway;
  const auto end_length = static_cast<std::int64_t>(smol::jinja::length(runtime, end));
  if (length < end_length || leeway < 0) {
    raise_value("expected length >= " + std::to_string(end_length) + ", got " +
                std::to_string(length));
  }
  const auto have = static_cast<std::int64_t>(smol::jinja::length(runtime, input));
  if (have - leeway <= length) {
    return input;
  }
  require_text(input, "truncate");
  const std::size_t cut =
      byte_of_character(input.bytes(), static_cast<std::size_t>(length - end_length));
  MarkedString kept = input.text().substr(0, cut);
  const bool killwords = args.has(1) && truthy(runtime, args[1]);
  const std::size_t space = killwords ? std::string::npos : kept.bytes().rfind(' ');
  if (space != std::string::npos) {
    kept = kept.substr(0, space);
  }
  return plus_text(runtime, runtime.text(std::move(kept), input.is_markup()), end);
}

Value wordcount(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_wordcount");
  std::int64_t count = 0;
  bool inside = false;
  for (const char32_t c : decode(to_text(runtime, input).bytes())) {
    const bool word = unicode::is_word(c);
    count += word && !inside ? 1 : 0;
    inside = word;
  }
  return Value::integer(count);
}

Value string(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "soft_str");
  return soft_text(runtime, input);
}

Value format(Runtime& runtime, const Value& input, const CallArgs& args) {
  if (!args.positional.empty() && !args.keyword.empty()) {
    raise_type("can't handle positional and keyword arguments at the same time");
  }
  const Value text = soft_text(runtime, input);
  if (args.keyword.empty()) {
    return format_printf(runtime, text, runtime.tuple(args.positional));
  }
  Dict fields;
  for (const auto& [key, value] : args.keyword) {
    fields.set(key, value, Origin::Template);
  }
  return format_printf(runtime, text, runtime.dict(std::move(fields)));
}

Value join(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_join", {"d", "attribute"}});
  const Value separator = args.has(0) ? args[0] : Value::string({}, Origin::Template);
  const AttributePath path(args.given(1) ? args[1] : Value::none());
  List items;
  MarkedString out;
  const MarkedString between = to_text(runtime, separator);
  Iteration iteration(runtime, input);
  bool first = true;
  while (auto item = iteration.next(runtime)) {
    Value value = path.get(runtime, *item);
    if (runtime.autoescape) {
      runtime.budget().charge(sizeof(Value));
      items.push_back(std::move(value));
      continue;
    }
    if (!first) {
      runtime.budget().charge(between.size());
      out.append(between);
    }
    first = false;
    runtime.budget().charge(value.is_string() ? value.bytes().size() : 0);
    append_text(runtime, out, value);
  }
  return runtime.autoescape ? join_escaped(runtime, items, separator)
                            : runtime.text(std::move(out));
}

}  // namespace smol::jinja::filters
