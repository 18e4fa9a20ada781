// Methods of str that build a new string.
#include <algorithm>
#include <string>

#include "base/utf8.h"
#include "jinja/arguments.h"
#include "jinja/attributes.h"
#include "jinja/format_spec.h"
#include "jinja/iteration.h"
#include "jinja/markup.h"
#include "jinja/names.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"

namespace smol::jinja {
namespace {

void append_copies(Runtime& runtime, MarkedString& out, const MarkedString& text,
                   std::size_t count) {
  runtime.budget().charge(count, text.size());
  for (std::size_t i = 0; i < count; ++i) {
    out.append(text);
  }
}

std::size_t missing_width(const MarkedString& text, std::int64_t width) {
  const auto have = static_cast<std::int64_t>(count_characters(text.bytes()));
  return width > have ? static_cast<std::size_t>(width - have) : 0;
}

struct Padding {
  std::int64_t width;
  MarkedString fill;
};

Padding padding_arguments(Runtime& runtime, const Value& self, const CallArgs& call,
                          std::string_view name) {
  const Bound args(call, {name, {"width", "fillchar"}, 1, true});
  Padding padding{to_index(args[0]), MarkedString(" ", Origin::Template)};
  if (args.has(1)) {
    require_text(args[1], "the fill character");
    padding.fill = self.is_markup() ? escape(runtime, args[1]).text() : args[1].text();
    if (count_characters(padding.fill.bytes()) != 1) {
      raise_type("The fill character must be exactly one character long");
    }
  }
  return padding;
}

// Repeated insertion: "abc".replace("", "-").
MarkedString insert_everywhere(Runtime& runtime, const MarkedString& text, const MarkedString& now,
                               std::size_t most) {
  const std::vector<Character> all = characters(text.bytes());
  runtime.budget().charge(all.size(), sizeof(Character));
  MarkedString out;
  for (std::size_t i = 0; i <= all.size(); ++i) {
    append_copies(runtime, out, now, i < most ? 1 : 0);
    if (i < all.size()) {
      out.append(text, all[i].begin, all[i].end);
    }
  }
  return out;
}

// What str.translate puts in place of a character.
void append_translated(Runtime& runtime, MarkedString& out, const MarkedString& text,
                       const Character& c, const Value& table) {
  const Value key = Value::integer(static_cast<std::int64_t>(c.code_point));
  const Value* found = nullptr;
  Value item;
  if (table.is(Value::Kind::Dict)) {
    found = table.dict().find(key, runtime.budget());
  } else if (table.is_sequence() && c.code_point < table.items().size()) {
    item = table.items()[c.code_point];
    found = &item;
  }
  if (found == nullptr) {
    out.append(text, c.begin, c.end);
  } else if (found->is_string()) {
    runtime.budget().charge(found->bytes().size());
    out.append(found->text());
  } else if (found->is_integral()) {
    const std::int64_t code = to_index(*found);
    constexpr std::int64_t kLast = 0x10FFFF;
    if (code < 0 || code > kLast) {
      raise_value("character mapping must be in range(0x110000)");
    }
    out.append(encode(std::u32string(1, static_cast<char32_t>(code))), Origin::Input);
  } else if (!found->is_none()) {
    raise_type("character mapping must return integer, None or str");
  }
}

}  // namespace

MarkedString replace_text(Runtime& runtime, const MarkedString& text, const MarkedString& old,
                          const MarkedString& now, std::int64_t count) {
  const std::size_t most =
      count < 0 ? static_cast<std::size_t>(-1) : static_cast<std::size_t>(count);
  runtime.budget().charge(text.size());
  if (old.empty()) {
    return insert_everywhere(runtime, text, now, most);
  }
  MarkedString out;
  std::size_t at = 0;
  for (std::size_t done = 0; done < most; ++done) {
    const auto found = find_bytes(text.bytes(), old.bytes(), at);
    if (!found) {
      break;
    }
    runtime.budget().charge(now.size());
    out.append(text, at, *found);
    out.append(now);
    at = *found + old.size();
  }
  out.append(text, at, text.size());
  return out;
}

MarkedString center_text(Runtime& runtime, const MarkedString& text, std::int64_t width,
                         const MarkedString& fill) {
  const std::size_t missing = missing_width(text, width);
  const auto odd = static_cast<std::size_t>(width) & missing & 1U;
  const std::size_t left = missing / 2 + odd;
  MarkedString out;
  append_copies(runtime, out, fill, left);
  out.append(text);
  append_copies(runtime, out, fill, missing - left);
  return out;
}

Value str_join(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"join", {"iterable"}, 1, true});
  if (!is_iterable(args[0])) {
    raise_type("can only join an iterable");
  }
  MarkedString out;
  Iteration items(runtime, args[0]);
  std::size_t index = 0;
  while (const auto item = items.next(runtime)) {
    if (index > 0) {
      append_copies(runtime, out, self.text(), 1);
    }
    const Value part = self.is_markup() ? escape(runtime, *item) : *item;
    if (!part.is_string()) {
      raise_type("sequence item " + std::to_string(index) + ": expected str instance, " +
                 std::string(type_name(part)) + " found");
    }
    append_copies(runtime, out, part.text(), 1);
    ++index;
  }
  return runtime.text(std::move(out));
}

