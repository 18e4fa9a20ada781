// tojson and pprint.
#include <algorithm>
#include <string>

#include "jinja/arguments.h"
#include "jinja/filter_functions.h"
#include "jinja/iteration.h"
#include "jinja/json_output.h"
#include "jinja/operators.h"
#include "jinja/pretty.h"
#include "jinja/text.h"

namespace smol::jinja::filters {
namespace {

MarkedString indent_text(Runtime& runtime, const Value& indent) {
  if (indent.is_string()) {
    return indent.text();
  }
  const std::int64_t width = std::max<std::int64_t>(to_index(indent), 0);
  runtime.budget().charge(static_cast<std::uint64_t>(width));
  return {std::string(static_cast<std::size_t>(width), ' '), Origin::Template};
}

void set_separators(Runtime& runtime, JsonStyle& style, const Value& separators) {
  const List pair = to_list(runtime, separators);
  if (pair.size() != 2) {
    raise_value("expected two separators");
  }
  style.item_separator = require_text(pair[0], "separator");
  style.key_separator = require_text(pair[1], "separator");
}

// Jinja2's own filter, for HTML: sorted keys, nothing that could end a script.
Value html_json(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_tojson", {"indent"}});
  JsonStyle style;
  style.ensure_ascii = true;
  style.sort_keys = true;
  if (args.given(0)) {
    style.indent = indent_text(runtime, args[0]);
    style.item_separator = MarkedString(",", Origin::Template);
  }
  const MarkedString json = to_json(runtime, input, style);
  MarkedString out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json.bytes()[i];
    const std::string_view escaped = c == '<'    ? "\\u003c"
                                     : c == '>'  ? "\\u003e"
                                     : c == '&'  ? "\\u0026"
                                     : c == '\'' ? "\\u0027"
                                                 : "";
    if (escaped.empty()) {
      out.append(json, i, i + 1);
    } else {
      out.append(escaped, json.origin_at(i));
    }
  }
  return runtime.text(std::move(out), true);
}

}  // namespace

Value tojson(Runtime& runtime, const Value& input, const CallArgs& call) {
  if (runtime.autoescape) {
    return html_json(runtime, input, call);
  }
  const Bound args(call, {"tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}});
  JsonStyle style;
  style.ensure_ascii = args.has(0) && truthy(runtime, args[0]);
  style.sort_keys = args.has(3) && truthy(runtime, args[3]);
  if (args.given(1)) {
    style.indent = indent_text(runtime, args[1]);
    style.item_separator = MarkedString(",", Origin::Template);
  }
  if (args.given(2)) {
    set_separators(runtime, style, args[2]);
  }
  return runtime.text(to_json(runtime, input, style));
}

Value pprint(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_pprint");
  return runtime.text(pretty(runtime, input));
}

}  // namespace smol::jinja::filters
