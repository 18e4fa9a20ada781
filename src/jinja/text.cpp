#include "jinja/text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/utf8.h"
#include "jinja/names.h"
#include "jinja/object.h"
#include "jinja/unicode.h"

namespace smol::jinja {
namespace {

// How repr writes one character, given the quote in use; empty: as it is.
std::string escape_in_repr(char32_t c, char quote_char) {
  switch (c) {
    case U'\\':
      return "\\\\";
    case U'\n':
      return "\\n";
    case U'\r':
      return "\\r";
    case U'\t':
      return "\\t";
    default:
      break;
  }
  if (c == static_cast<char32_t>(quote_char)) {
    return std::string("\\") + quote_char;
  }
  if (unicode::has(c, unicode::Property::Printable)) {
    return {};
  }
  constexpr char32_t kByte = 0xFF;
  constexpr char32_t kBmp = 0xFFFF;
  std::array<char, 12> buffer{};
  const char* format = c <= kByte ? "\\x%02x" : (c <= kBmp ? "\\u%04x" : "\\U%08x");
  const int length = std::snprintf(buffer.data(), buffer.size(), format, static_cast<unsigned>(c));
  return {buffer.data(), static_cast<std::size_t>(length)};
}

char quote_for(std::string_view text) noexcept {
  const bool only_single =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  return only_single ? '"' : '\'';
}

void append_string_repr(MarkedString& out, const MarkedString& text) {
  const char quote_char = quote_for(text.bytes());
  const std::string_view mark(&quote_char, 1);
  const std::string& bytes = text.bytes();
  out.append(mark, Origin::Template);
  std::size_t plain = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto step = utf8::next(std::string_view(bytes).substr(at));
    const bool simple = step.length == 1 && step.code_point >= U' ' && step.code_point < 0x7F &&
                        bytes[at] != '\\' && bytes[at] != quote_char;
    const std::string escaped =
        simple ? std::string() : escape_in_repr(step.code_point, quote_char);
    if (!escaped.empty()) {
      out.append(text, plain, at);
      out.append(escaped, text.origin_at(at));
      plain = at + step.length;
    }
    at += step.length;
  }
  out.append(text, plain, bytes.size());
  out.append(mark, Origin::Template);
}

void append_items(Runtime& runtime, MarkedString& out, const List& items, std::string_view open,
                  std::string_view close) {
  out.append(open, Origin::Template);
  bool first = true;
  for (const Value& item : items) {
    if (!first) {
      out.append(", ", Origin::Template);
    }
    first = false;
    append_repr(runtime, out, item);
  }
  out.append(close, Origin::Template);
}

void append_dict_repr(Runtime& runtime, MarkedString& out, const Dict& dict) {
  out.append("{", Origin::Template);
  bool first = true;
  for (const auto& [key, value] : dict) {
    if (!first) {
      out.append(", ", Origin::Template);
    }
    first = false;
    append_repr(runtime, out, key);
    out.append(": ", Origin::Template);
    append_repr(runtime, out, value);
  }
  out.append("}", Origin::Template);
}

// None, True, numbers: the text that str and repr share.
std::string scalar_text(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::None:
      return "None";
    case Value::Kind::Bool:
      return value.boolean() ? "True" : "False";
    case Value::Kind::Int:
      return std::to_string(value.integer());
    case Value::Kind::BigInt:
      return value.big().to_string();
    case Value::Kind::Float:
      return float_repr(value.number());
    default:
      return {};
  }
}

void append_markup_repr(MarkedString& out, const MarkedString& text) {
  out.append("Markup(", Origin::Template);
  append_string_repr(out, text);
  out.append(")", Origin::Template);
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  constexpr int kLastFixedExponent = 16;
  constexpr int kFirstFixedExponent = -4;
  std::array<char, 400> buffer{};
  auto end = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific).ptr;
  std::string scientific(buffer.begin(), end);
  const std::size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  if (exponent < kFirstFixedExponent || exponent >= kLastFixedExponent) {
    return scientific;  // at least two exponent digits, as Python writes them
  }
  end = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::fixed).ptr;
  std::string fixed(buffer.begin(), end);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

std::string quote(std::string_view text) {
  MarkedString out;
  append_string_repr(out, MarkedString(std::string(text), Origin::Input));
  return out.bytes();
}

std::string short_repr(const Value& scalar) {
  if (scalar.is_string()) {
    return quote(scalar.bytes());
  }
  const std::string text = scalar_text(scalar);
  return text.empty() ? "<" + std::string(type_name(scalar)) + ">" : text;
}

void append_repr(Runtime& runtime, MarkedString& out, const Value& value) {
  runtime.budget().step();
  const std::size_t before = out.size();
  switch (value.kind()) {
    case Value::Kind::Missing:
    case Value::Kind::Undefined:
      out.append("Undefined", Origin::Template);
      break;
    case Value::Kind::String:
      runtime.budget().charge(value.bytes().size());
      if (value.is_markup()) {
        append_markup_repr(out, value.text());
      } else {
        append_string_repr(out, value.text());
      }
      break;
    case Value::Kind::Array:
      append_items(runtime, out, value.items(), "[", "]");
      return;
    case Value::Kind::Tuple:
      append_items(runtime, out, value.items(), "(", value.items().size() == 1 ? ",)" : ")");
      return;
    case Value::Kind::Dict:
      append_dict_repr(runtime, out, value.dict());
      return;
    case Value::Kind::Object:
      out.append(value.object().repr(runtime));
      break;
    default:
      out.append(scalar_text(value), Origin::Input);
      break;
  }
  runtime.budget().charge(out.size() - before);
}

void append_text(Runtime& runtime, MarkedString& out, const Value& value) {
  if (value.is_string()) {
    out.append(value.text());
  } else if (!value.is_undefined() && !value.is_missing()) {
    append_repr(runtime, out, value);
  }
}

MarkedString to_text(Runtime& runtime, const Value& value) {
  if (value.is_string()) {
    runtime.budget().charge(value.bytes().size());
    return value.text();
  }
  MarkedString out;
  append_text(runtime, out, value);
  return out;
}

MarkedString to_repr(Runtime& runtime, const Value& value) {
  MarkedString out;
  append_repr(runtime, out, value);
  return out;
}

MarkedString to_ascii(Runtime& runtime, const Value& value) {
  const MarkedString text = to_repr(runtime, value);
  MarkedString out;
  const std::string& bytes = text.bytes();
  for (std::size_t at = 0; at < bytes.size();) {
    const auto step = utf8::next(std::string_view(bytes).substr(at));
    if (step.length == 1) {
      out.append(text, at, at + 1);
    } else {
      std::array<char, 12> buffer{};
      const auto c = static_cast<unsigned>(step.code_point);
      const char* format = c <= 0xFF ? "\\x%02x" : (c <= 0xFFFF ? "\\u%04x" : "\\U%08x");
      std::snprintf(buffer.data(), buffer.size(), format, c);
      out.append(buffer.data(), text.origin_at(at));
    }
    at += step.length;
  }
  return out;
}

Value soft_text(Runtime& runtime, const Value& value) {
  return value.is_string() ? value : runtime.text(to_text(runtime, value));
}

}  // namespace smol::jinja
