#include "jinja/markup.h"

#include <string>
#include <string_view>

#include "base/utf8.h"
#include "jinja/html_entities.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

std::string_view replacement(char c) noexcept {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

// The character of "#65", "#x41" or "amp"; 0 if it is none.
char32_t entity(std::string_view name) {
  if (name.empty() || name.front() != '#') {
    return html_entity(name);
  }
  name.remove_prefix(1);
  const bool hex = !name.empty() && (name.front() == 'x' || name.front() == 'X');
  name.remove_prefix(hex ? 1 : 0);
  char32_t code = 0;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    const auto lower = static_cast<char>(c | 0x20);
    if (!digit && !(hex && lower >= 'a' && lower <= 'f')) {
      return 0;
    }
    const auto value = static_cast<char32_t>(digit ? c - '0' : lower - 'a' + 10);
    code = code * (hex ? 16U : 10U) + value;
    if (code > 0x10FFFF) {
      return utf8::kReplacement;
    }
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return name.empty() ? U'\0' : (code == 0 || surrogate ? utf8::kReplacement : code);
}

}  // namespace

MarkedString escape_text(Runtime& runtime, const MarkedString& text) {
  const std::string& bytes = text.bytes();
  MarkedString out;
  std::size_t plain = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::string_view instead = replacement(bytes[at]);
    if (!instead.empty()) {
      out.append(text, plain, at);
      out.append(instead, text.origin_at(at));
      plain = at + 1;
    }
  }
  out.append(text, plain, bytes.size());
  runtime.budget().charge(out.size());
  return out;
}

Value escape(Runtime& runtime, const Value& value) {
  if (value.is_markup()) {
    return value;
  }
  if (value.is_string()) {
    return runtime.text(escape_text(runtime, value.text()), true);
  }
  return runtime.text(escape_text(runtime, to_text(runtime, value)), true);
}

Value as_markup(Runtime& runtime, const Value& value) {
  if (value.is_string()) {
    return Value::string(value.shared_text(), true);
  }
  return runtime.text(to_text(runtime, value), true);
}

Value as_plain(const Value& string) {
  return Value::string(string.shared_text(), false);
}

MarkedString unescape(Runtime& runtime, const MarkedString& text) {
  constexpr std::size_t kLongestName = 32;
  const std::string& bytes = text.bytes();
  runtime.budget().charge(bytes.size());
  MarkedString out;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t semicolon = bytes[at] == '&' ? bytes.find(';', at) : std::string::npos;
    char32_t c = 0;
    if (semicolon != std::string::npos && semicolon - at <= kLongestName) {
      c = entity(std::string_view(bytes).substr(at + 1, semicolon - at - 1));
    }
    if (c == 0) {
      out.append(text, at, at + 1);
      ++at;
      continue;
    }
    std::string encoded;
    utf8::append(encoded, c);
    out.append(encoded, text.origin_at(at));
    at = semicolon + 1;
  }
  return out;
}

}  // namespace smol::jinja
