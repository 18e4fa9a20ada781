#include "jinja/format_spec.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "base/utf8.h"
#include "jinja/names.h"
#include "jinja/number_format.h"
#include "jinja/operators.h"
#include "jinja/strings.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

struct Spec {
  std::string fill = " ";
  Origin fill_origin = Origin::Template;
  char align = '\0';  // < > = ^
  char sign = '\0';   // + - space
  bool negative_zero_to_positive = false;
  bool alternate = false;
  std::optional<std::size_t> width;
  char grouping = '\0';  // , _
  std::optional<int> precision;
  char type = '\0';
};

bool is_align(char c) noexcept {
  return c == '<' || c == '>' || c == '=' || c == '^';
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

class SpecParser {
 public:
  explicit SpecParser(const MarkedString& text) : text_(text), bytes_(text.bytes()) {}

  Spec parse() {
    parse_alignment();
    if (at_ < bytes_.size() && (peek() == '+' || peek() == '-' || peek() == ' ')) {
      spec_.sign = take();
    }
    spec_.negative_zero_to_positive = accept('z');
    spec_.alternate = accept('#');
    if (!explicit_fill_ && accept('0')) {
      spec_.fill = "0";
      spec_.align = spec_.align == '\0' ? '0' : spec_.align;
    }
    if (is_digit(peek())) {
      spec_.width = number();
    }
    if (peek() == ',' || peek() == '_') {
      spec_.grouping = take();
    }
    if (accept('.')) {
      if (!is_digit(peek())) {
        raise_value("Format specifier missing precision");
      }
      spec_.precision = static_cast<int>(number());
    }
    if (at_ < bytes_.size()) {
      spec_.type = take();
    }
    if (at_ < bytes_.size()) {
      raise_value("Invalid format specifier");
    }
    return spec_;
  }

 private:
  char peek() const noexcept { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }

  char take() noexcept { return bytes_[at_++]; }

  bool accept(char c) noexcept {
    const bool here = at_ < bytes_.size() && bytes_[at_] == c;
    at_ += here ? 1 : 0;
    return here;
  }

  void parse_alignment() {
    if (bytes_.empty()) {
      return;
    }
    const std::size_t first = utf8::next(bytes_).length;
    if (first < bytes_.size() && is_align(bytes_[first])) {
      spec_.fill = std::string(bytes_.substr(0, first));
      spec_.fill_origin = text_.origin_at(0);
      spec_.align = bytes_[first];
      explicit_fill_ = true;
      at_ = first + 1;
    } else if (is_align(bytes_[0])) {
      spec_.align = take();
    }
  }

  std::size_t number() {
    constexpr std::size_t kMost = 2147483647;
    std::size_t value = 0;
    while (is_digit(peek())) {
      value = value * 10 + static_cast<std::size_t>(take() - '0');
      if (value > kMost) {
        raise_value("Too many decimal digits in format string");
      }
    }
    return value;
  }

  const MarkedString& text_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool explicit_fill_ = false;
  Spec spec_;
};

// `text` (with `prefix_length` bytes of sign and prefix) in the field that the spec asks for.
MarkedString pad(Runtime& runtime, const MarkedString& text, std::size_t prefix_length,
                 const Spec& spec, char align) {
  const std::size_t have = count_characters(text.bytes());
  const std::size_t width = spec.width.value_or(0);
  if (have >= width) {
    return text;
  }
  const std::size_t padding = width - have;
  runtime.budget().charge(padding, spec.fill.size());
  const std::size_t left = align == '>' ? padding : (align == '^' ? padding / 2 : 0);
  const std::size_t middle = align == '=' ? padding : 0;
  MarkedString out;
  const auto fill = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      out.append(spec.fill, spec.fill_origin);
    }
  };
  fill(left);
  out.append(text, 0, prefix_length);
  fill(middle);
  out.append(text, prefix_length, text.size());
  fill(padding - left - middle);
  return out;
}

MarkedString format_string(Runtime& runtime, const Value& value, const Spec& spec) {
  if (spec.type != '\0' && spec.type != 's') {
    raise_value(std::string("Unknown format code '") + spec.type + "' for object of type 'str'");
  }
  if (spec.sign != '\0' || spec.alternate || spec.grouping != '\0' || spec.align == '=') {
    raise_value("a numeric format is not allowed in a string format specifier");
  }
  MarkedString text = value.text();
  if (spec.precision) {
    text =
        text.substr(0, byte_of_character(text.bytes(), static_cast<std::size_t>(*spec.precision)));
  }
  const char align = spec.align == '\0' || spec.align == '0' ? '<' : spec.align;
  return pad(runtime, text, 0, spec, align);
}

std::string sign_of(bool negative, char sign) {
  if (negative) {
    return "-";
  }
  return sign == '+' || sign == ' ' ? std::string(1, sign) : std::string();
}

