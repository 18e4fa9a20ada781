// str.format: replacement fields, as string.Formatter reads them.
#include <algorithm>
#include <string>
#include <string_view>

#include "jinja/attributes.h"
#include "jinja/format_spec.h"
#include "jinja/markup.h"
#include "jinja/strings.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

bool all_digits(std::string_view text) noexcept {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Value index_value(std::string_view digits) {
  return Value::integer(BigInt::from_digits(digits, 10));
}

// {name!conversion:spec}
struct Field {
  std::string_view name;
  std::string_view conversion;
  std::size_t spec_begin, spec_end;  // bytes of the format
};

class FieldFormatter {
 public:
  FieldFormatter(Runtime& runtime, const CallArgs& args, bool markup)
      : runtime_(runtime), args_(args), markup_(markup) {}

  MarkedString format(const MarkedString& text, int depth) {
    if (depth < 0) {
      raise_value("Max string recursion exceeded");
    }
    const std::string_view bytes = text.bytes();
    MarkedString out;
    for (std::size_t at = 0; at < bytes.size();) {
      const char c = bytes[at];
      if ((c == '{' || c == '}') && at + 1 < bytes.size() && bytes[at + 1] == c) {
        out.append(text, at, at + 1);
        at += 2;
      } else if (c == '{') {
        const std::size_t end = field_end(bytes, at + 1);
        append_field(out, text, split_field(bytes, at + 1, end), depth);
        at = end + 1;
      } else if (c == '}') {
        raise_value("Single '}' encountered in format string");
      } else {
        const std::size_t next = std::min(bytes.find_first_of("{}", at), bytes.size());
        out.append(text, at, next);
        at = next;
      }
    }
    runtime_.budget().charge(out.size());
    return out;
  }

 private:
  // The byte of the '}' that closes the field.
  static std::size_t field_end(std::string_view bytes, std::size_t at) {
    if (at >= bytes.size()) {
      raise_value("Single '{' encountered in format string");
    }
    std::size_t nested = 1;
    bool bracket = false;
    for (; at < bytes.size(); ++at) {
      const char c = bytes[at];
      bracket = nested == 1 && c == '[' ? true : (c == ']' ? false : bracket);
      if (bracket) {
        continue;
      }
      nested += c == '{' ? 1 : 0;
      nested -= c == '}' ? 1 : 0;
      if (nested == 0) {
        return at;
      }
    }
    raise_value("expected '}' before end of string");
  }

  static Field split_field(std::string_view bytes, std::size_t begin, std::size_t end) {
    std::size_t at = begin;
    bool bracket = false;
    while (at < end && (bracket || (bytes[at] != '!' && bytes[at] != ':'))) {
      bracket = bytes[at] == '[' ? true : (bytes[at] == ']' ? false : bracket);
      ++at;
    }
    Field field{bytes.substr(begin, at - begin), {}, end, end};
    if (at < end && bytes[at] == '!') {
      const std::size_t colon = std::min(bytes.find(':', at), end);
      field.conversion = bytes.substr(at + 1, colon - at - 1);
      if (field.conversion.size() != 1) {
        raise_value("expected ':' after conversion specifier");
      }
      at = colon;
    }
    field.spec_begin = std::min(at + 1, end);
    return field;
  }

  void append_field(MarkedString& out, const MarkedString& text, const Field& field, int depth) {
    runtime_.budget().step();
    Value value = lookup(field.name);
    const MarkedString spec = format(text.substr(field.spec_begin, field.spec_end), depth - 1);
    if (!field.conversion.empty()) {
      value = convert(value, field.conversion.front());
    }
    if (!markup_) {
      out.append(format_value(runtime_, value, spec));
      return;
    }
    if (value.is_markup()) {
      if (!spec.empty()) {
        raise_value("Unsupported format specification for Markup.");
      }
      out.append(value.text());
      return;
    }
    out.append(escape_text(runtime_, format_value(runtime_, value, spec)));
  }

  Value convert(const Value& value, char conversion) {
    switch (conversion) {
      case 's':
        return runtime_.text(to_text(runtime_, value));
      case 'r':
        return runtime_.text(to_repr(runtime_, value));
      case 'a':
        return runtime_.text(to_ascii(runtime_, value));
      default:
        raise_value(std::string("Unknown conversion specifier ") + conversion);
    }
  }

  Value first_value(std::string_view name, bool whole) {
    if (name.empty() && whole) {
      if (manual_) {
        raise_value("cannot switch from manual field specification to automatic field numbering");
      }
      return positional(automatic_++);
    }
    if (all_digits(name)) {
      if (whole && automatic_ > 0) {
        raise_value("cannot switch from manual field specification to automatic field numbering");
      }
      manual_ = manual_ || whole;
      const auto index = BigInt::from_digits(name, 10).to_int64();
      return positional(static_cast<std::size_t>(index.value_or(-1)));
    }
    for (const auto& [key, value] : args_.keyword) {
      if (key == name) {
        return value;
      }
    }
    raise(FaultKind::Lookup, quote(name));
  }

  Value positional(std::size_t index) {
    if (index >= args_.positional.size()) {
      raise(FaultKind::Lookup, "Replacement index " + std::to_string(index) +
                                   " out of range for positional args tuple");
    }
    return args_.positional[index];
  }

  Value lookup(std::string_view name) {
    std::size_t at = std::min(name.find_first_of(".["), name.size());
    Value value = first_value(name.substr(0, at), at == name.size());
    while (at < name.size()) {
      if (name[at] == '.') {
        const std::size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        value = get_attribute(runtime_, value, part(name, at + 1, end));
        at = end;
      } else if (name[at] == '[') {
        const std::size_t end = name.find(']', at);
        if (end == std::string_view::npos) {
          raise_value("Missing ']' in format string");
        }
        const std::string_view key = part(name, at + 1, end);
        value = get_item(
            runtime_, value,
            all_digits(key) ? index_value(key) : runtime_.text(std::string(key), Origin::Input));
        at = end + 1;
      } else {
        raise_value("Only '.' or '[' may follow ']' in format field specifier");
      }
    }
    return value;
  }

  static std::string_view part(std::string_view name, std::size_t begin, std::size_t end) {
    if (begin == end) {
      raise_value("Empty attribute in format string");
    }
    return name.substr(begin, end - begin);
  }

  Runtime& runtime_;
  const CallArgs& args_;
  bool markup_;
  bool manual_ = false;
  std::size_t automatic_ = 0;
};

}  // namespace

Value format_fields(Runtime& runtime, const Value& format, const CallArgs& args) {
  constexpr int kNesting = 2;
  FieldFormatter formatter(runtime, args, format.is_markup());
  MarkedString text = formatter.format(format.text(), kNesting);
  return runtime.text(std::move(text), format.is_markup());
}

}  // namespace smol::jinja
