// Filters for HTML and URLs.
#include <algorithm>
#include <string>

#include "jinja/arguments.h"
#include "jinja/attributes.h"
#include "jinja/filter_functions.h"
#include "jinja/iteration.h"
#include "jinja/markup.h"
#include "jinja/methods.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"
#include "jinja/text.h"

namespace smol::jinja::filters {
namespace {

// Everything from each `open` to the next `close`, dropped.
MarkedString without_spans(const MarkedString& text, std::string_view open,
                           std::string_view close) {
  MarkedString out;
  std::size_t at = 0;
  for (;;) {
    const auto begin = find_bytes(text.bytes(), open, at);
    const auto end = begin ? find_bytes(text.bytes(), close, *begin) : std::nullopt;
    if (!end) {
      out.append(text, at, text.size());
      return out;
    }
    out.append(text, at, *begin);
    at = *end + close.size();
  }
}

bool stays_in_url(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '~';
}

void append_quoted(Runtime& runtime, MarkedString& out, const Value& value, bool for_query) {
  const MarkedString text = to_text(runtime, value);
  runtime.budget().charge(text.size(), 3);
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text.bytes()[i];
    if (stays_in_url(c) || (c == '/' && !for_query)) {
      out.append(text, i, i + 1);
    } else if (c == ' ' && for_query) {
      out.append("+", text.origin_at(i));
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append(std::string("%") + kHex[byte >> 4U] + kHex[byte & 0xFU], text.origin_at(i));
    }
  }
}

}  // namespace

Value escape(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "escape");
  return smol::jinja::escape(runtime, input);
}

Value forceescape(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_forceescape");
  return runtime.text(escape_text(runtime, to_text(runtime, input)), true);
}

Value safe(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_mark_safe");
  return as_markup(runtime, input);
}

Value striptags(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_striptags");
  MarkedString text = without_spans(to_text(runtime, input), "<!--", "-->");
  text = without_spans(text, "<", ">");
  MarkedString out;
  for (const MarkedString& word : split_words(runtime, text)) {
    out.append(out.empty() ? "" : " ", Origin::Template);
    out.append(word);
  }
  return runtime.text(unescape(runtime, out));
}

Value xmlattr(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_xmlattr", {"autospace"}});
  const bool autospace = !args.has(0) || truthy(runtime, args[0]);
  const List pairs = to_list(runtime, smol::jinja::call_method(runtime, input, "items", {}));
  MarkedString out;
  for (const Value& pair : pairs) {
    const Value& key = pair.items()[0];
    const Value& value = pair.items()[1];
    if (value.is_none() || value.is_undefined()) {
      continue;
    }
    const std::string& name = require_text(key, "attribute name").bytes();
    if (name.find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      raise_value("Invalid character in attribute name: " + quote(name));
    }
    out.append(out.empty() && !autospace ? "" : " ", Origin::Template);
    out.append(smol::jinja::escape(runtime, key).text());
    out.append("=\"", Origin::Template);
    out.append(smol::jinja::escape(runtime, value).text());
    out.append("\"", Origin::Template);
  }
  return runtime.text(std::move(out), runtime.autoescape);
}

Value urlencode(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_urlencode");
  MarkedString out;
  if (input.is_string() || !is_iterable(input)) {
    append_quoted(runtime, out, input, false);
    return runtime.text(std::move(out));
  }
  const Value pairs =
      input.is(Value::Kind::Dict) ? smol::jinja::call_method(runtime, input, "items", {}) : input;
  bool first = true;
  for (const Value& pair : to_list(runtime, pairs)) {
    const List items = to_list(runtime, pair);
    if (items.size() != 2) {
      raise_value("expected pairs of a name and a value");
    }
    out.append(first ? "" : "&", Origin::Template);
    first = false;
    append_quoted(runtime, out, items[0], true);
    out.append("=", Origin::Template);
    append_quoted(runtime, out, items[1], true);
  }
  return runtime.text(std::move(out));
}

}  // namespace smol::jinja::filters
