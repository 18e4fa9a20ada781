#include "jinja/json_output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "base/utf8.h"
#include "jinja/compare.h"
#include "jinja/names.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

using Kind = Value::Kind;

std::string unicode_escape(char16_t code) {
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "\\u%04x", static_cast<unsigned>(code));
  return buffer.data();
}

// How one character is written; empty: as it is.
std::string escape_character(char32_t c, bool ensure_ascii) {
  static constexpr std::string_view kFrom = "\"\\\n\r\t\f\b";
  static constexpr std::string_view kTo = "\"\\nrtfb";
  const std::size_t simple = c < 0x80 ? kFrom.find(static_cast<char>(c)) : std::string_view::npos;
  if (simple != std::string_view::npos) {
    return std::string("\\") + kTo[simple];
  }
  if (c < U' ') {
    return unicode_escape(static_cast<char16_t>(c));
  }
  if (c < 0x7F || !ensure_ascii) {
    return {};
  }
  if (c <= 0xFFFF) {
    return unicode_escape(static_cast<char16_t>(c));
  }
  const auto above = static_cast<unsigned>(c) - 0x10000U;
  return unicode_escape(static_cast<char16_t>(0xD800U + (above >> 10U))) +
         unicode_escape(static_cast<char16_t>(0xDC00U + (above & 0x3FFU)));
}

std::string float_json(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  if (std::isinf(value)) {
    return value > 0 ? "Infinity" : "-Infinity";
  }
  return float_repr(value);
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  MarkedString write(const Value& value) {
    write_value(value, 0);
    return std::move(out_);
  }

 private:
  void structural(std::string_view text) { out_.append(text, Origin::Template); }

  void scalar(std::string_view text) {
    runtime_.budget().charge(text.size());
    out_.append(text, Origin::Input);
  }

  void write_value(const Value& value, std::size_t level) {
    runtime_.budget().step();
    runtime_.budget().charge(4);
    switch (value.kind()) {
      case Kind::None:
        scalar("null");
        return;
      case Kind::Bool:
        scalar(value.boolean() ? "true" : "false");
        return;
      case Kind::Int:
        scalar(std::to_string(value.integer()));
        return;
      case Kind::BigInt:
        scalar(value.big().to_string());
        return;
      case Kind::Float:
        scalar(float_json(value.number()));
        return;
      case Kind::String:
        write_string(value.text());
        return;
      case Kind::Array:
      case Kind::Tuple:
        write_list(value.items(), level);
        return;
      case Kind::Dict:
        write_dict(value.dict(), level);
        return;
      default:
        raise_type("Object of type " + std::string(type_name(value)) + " is not JSON serializable");
    }
  }

  void write_string(const MarkedString& text) {
    const std::string& bytes = text.bytes();
    structural("\"");
    std::size_t plain = 0;
    const std::size_t before = out_.size();
    for (std::size_t at = 0; at < bytes.size();) {
      const auto step = utf8::next(std::string_view(bytes).substr(at));
      const std::string escaped = escape_character(step.code_point, style_.ensure_ascii);
      if (!escaped.empty()) {
        out_.append(text, plain, at);
        out_.append(escaped, text.origin_at(at));
        plain = at + step.length;
      }
      at += step.length;
    }
    out_.append(text, plain, bytes.size());
    structural("\"");
    runtime_.budget().charge(out_.size() - before);
  }

  void line_break(std::size_t level) {
    if (!style_.indent) {
      return;
    }
    structural("\n");
    runtime_.budget().charge(level, style_.indent->size());
    for (std::size_t i = 0; i < level; ++i) {
      out_.append(*style_.indent);
    }
  }

  // Between two items; before the first one only the line break.
  void separate(bool& first, std::size_t level) {
    if (!first) {
      runtime_.budget().charge(style_.item_separator.size());
      out_.append(style_.item_separator);
    }
    first = false;
    line_break(level);
  }

  void write_list(const List& items, std::size_t level) {
    structural("[");
    bool first = true;
    for (const Value& item : items) {
      separate(first, level + 1);
      write_value(item, level + 1);
    }
    if (!items.empty()) {
      line_break(level);
    }
    structural("]");
  }

  void write_dict(const Dict& dict, std::size_t level) {
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict) {
      entries.push_back(&entry);
    }
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        return ordered(runtime_.budget(), Ordering::Less, a->first, b->first);
      });
    }
    structural("{");
    bool first = true;
    for (const Dict::Entry* entry : entries) {
      separate(first, level + 1);
      write_key(entry->first);
      out_.append(style_.key_separator);
      write_value(entry->second, level + 1);
    }
    if (!entries.empty()) {
      line_break(level);
    }
    structural("}");
  }

  void write_key(const Value& key) {
    switch (key.kind()) {
      case Kind::String:
        write_string(key.text());
        return;
      case Kind::Float:
        structural("\"");
        scalar(float_json(key.number()));
        break;
      case Kind::Bool:
      case Kind::None:
      case Kind::Int:
      case Kind::BigInt:
        structural("\"");
        write_value(key, 0);
        break;
      default:
        raise_type("keys must be str, int, float, bool or None, not " +
                   std::string(type_name(key)));
    }
    structural("\"");
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  MarkedString out_;
};

}  // namespace

MarkedString to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  return JsonWriter(runtime, style).write(value);
}

}  // namespace smol::jinja