Value str_replace(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"replace", {"old", "new", "count"}, 2, true});
  const MarkedString& old = require_text(args[0], "replace() argument 1");
  const MarkedString& now = require_text(args[1], "replace() argument 2");
  const std::int64_t count = args.has(2) ? to_index(args[2]) : -1;
  return runtime.text(replace_text(
      runtime, self.text(), old, self.is_markup() ? escape(runtime, args[1]).text() : now, count));
}

Value str_center(Runtime& runtime, const Value& self, const CallArgs& args) {
  const Padding padding = padding_arguments(runtime, self, args, "center");
  return runtime.text(center_text(runtime, self.text(), padding.width, padding.fill));
}

Value str_ljust(Runtime& runtime, const Value& self, const CallArgs& args) {
  const Padding padding = padding_arguments(runtime, self, args, "ljust");
  MarkedString out = self.text();
  append_copies(runtime, out, padding.fill, missing_width(self.text(), padding.width));
  return runtime.text(std::move(out));
}

Value str_rjust(Runtime& runtime, const Value& self, const CallArgs& args) {
  const Padding padding = padding_arguments(runtime, self, args, "rjust");
  MarkedString out;
  append_copies(runtime, out, padding.fill, missing_width(self.text(), padding.width));
  out.append(self.text());
  return runtime.text(std::move(out));
}

Value str_zfill(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"zfill", {"width"}, 1, true});
  const MarkedString& text = self.text();
  const bool sign = !text.empty() && (text.bytes()[0] == '-' || text.bytes()[0] == '+');
  MarkedString out = text.substr(0, sign ? 1 : 0);
  append_copies(runtime, out, MarkedString("0", Origin::Template),
                missing_width(text, to_index(args[0])));
  out.append(text, sign ? 1 : 0, text.size());
  return runtime.text(std::move(out));
}

Value str_expandtabs(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"expandtabs", {"tabsize"}});
  constexpr std::int64_t kDefault = 8;
  const std::int64_t size = args.has(0) ? to_index(args[0]) : kDefault;
  MarkedString out;
  std::int64_t column = 0;
  for (const Character& c : characters(self.bytes())) {
    if (c.code_point == U'\t') {
      const std::int64_t spaces = size > 0 ? size - column % size : 0;
      append_copies(runtime, out, MarkedString(" ", self.text().origin_at(c.begin)),
                    static_cast<std::size_t>(spaces));
      column += spaces;
      continue;
    }
    out.append(self.text(), c.begin, c.end);
    column = c.code_point == U'\n' || c.code_point == U'\r' ? 0 : column + 1;
  }
  return runtime.text(std::move(out));
}

Value str_translate(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"translate", {"table"}, 1, true});
  MarkedString out;
  for (const Character& c : characters(self.bytes())) {
    append_translated(runtime, out, self.text(), c, args[0]);
  }
  return runtime.text(std::move(out));
}

Value str_encode(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"encode", {"encoding", "errors"}});
  std::string encoding = args.has(0) ? require_text(args[0], "encoding").bytes() : "utf-8";
  std::transform(encoding.begin(), encoding.end(), encoding.begin(), [](char c) {
    return c == '_' ? '-' : (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  });
  if (encoding != "utf-8" && encoding != "utf8") {
    raise(FaultKind::Lookup, "unknown encoding: " + encoding);
  }
  return make_bytes(runtime, self.text());
}

Value str_format(Runtime& runtime, const Value& self, const CallArgs& args) {
  return format_fields(runtime, self, args);
}

Value str_format_map(Runtime& runtime, const Value& self, const CallArgs& call) {
  const Bound args(call, {"format_map", {"mapping"}, 1, true});
  if (!args[0].is(Value::Kind::Dict)) {
    raise_type("format_map() needs a mapping");
  }
  CallArgs fields;
  for (const auto& [key, value] : args[0].dict()) {
    if (key.is_string()) {
      fields.keyword.emplace_back(key.bytes(), value);
    }
  }
  return format_fields(runtime, self, fields);
}

}  // namespace smol::jinja