// Sign, digits (grouped) and what follows them (".5", "%"), padded.
MarkedString finish_number(Runtime& runtime, const std::string& prefix, std::string digits,
                           const std::string& tail, const Spec& spec) {
  const char align = spec.align == '\0' ? '>' : (spec.align == '0' ? '=' : spec.align);
  if (spec.grouping != '\0') {
    const bool hex_like =
        spec.type == 'b' || spec.type == 'o' || spec.type == 'x' || spec.type == 'X';
    const bool zero_filled = align == '=' && spec.fill == "0";
    const std::size_t others = prefix.size() + tail.size();
    const std::size_t width = spec.width.value_or(0);
    digits = group_digits(runtime, digits, spec.grouping, hex_like ? 4 : 3,
                          zero_filled && width > others ? width - others : 0);
  }
  return pad(runtime, MarkedString(prefix + digits + tail, Origin::Input), prefix.size(), spec,
             align);
}

MarkedString format_floating(Runtime& runtime, double value, const Spec& spec) {
  FloatFormat format{spec.type, spec.precision.value_or(6), spec.alternate};
  std::string text;
  if (spec.type == '\0' && !spec.precision && !spec.alternate) {
    text = float_repr(value);
  } else {
    const bool percent = spec.type == '%';
    format.type = spec.type == '\0' || spec.type == 'n' ? 'g' : (percent ? 'f' : spec.type);
    format.add_dot_zero = spec.type == '\0';
    text = format_float(runtime, percent ? value * 100 : value, format);
    text += percent ? "%" : "";
  }
  const bool negative = text.front() == '-';
  text.erase(0, negative ? 1 : 0);
  const bool zero = text.find_first_of("123456789in") == std::string::npos;
  const bool minus = negative && !(spec.negative_zero_to_positive && zero);
  const std::size_t whole = std::min(text.find_first_not_of("0123456789"), text.size());
  if (whole == 0) {  // inf, nan
    Spec plain = spec;
    plain.grouping = '\0';
    return finish_number(runtime, sign_of(minus, spec.sign), text, "", plain);
  }
  return finish_number(runtime, sign_of(minus, spec.sign), text.substr(0, whole),
                       text.substr(whole), spec);
}

MarkedString format_character(Runtime& runtime, const Value& value, const Spec& spec) {
  const std::int64_t code = to_index(value);
  constexpr std::int64_t kLast = 0x10FFFF;
  if (code < 0 || code > kLast) {
    raise(FaultKind::Overflow, "%c arg not in range(0x110000)");
  }
  const char align = spec.align == '\0' ? '<' : (spec.align == '0' ? '=' : spec.align);
  return pad(runtime,
             MarkedString(encode(std::u32string(1, static_cast<char32_t>(code))), Origin::Input), 0,
             spec, align);
}

// 0: no type of an integer.
unsigned base_of(char type) noexcept {
  switch (type) {
    case 'd':
      return 10;
    case 'b':
      return 2;
    case 'o':
      return 8;
    case 'x':
    case 'X':
      return 16;
    default:
      return 0;
  }
}

MarkedString format_integer(Runtime& runtime, const Value& value, const Spec& spec) {
  static constexpr std::string_view kFloatTypes = "eEfFgG%";
  if (spec.type != '\0' && kFloatTypes.find(spec.type) != std::string_view::npos) {
    return format_floating(runtime, to_double(value), spec);
  }
  if (spec.precision) {
    raise_value("Precision not allowed in integer format specifier");
  }
  if (spec.type == 'c') {
    return format_character(runtime, value, spec);
  }
  const char type = spec.type == '\0' || spec.type == 'n' ? 'd' : spec.type;
  const unsigned base = base_of(type);
  if (base == 0) {
    raise_value(std::string("Unknown format code '") + type + "' for object of type 'int'");
  }
  if (base != 10 && spec.grouping == ',') {
    raise_value(std::string("Cannot specify ',' with '") + type + "'.");
  }
  const BigInt number = to_big(value);
  std::string digits = number.magnitude().to_string(base);
  std::string prefix = sign_of(number.negative(), spec.sign);
  if (spec.alternate && base != 10) {
    prefix += std::string("0") + type;
  }
  if (type == 'X') {
    std::transform(digits.begin(), digits.end(), digits.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
  }
  return finish_number(runtime, prefix, std::move(digits), "", spec);
}

}  // namespace

MarkedString format_value(Runtime& runtime, const Value& value, const MarkedString& spec) {
  if (spec.empty()) {
    return to_text(runtime, value);
  }
  if (value.is_string()) {
    return format_string(runtime, value, SpecParser(spec).parse());
  }
  if (value.is(Value::Kind::Float)) {
    const Spec parsed = SpecParser(spec).parse();
    static constexpr std::string_view kTypes = "eEfFgGn%";
    if (parsed.type != '\0' && kTypes.find(parsed.type) == std::string_view::npos) {
      raise_value(std::string("Unknown format code '") + parsed.type +
                  "' for object of type 'float'");
    }
    return format_floating(runtime, value.number(), parsed);
  }
  if (value.is_integral()) {
    return format_integer(runtime, value, SpecParser(spec).parse());
  }
  raise_type("unsupported format string passed to " + std::string(type_name(value)) +
             ".__format__");
}

}  // namespace smol::jinja
